/**
 * Observes the events of `process` (or of a Worker) without being visible. Adding a listener would be visible: agents decide
 * by counting listeners (@openai/agents exits on a signal only if its listener is the only one), Node warns at the eleventh,
 * a wrapped `emit` is a frame in the host's stack traces, and even a hidden listener changes the position that `process.emit`
 * has in them (a single listener is called from another line of node:events than one of a list). So nothing is added to the
 * host's listeners. Instead, the store in which EventEmitter keeps them inherits from an object with an accessor for each
 * watched name, and has such an own accessor where the host listens; the accessor detects that `emit` is reading. All other
 * names cost the same as without us; a Proxy around the store, or an accessor in place of `_events`, doubled that cost. Does
 * not know what is done with the events.
 */
import { guarded } from '../../agent/taps/guard.ts';
import { enterOwnWork, ours, ownWork, refuseExit } from '../../agent/taps/own-work.ts';
import { readCallers } from '../host/intrinsics/callers.ts';
import {
  descriptorOf,
  indexOf,
  lastIndexOf,
  putBack,
  putProperty,
  sliceText,
} from '../host/intrinsics/intrinsics.ts';

type Listener = (...args: never[]) => unknown;
type EventName = string | symbol;
type Stored = Listener | Listener[];
type Store = Record<EventName, Stored | undefined>;

/** What the tap does when `emit` looks up a name. */
interface Tap {
  /** Runs at the look-up, before any listener of the host. Nothing is added to the host's listeners. */
  atEmit?: (call: EmitCall) => void;
  /** Is called before the host's listeners for this one emission, to receive the event's arguments. */
  before?: Listener;
  /** With `before`: whether it is called this time. `hasHost`: the host listens. */
  joins?: (call: EmitCall, hasHost: boolean) => boolean;
}

export interface EmitCall {
  /** No frame calls `emit`: the event comes from Node itself, not from a call of the program. */
  isFromNode: boolean;
  /** Name of the function that called `emit`, as V8 gives it. */
  caller: string;
}

export interface EventTap {
  tap(name: EventName, how: Tap): void;
  /** The host's listeners for `name`. */
  listenersOfHost(name: EventName): readonly Listener[];
  /**
   * Called when the host has added its first listener for `name`, after those who listen for `newListener` were told, and when it
   * has removed its last one, before those who listen for `removeListener` are. Not called if they are not told, because an
   * `emit` of the program keeps it.
   */
  whenHostChanges(name: EventName, react: (listens: boolean) => void): void;
  /** Whether an event may be emitted unobserved: the program may have an `emit` that keeps it, or stacks could not be read. */
  mayMiss(): boolean;
  uninstall(): void;
}

/** A table whose look-ups run no code that the program can replace. */
type Table<Value> = Record<EventName, Value | undefined>;
const emptyTable = <Value>(): Table<Value> => ({ __proto__: null }) as unknown as Table<Value>;

/** Between a function of the program that ends the process, and our call of it. */
const mostFrames = 200;
const { defineProperty, hasOwn, setPrototypeOf } = Object;
const { apply, ownKeys } = Reflect;
/** node:events reads it before each listener that it adds, then `emit` does. */
const atAddition = 'newListener';
/** node:events reads it after each listener that it removes, and before it removes all. */
const atRemoval = 'removeListener';

/**
 * A listener that does not throw. Node 24 and later call a listener through its `apply`, which would otherwise be the inherited one
 * that the program may have replaced.
 */
function asOwnWork(listener: Listener): Listener {
  const own = guarded((...args: never[]) => void apply(listener, undefined, args));
  putProperty(own, 'apply', (self: unknown, args: never[]): unknown => apply(own, self, args));
  return own;
}

/** Throws if the emitter doesn't keep its listeners where every Node version so far has kept them. */
export function tapEvents(target: NodeJS.EventEmitter): EventTap {
  const descriptor = descriptorOf(target, '_events');
  if (!descriptor?.configurable || typeof descriptor.value !== 'object' || descriptor.value === null)
    throw new Error('the listeners are not in a plain property _events');
  return new WatchedEmitter(target, descriptor);
}

class WatchedEmitter implements EventTap {
  readonly #target: NodeJS.EventEmitter & { _events?: Store; _eventsCount?: number };
  readonly #emit: unknown;
  readonly #removeListener: unknown;
  readonly #descriptor: PropertyDescriptor;
  /** The prototype of the store. */
  readonly #watched: Store = emptyTable<Stored>();
  readonly #taps = emptyTable<Tap>();
  readonly #changes = emptyTable<(listens: boolean) => void>();
  readonly #changing: EventName[] = [];
  #store: Store;
  /** The host's listeners for watched names. */
  #held: Store = emptyTable<Stored>();
  #isGuarded = false;
  /** Node's own `emit` was called for the listener that is added at present. */
  #isAddingTold = false;
  /** A look-up was not recognized. */
  #isBlind = false;

  constructor(target: NodeJS.EventEmitter, descriptor: PropertyDescriptor) {
    this.#target = target;
    this.#emit = target.emit;
    this.#removeListener = target.removeListener;
    this.#descriptor = descriptor;
    this.#store = descriptor.value as Store;
    setPrototypeOf(this.#store, this.#watched);
    this.#watch(atRemoval);
    if (!hasOwn(this.#store, atRemoval)) this.#guard();
  }

  tap(name: EventName, how: Tap): void {
    this.#taps[name] = how.before ? { ...how, before: asOwnWork(how.before) } : how;
    this.#watch(name);
  }

  listenersOfHost(name: EventName): readonly Listener[] {
    return asList(this.#listened(name));
  }

  whenHostChanges(name: EventName, react: (listens: boolean) => void): void {
    this.#changes[name] = react;
    putProperty(this.#changing, this.#changing.length, name, true);
    this.#watch(name);
    this.#watch(atAddition);
    this.tap(atRemoval, {
      before: (removed: EventName) => this.#noticeLeaving(removed),
      joins: (_call, hasHost) => hasHost,
    });
  }

  mayMiss(): boolean {
    return this.#isBlind || !this.#emitsItself() || this.#target._events !== this.#store;
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

  /**
   * Defines the store's own property. Only the first listener of the host creates it, because names are enumerated in that
   * order.
   */
  #own(name: EventName, stored: Stored | undefined): void {
    const held = this.#held;
    held[name] = stored;
    const read = (): Stored | undefined => this.#read(name);
    const isOwn = (store: Store): boolean => store === this.#store;
    defineAccessor(this.#store, name, {
      configurable: true,
      enumerable: true,
      // A copy of the store (jest makes one) is not used by the emitter.
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
    if (stored !== undefined && this.#isAddingTold) this.#tell(name, true);
  }

  /** The event belongs to the program: if our code fails, the host's listeners are called all the same. */
  #read(name: EventName): Stored | undefined {
    if (ownWork.depth > 0 && name === 'exit') refuseOurs();
    const { depth } = ownWork;
    try {
      enterOwnWork();
      return this.#answer(name);
    } catch {
      this.#isBlind = true;
      return this.#listened(name);
    } finally {
      ownWork.depth = depth;
    }
  }

  #answer(name: EventName): Stored | undefined {
    const tap = this.#taps[name];
    if (!tap && name !== atRemoval && name !== atAddition) return this.#listened(name);
    if (this.#needsNoReader(name)) {
      const ofHost = this.#listened(name);
      if (name === atAddition) this.#isAddingTold = ofHost !== undefined;
      return ofHost;
    }
    const reader = findReader();
    if (!reader) this.#isBlind = true;
    if (name === atAddition) this.#isAddingTold = reader?.name !== '_addListener';
    // The store may be replaced next. `_events` stays guarded afterwards, because programs rarely do this.
    if (name === atRemoval && (reader?.name === 'removeAllListeners' || this.#isNearlyEmpty())) this.#guard();
    if (!tap || reader?.name !== 'emit') return this.#listened(name);
    tap.atEmit?.(reader);
    const ofHost = this.#listened(name);
    if (!tap.before || tap.joins?.(reader, ofHost !== undefined) === false) return ofHost;
    return ofHost === undefined ? tap.before : joined(tap.before, ofHost);
  }

  /**
   * Node's own code reads these two names at each listener that is added or removed, and a stack takes a hundred times as long as the
   * rest. It tells those who listen whenever somebody does, and removes one name after the other before it creates a new store.
   */
  #needsNoReader(name: EventName): boolean {
    if (name === atAddition) return this.#emitsItself();
    if (name !== atRemoval || !this.#emitsItself() || this.#isNearlyEmpty()) return false;
    return this.#target.removeListener === this.#removeListener && !this.#hasLeaver();
  }

  /** Of the names in the store one is left, or `removeListener` is not among them: what is removed next may be all. */
  #isNearlyEmpty(): boolean {
    return !hasOwn(this.#store, atRemoval) || !((this.#target._eventsCount ?? 0) > 1);
  }

  #emitsItself(): boolean {
    return !hasOwn(this.#target, 'emit') && this.#target.emit === this.#emit;
  }

  /** Whether the host's last listener for a name has gone, and nobody was told yet. */
  #hasLeaver(): boolean {
    const names = this.#changing;
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as EventName;
      if (this.#held[name] !== undefined && !hasOwn(this.#store, name)) return true;
    }
    return false;
  }

  #tell(name: EventName, listens: boolean): void {
    ours(() => this.#changes[name]?.(listens));
  }

  #noticeLeaving(name: EventName): void {
    if (!hasOwn(this.#changes, name) || this.#held[name] === undefined || hasOwn(this.#store, name)) return;
    this.#held[name] = undefined;
    this.#tell(name, false);
  }

  /** removeAllListeners, and removing the last of all listeners, create a new store. */
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
    this.#store = next;
    this.#held = emptyTable<Stored>();
    setPrototypeOf(next, this.#watched);
    const watched = ownKeys(this.#watched);
    for (let at = 0; at < watched.length; at++) {
      const name = watched[at] as EventName;
      if (hasOwn(next, name)) this.#own(name, next[name]);
    }
  }
}

function putPlainly(store: Store, name: EventName, value: Stored | undefined): void {
  putProperty(store, name, value, true);
}

/** Takes over `accessor`, and removes its prototype. */
function defineAccessor(
  holder: object,
  name: EventName,
  accessor: PropertyDescriptor & ThisType<Store>,
): void {
  defineProperty(holder, name, setPrototypeOf(accessor, null));
}

/**
 * Like tapEvents, for an emitter whose inspection must not show the tap: only the present store is watched, until the emitter
 * creates another. For streams, which have listeners of Node's own and so keep theirs.
 */
export function tapPresentEvents(
  target: object,
  name: EventName,
  how: Required<Pick<Tap, 'before' | 'joins'>>,
): void {
  const holder = target as { _events?: Store };
  if (typeof holder._events !== 'object' || holder._events === null) return;
  const before = asOwnWork(how.before);
  holder._events = new Proxy(holder._events, {
    get(events, read) {
      const ofHost = events[read];
      if (read !== name) return ofHost;
      const isJoined = ours(() => {
        const reader = findReader();
        return reader?.name === 'emit' && how.joins(reader, ofHost !== undefined);
      });
      if (!isJoined) return ofHost;
      return ofHost === undefined ? before : joined(before, ofHost);
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

/** Called when `exit` is looked up while our own code runs: Node is about to emit it, because of a call that we made. */
function refuseOurs(): void {
  if ((process as { _exiting?: boolean })._exiting !== true || findReader()?.name !== 'emit') return;
  // An exit of the program itself must never be refused: without a frame of ours behind it, the counter is wrong.
  if (isCalledByUs()) refuseExit();
  ownWork.depth = 0;
}

/** Whether a frame of the preload is among the callers of the code of Node that looks up the listeners. */
function isCalledByUs(): boolean {
  const callers = readCallers(mostFrames);
  let at = 0;
  while (at < callers.length && callers[at]?.file !== 'node:events') at++;
  while (++at < callers.length) if (indexOf(callers[at]?.file ?? '', __filename) === 0) return true;
  return false;
}

/** On Node 20 and 22 every callback passes through this file of Node's once an AsyncLocalStorage was used. */
const trampoline = 'node:internal/async_hooks';

/** The method of EventEmitter.prototype that reads the store, found on the stack; undefined if there is none. */
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
