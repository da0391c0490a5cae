/**
 * Timers of ours that the program's timers don't meet. If one of Node's timers (or immediates) that we had started is due in
 * the same turn of the loop as one of the program's, Node runs the promises between the two: an error that is thrown there has
 * two frames of Node's on its stack that it does not have without us, and the program prints them. The end of an `Atomics.waitAsync` is
 * timed by V8, and Node gives it a turn of its own. It does not keep the process alive, and no program replaces it with fake
 * timers. Seen on Node 20.20, 22.23, 24.21, 26.10.
 */
import { guarded } from './guard.ts';

export interface OwnTimer {
  /** V8 forgets it only when it is due, so timers of minutes that are often stopped are Node's. */
  stop(): void;
}

const { waitAsync } = Atomics;
const { defineProperty, getOwnPropertyDescriptor } = Reflect;
const { hasOwn } = Object;
const OwnPromise = Promise;
const ofPromises = Promise.prototype;
/** Nobody notifies it. */
let cell: Int32Array | undefined;

/** Calls `run` once, guarded, after `ms`; with 0, in a later turn of the loop. */
export function startOwnTimer(run: () => void, ms: number): OwnTimer {
  let isStopped = false;
  void callAfter(
    ms,
    guarded(() => {
      if (!isStopped) run();
    }),
  );
  return {
    stop() {
      isStopped = true;
    },
  };
}

/** Calls `run`, guarded, every `ms` from the end of the call before. */
export function startOwnInterval(run: () => void, ms: number): OwnTimer {
  let isStopped = false;
  const safe = guarded(run);
  const again = (): void => {
    if (isStopped) return;
    safe();
    void callAfter(ms, again);
  };
  void callAfter(ms, again);
  return {
    stop() {
      isStopped = true;
    },
  };
}

/** Never rejects: the program would hear of it. If the program has taken what this needs, `run` is not called. */
async function callAfter(ms: number, run: () => void): Promise<void> {
  try {
    cell ??= new Int32Array(new SharedArrayBuffer(4));
    const { value } = waitAsync(cell, 0, 0, ms < 1 ? 1 : ms);
    if (isReplaced()) takeAsItIs(value as object);
    await value;
  } catch {
    return;
  }
  run();
}

/** Whether `await` would find on the promise what the program has put on Promise.prototype. */
function isReplaced(): boolean {
  const inherited = getOwnPropertyDescriptor(ofPromises, 'constructor');
  return !inherited || !hasOwn(inherited, 'value') || inherited.value !== OwnPromise;
}

/**
 * Only where it is replaced: as soon as one promise has a `constructor` of its own, V8 looks for one at each `await` and each `then` of
 * the whole program, and compiles them to calls.
 */
function takeAsItIs(promise: object): void {
  const own = { __proto__: null, value: OwnPromise } as PropertyDescriptor;
  defineProperty(promise, 'constructor', own);
}
