/**
 * Sees the events of `process` (or of a Worker) without being seen. Agents decide by counting listeners (@openai/agents exits on a signal
 * only while it is alone), Node warns at the eleventh, a wrapped `emit` is a frame in the host's stack traces, and even a
 * hidden listener moves the position that `process.emit` shows in them (a lone listener is called from another line of
 * node:events than one of a list). So nothing is added to the host's listeners. The store that EventEmitter keeps them in
 * inherits from an object with an accessor for each watched name, and has such an accessor of its own where the host
 * listens: it knows when it is `emit` that reads. All other names cost what they cost without us, which a Proxy around the
 * store, or an accessor in the place of `_events`, doubled. Knows nothing of what is done with the events.
 */
import { readCallers } from '../host/callers.ts';
import { descriptorOf, lastIndexOf, putBack, putProperty, sliceText } from '../host/intrinsics.ts';

type Listener = (...args: never[]) => unknown;
type EventName = string | symbol;
type Stored = Listener | Listener[];
type Store = Record<EventName, Stored | undefined>;

/** What the tap does when `emit` looks a name up. */
interface Tap {
  /** Runs at the look-up, before any listener of the host; nothing joins the host's listeners. */
  atEmit?: (call: EmitCall) => void;
  /** Joins the host's listeners for this one emission, before them, to be given the event's arguments. */
  before?: Listener;
  /** With `before`: whether it joins this time; `hasHost` says whether the host listens. */
  joins?: (call: EmitCall, hasHost: boolean) => boolean;
}

export interface EmitCall {
  /** Nothing below `emit` on the stack: the event comes from Node itself, not from a call of the program. */
  isFromNode: boolean;
  /** Name of the function that called `emit`, as V8 gives it. */
  caller: string;
}

export interface EventTap {
  tap(name: EventName, how: Tap): void;
  /** The host's listeners for `name`. */
  listenersOfHost(name: EventName): readonly Listener[];
  /** Called when the host has added its first listener for `name`, and when it has removed its last one. */
  whenHostChanges(name: EventName, react: (listens: boolean) => void): void;
  uninstall(): void;
}

/** A table whose look-ups run nothing that the program can replace. */
type Table<Value> = Record<EventName, Value | undefined>;
const emptyTable = <Value>(): Table<Value> => ({ __proto__: null }) as unknown as Table<Value>;

const { defineProperty, hasOwn, setPrototypeOf } = Object;
const { apply, ownKeys } = Reflect;
/** Read by node:events after each listener that it takes away, and before it takes all. */
const atRemoval = 'removeListener';

/** Node 24 and later call a listener through its `apply`, which without this is the one that the program may have replaced. */
function ownApply(listener: Listener): void {
  putProperty(listener, 'apply', (self: unknown, args: never[]): unknown => apply(listener, self, args));
}

/** Throws when the emitter's listeners are not kept where every Node so far has kept them. */
export function tapEvents(target: NodeJS.EventEmitter): EventTap {
  const descriptor = descriptorOf(target, '_events');
  if (!descriptor?.configurable || typeof descriptor.value !== 'object' || descriptor.value === null)
    throw new Error('the listeners are not in a plain property _events');
  return new WatchedEmitter(target, descriptor);
}

class WatchedEmitter implements EventTap {
  readonly #target: object;
  readonly #descriptor: PropertyDescriptor;
  /** What the store inherits from. */
  readonly #watched: Store = emptyTable<Stored>();
  readonly #taps = emptyTable<Tap>();
  readonly #changes = emptyTable<(listens: boolean) => void>();
  #store: Store;
  /** The host's listeners for watched names. */
  #held: Store = emptyTable<Stored>();
  #isGuarded = false;

  constructor(target: object, descriptor: PropertyDescriptor) {
    this.#target = target;
    this.#descriptor = descriptor;
    this.#store = descriptor.value as Store;
    setPrototypeOf(this.#store, this.#watched);
    this.#watch(atRemoval);
    if (!hasOwn(this.#store, atRemoval)) this.#guard();
  }

  tap(name: EventName, how: Tap): void {
    if (how.before) ownApply(how.before);
    this.#taps[name] = how;
    this.#watch(name);
  }

  listenersOfHost(name: EventName): readonly Listener[] {
    return asList(this.#listened(name));
  }

  whenHostChanges(name: EventName, react: (listens: boolean) => void): void {
    this.#changes[name] = react;
    this.#watch(name);
  }

  uninstall(): void {
    const store = this.#store;
    setPrototypeOf(store, null);
    for (const name of ownKeys(this.#watched))
      if (hasOwn(store, name)) putPlainly(store, name, this.#held[name]);
    putBack(this.#target, '_events', {
      __proto__: null,
      ...this.#descriptor,
      value: store,
    } as PropertyDescriptor);
  }

  #listened(name: EventName): Stored | undefined {
    if (!hasOwn(this.#store, name)) return undefined;
    return hasOwn(this.#watched, name) ? this.#held[name] : this.#store[name];
  }

  #watch(name: EventName): void {
    if (hasOwn(this.#watched, name)) return;
    const read = (): Stored | undefined => this.#read(name);
    const isOwn = (store: Store): boolean => store === this.#store;
    const add = (stored: Stored | undefined): void => this.#add(name, stored);
    const present = this.#listened(name);
    defineAccessor(this.#watched, name, {
      configurable: true,
      enumerable: false,
      get(this: Store) {
        return isOwn(this) ? read() : undefined;
      },
      set(this: Store, stored: Stored | undefined) {
        if (isOwn(this)) add(stored);
        else putPlainly(this, name, stored);
      },
    });
    if (present !== undefined) this.#own(name, present);
  }

  /** The store's own property, which only the host's first listener makes: names are enumerated in that order. */
  #own(name: EventName, stored: Stored | undefined): void {
    const held = this.#held;
    held[name] = stored;
    const read = (): Stored | undefined => this.#read(name);
    const isOwn = (store: Store): boolean => store === this.#store;
    defineAccessor(this.#store, name, {
      configurable: true,
      enumerable: true,
      // A copy of the store (jest makes one) is not the emitter's.
      get(this: Store) {
        return isOwn(this) ? read() : held[name];
      },
      set(this: Store, next: Stored | undefined) {
        if (isOwn(this)) held[name] = next;
        else putPlainly(this, name, next);
      },
    });
  }

  #add(name: EventName, stored: Stored | undefined): void {
    this.#own(name, stored);
    if (stored !== undefined) this.#changes[name]?.(true);
  }

  /** It is the program's event: whatever fails of ours, the host's listeners are called. */
  #read(name: EventName): Stored | undefined {
    try {
      return this.#answer(name);
    } catch {
      return this.#listened(name);
    }
  }

  #answer(name: EventName): Stored | undefined {
    if (name === atRemoval) this.#noticeLeavings();
    const tap = this.#taps[name];
    if (!tap && name !== atRemoval) return this.#listened(name);
    const reader = findReader();
    // What follows may be a new store. It stays guarded: programs that do this do it seldom.
    if (name === atRemoval && (reader?.name === 'removeAllListeners' || !hasOwn(this.#store, name)))
      this.#guard();
    if (!tap || reader?.name !== 'emit') return this.#listened(name);
    tap.atEmit?.(reader);
    const ofHost = this.#listened(name);
    if (!tap.before || tap.joins?.(reader, ofHost !== undefined) === false) return ofHost;
    return ofHost === undefined ? tap.before : joined(tap.before, ofHost);
  }

  #noticeLeavings(): void {
    const names = ownKeys(this.#changes);
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as EventName;
      if (this.#held[name] === undefined || hasOwn(this.#store, name)) continue;
      this.#held[name] = undefined;
      this.#changes[name]?.(false);
    }
  }

  /** removeAllListeners, and removing the last listener of all, begin a new store. */
  #guard(): void {
    if (this.#isGuarded) return;
    this.#isGuarded = true;
    defineAccessor(this.#target, '_events', {
      configurable: true,
      enumerable: this.#descriptor.enumerable ?? true,
      get: () => this.#store,
      set: (next: Store) => this.#follow(next),
    });
  }

  #follow(next: Store): void {
    const before = this.#held;
    this.#store = next;
    this.#held = emptyTable<Stored>();
    setPrototypeOf(next, this.#watched);
    const watched = ownKeys(this.#watched);
    for (let at = 0; at < watched.length; at++) {
      const name = watched[at] as EventName;
      if (hasOwn(next, name)) this.#own(name, next[name]);
    }
    const names = ownKeys(this.#changes);
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as EventName;
      if (before[name] !== undefined && this.#held[name] === undefined) this.#changes[name]?.(false);
    }
  }
}

function putPlainly(store: Store, name: EventName, value: Stored | undefined): void {
  putProperty(store, name, value, true);
}

/** `accessor` is ours, and inherits nothing from then on. */
function defineAccessor(
  holder: object,
  name: EventName,
  accessor: PropertyDescriptor & ThisType<Store>,
): void {
  defineProperty(holder, name, setPrototypeOf(accessor, null));
}

/**
 * The same for an emitter whose inspection must not show it: only the present store is watched, until the emitter begins
 * another one. For streams, which have listeners of Node's own and so keep theirs.
 */
export function tapPresentEvents(
  target: object,
  name: EventName,
  how: Required<Pick<Tap, 'before' | 'joins'>>,
): void {
  const holder = target as { _events?: Store };
  if (typeof holder._events !== 'object' || holder._events === null) return;
  holder._events = new Proxy(holder._events, {
    get(events, read) {
      const ofHost = events[read];
      const reader = read === name ? findReader() : undefined;
      if (reader?.name !== 'emit' || !how.joins(reader, ofHost !== undefined)) return ofHost;
      return ofHost === undefined ? how.before : joined(how.before, ofHost);
    },
  });
}

function asList(stored: Stored | undefined): Listener[] {
  if (stored === undefined) return [];
  return typeof stored === 'function' ? [stored] : stored;
}

function joined(first: Listener, stored: Stored): Listener[] {
  const others = asList(stored);
  const list = [first];
  for (let at = 0; at < others.length; at++) putProperty(list, at + 1, others[at], true);
  return list;
}

/** On Node 20 and 22 every callback comes through this file of Node's own once an AsyncLocalStorage was used. */
const trampoline = 'node:internal/async_hooks';

/** The method of EventEmitter.prototype that reads the store, told from the stack; undefined when it is none. */
function findReader(): (EmitCall & { name: string }) | undefined {
  const callers = readCallers(8);
  let at = 0;
  while (at < callers.length && callers[at]?.file !== 'node:events') at++;
  const reader = callers[at];
  if (!reader) return undefined;
  let next = at + 1;
  while (next < callers.length && callers[next]?.file === trampoline) next++;
  const { functionName } = reader;
  const name = sliceText(functionName, lastIndexOf(functionName, '.') + 1);
  return { name, isFromNode: next === callers.length, caller: callers[next]?.functionName ?? '' };
}
