/**
 * Named locks within one thread: at most one holder at a time, granted in the order of the requests. Waiters and holders are
 * recorded, so that a cycle of waits can be found afterwards. The locks also work without the preload.
 */
import { currentPlace, currentScope, findPort, runScoped } from './api-scope.ts';

/** A held lock. `release` may be called more than once. */
export interface HeldLock {
  readonly name: string;
  release(): void;
  [Symbol.dispose](): void;
}

/** The tail of each lock's queue. */
const queues = new Map<string, Promise<void>>();
const { now } = Date;

/** Waits for the lock; the caller must release it. */
export async function acquireLock(name: string): Promise<HeldLock> {
  const before = queues.get(name);
  let free: () => void = () => undefined;
  const mine = new Promise<void>((resolve) => {
    free = resolve;
  });
  queues.set(name, mine);
  if (before) await waitForTurn(name, before);
  const port = findPort();
  const id = port?.nextId('l');
  const heldAt = now();
  if (id !== undefined) port?.record('lock.held', { lock: id, ...currentPlace() }, { name });
  let isHeld = true;
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    if (queues.get(name) === mine) queues.delete(name);
    if (id !== undefined) port?.record('lock.released', { lock: id, tookMs: now() - heldAt });
    free();
  };
  return { name, release, [Symbol.dispose]: release };
}

/** Holds the lock while `work` runs. */
export async function withLock<Result>(name: string, work: () => Result): Promise<Awaited<Result>> {
  const held = await acquireLock(name);
  try {
    return await work();
  } finally {
    held.release();
  }
}

function waitForTurn(name: string, before: Promise<void>): Promise<void> {
  const port = findPort();
  if (!port) return before;
  const wait = port.nextId('w');
  port.record('wait.start', { wait, waitsFor: 'lock', ...currentPlace() }, { what: name });
  return runScoped(
    currentScope(),
    () => before,
    ({ status, tookMs }) => port.record('wait.end', { wait, status, tookMs }),
  );
}
