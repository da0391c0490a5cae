/**
 * Sees the events of `process` (or of a Worker) without being seen. Agents decide by counting listeners (@openai/agents exits on a signal
 * only while it is alone), Node warns at the eleventh, a wrapped `emit` is a frame in the host's stack traces, and even a
 * hidden listener moves the position that `process.emit` shows in them (a lone listener is called from another line of
 * node:events than one of a list). So nothing is added to the host's listeners: the store that EventEmitter keeps them in
 * is read through a Proxy, which knows when it is `emit` that reads. Knows nothing of what is done with the events.
 */
type Listener = (...args: never[]) => unknown;
type EventName = string | symbol;
type Stored = Listener | Listener[];
type Store = Record<EventName, Stored | undefined>;
type Changes = Map<EventName, (listens: boolean) => void>;

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

/** Throws when the emitter's listeners are not kept where every Node so far has kept them. */
export function tapEvents(target: NodeJS.EventEmitter): EventTap {
  const descriptor = Object.getOwnPropertyDescriptor(target, '_events');
  if (!descriptor?.configurable || typeof descriptor.value !== 'object' || descriptor.value === null)
    throw new Error('the listeners are not in a plain property _events');
  const taps = new Map<EventName, Tap>();
  const changes: Changes = new Map();
  let store = descriptor.value as Store;
  let proxy = watchStore(store, taps, changes);
  Object.defineProperty(target, '_events', {
    configurable: true,
    enumerable: descriptor.enumerable ?? true,
    get: () => proxy,
    // removeAllListeners, and removing the last listener of all, begin a new store.
    set: (next: Store) => {
      const before = Object.keys(store);
      store = next;
      proxy = watchStore(next, taps, changes);
      for (const name of before) changes.get(name)?.(false);
    },
  });
  return {
    tap(name, how) {
      taps.set(name, how);
    },
    listenersOfHost: (name) => asList(store[name]),
    whenHostChanges(name, react) {
      changes.set(name, react);
    },
    uninstall() {
      Object.defineProperty(target, '_events', { ...descriptor, value: store });
    },
  };
}

/**
 * The same for an emitter whose inspection must not show it: only the present store is watched, until the emitter begins
 * another one. For streams, which have listeners of Node's own and so keep theirs.
 */
export function tapPresentEvents(target: object, name: EventName, how: Tap): void {
  const holder = target as { _events?: Store };
  if (typeof holder._events !== 'object' || holder._events === null) return;
  holder._events = watchStore(holder._events, new Map([[name, how]]), new Map());
}

function watchStore(store: Store, taps: Map<EventName, Tap>, changes: Changes): Store {
  return new Proxy(store, {
    get(events, name) {
      const tap = taps.get(name);
      const call = tap && findEmitCall();
      if (!tap || !call) return events[name];
      tap.atEmit?.(call);
      const ofHost = events[name];
      if (!tap.before || tap.joins?.(call, ofHost !== undefined) === false) return ofHost;
      return ofHost === undefined ? tap.before : [tap.before, ...asList(ofHost)];
    },
    set(events, name, stored: Stored | undefined) {
      const isFirst = events[name] === undefined;
      events[name] = stored;
      if (isFirst && stored !== undefined) changes.get(name)?.(true);
      return true;
    },
    deleteProperty(events, name) {
      const isDeleted = Reflect.deleteProperty(events, name);
      changes.get(name)?.(false);
      return isDeleted;
    },
  });
}

function asList(stored: Stored | undefined): Listener[] {
  if (stored === undefined) return [];
  return typeof stored === 'function' ? [stored] : stored;
}

/** On Node 20 and 22 every callback comes through a function of Node's own once an AsyncLocalStorage was used. */
function isNoTrampoline(site: NodeJS.CallSite): boolean {
  return site.getFileName() !== 'node:internal/async_hooks';
}

/** Whether the store is being read by EventEmitter.prototype.emit, told from the stack; undefined when by another. */
function findEmitCall(): EmitCall | undefined {
  const { stackTraceLimit, prepareStackTrace } = Error;
  try {
    Error.stackTraceLimit = 6;
    Error.prepareStackTrace = (_error, callSites) => callSites;
    const sites = (new Error().stack as unknown as NodeJS.CallSite[]).filter(isNoTrampoline);
    const reader = sites.findIndex((site) => site.getFileName() === 'node:events');
    if (reader === -1 || sites[reader]?.getFunctionName()?.split('.').pop() !== 'emit') return undefined;
    return { isFromNode: sites.length === reader + 1, caller: sites[reader + 1]?.getFunctionName() ?? '' };
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
  }
}
