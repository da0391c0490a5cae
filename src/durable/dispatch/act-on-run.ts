/** Operations on a run from outside, from any process: queue it, send it a signal, cancel it. */
import { userInfo } from 'node:os';
import { AgentdumpError } from '../../errors.ts';
import { recordKinds } from '../../journal/layout/records.ts';
import { codecForLooking, requireOpenEnd } from '../inspect.ts';
import type { QueueFacts, RunRetry, Signal } from '../records/layout.ts';
import { type CodecKeys, openCodec } from '../records/open-codec.ts';
import { CancelError, type Cancellation, cancelKey, signalKey } from '../runs/calls-from-outside.ts';
import { beginning, newRunId } from '../runs/open-run.ts';
import { openChildren, tellParent } from '../runs/parent-run.ts';
import { isOverForWorkers, isSettledRun, RunLog } from '../runs/run-log.ts';
import { ownPause } from '../steps/own-pause.ts';
import type { DurableStore, RunTitle } from '../stores/store.ts';

/** How long to wait for another holder of a run that was never started: longer than any lease. */
const holdPatienceMs = 40_000;
const holdPauseMs = 20;

export interface QueuedRun extends CodecKeys {
  /** Default: a generated one. If a run with this id exists, it is not queued again. */
  id?: string | undefined;
  input?: unknown;
  /** Not due before. */
  startAt?: Date | undefined;
  /** Higher ones are taken first. Default: 0. */
  priority?: number | undefined;
  retry?: RunRetry | undefined;
  /** Only workers that declare this queue take the run, within the limits that they declare. Stored unencrypted. */
  queue?: string | undefined;
  /** For limits per key, such as a customer. Stored unencrypted. */
  queueKey?: string | undefined;
  /** The run that is told of its end: see `agent.childRun`, which sets it. */
  parent?: string | undefined;
}

/** Queues a run for the workers that know its name. `isNew` is false if there is a run with this id already, in any state. */
export async function enqueueRun(
  store: DurableStore,
  name: string,
  { id = newRunId(name), input, startAt, priority, retry, queue, queueKey, parent, ...keys }: QueuedRun = {},
): Promise<{ id: string; isNew: boolean }> {
  if (priority !== undefined && !Number.isInteger(priority))
    throw new AgentdumpError('usage', `a priority is an integer, not ${priority}`, { argument: 'priority' });
  requireQueue(store, queue, queueKey);
  const dueAtMs = startAt?.getTime();
  if (dueAtMs !== undefined && Number.isNaN(dueAtMs))
    throw new AgentdumpError('usage', 'startAt is no time', { argument: 'startAt' });
  const title = {
    name,
    ...(priority !== undefined && { priority }),
    ...(dueAtMs !== undefined && { dueAtMs }),
    ...(queue !== undefined && { queue }),
    ...(queueKey !== undefined && { queueKey }),
  };
  const inQueue = queue === undefined ? undefined : factsOf(queue, queueKey);
  const codec = openCodec([], keys);
  const facts = { ...beginning(id, name, codec, retry, inQueue, parent), queued: true } as const;
  const payload =
    input === undefined ? codec.encode(facts) : codec.encodeWith({ ...facts, input: true }, input);
  if (await store.enqueue?.(id, title, recordKinds.durableRun, payload)) return { id, isNew: true };
  if (store.enqueue && (await hasBegun(store, id))) return { id, isNew: false };
  const handle = await openToBegin(store, id, title);
  if (!handle) return { id, isNew: false };
  let isNew = false;
  try {
    if (handle.records.length > 0) return { id, isNew };
    await handle.append(recordKinds.durableRun, payload, true);
    isNew = true;
    return { id, isNew };
  } finally {
    await handle.release(
      isNew ? { isOver: false, ...(dueAtMs !== undefined && { dueAtMs, isFirm: true }) } : undefined,
    );
  }
}

const factsOf = (name: string, key: string | undefined): QueueFacts => ({
  name,
  ...(key !== undefined && { key }),
});

function requireQueue(store: DurableStore, queue: string | undefined, queueKey: string | undefined): void {
  const refuse = (message: string, argument: string) => {
    throw new AgentdumpError('usage', message, { argument });
  };
  if (queueKey !== undefined && queue === undefined) refuse('queueKey needs a queue', 'queueKey');
  if (queue === '') refuse('the name of a queue must not be empty', 'queue');
  if (queue !== undefined && !store.takeQueued) refuse(`the store ${store.place} has no queues`, 'queue');
}

/** Undefined if it was started already. Another holder may be about to start it, or may have found it empty. */
async function openToBegin(store: DurableStore, id: string, title: RunTitle) {
  for (const untilMs = performance.now() + holdPatienceMs; performance.now() < untilMs; ) {
    const handle = await openUnheld(store, id, title);
    if (handle || (await hasBegun(store, id))) return handle;
    await ownPause(holdPauseMs);
  }
  return store.open(id, title);
}

async function hasBegun(store: DurableStore, id: string): Promise<boolean> {
  try {
    return (await store.read(id)).records.length > 0;
  } catch (error) {
    if (error instanceof AgentdumpError && error.code === 'not-found') return false;
    throw error;
  }
}

/** Undefined if another process holds it. */
async function openUnheld(store: DurableStore, ...[id, title]: Parameters<DurableStore['open']>) {
  try {
    return await store.open(id, title);
  } catch (error) {
    if (error instanceof AgentdumpError && error.code === 'held') return undefined;
    throw error;
  }
}

/**
 * Sends a signal for `agent.waitForSignal(name)` of the run, which may call it later; each wait receives one, in the order in
 * which they were sent. Returns the signal's number among those of its name.
 */
export async function sendSignal(
  store: DurableStore,
  id: string,
  name: string,
  wish: { value?: unknown } & CodecKeys = {},
): Promise<number> {
  const { records } = await store.read(id);
  const codec = openCodec(records, wish);
  requireOpenEnd(id, new RunLog(records, codec));
  const signal: Signal = { at: new Date().toISOString(), by: userName() };
  if ('value' in wish) signal.value = wish.value;
  for (let slot = await findFreeSlot(store, id, name); ; slot++) {
    const key = signalKey(name, slot);
    const payload = Buffer.from(codec.encodeWith({ path: key }, signal));
    if (await store.answer(id, key, payload)) return slot;
  }
}

/** The first number without a signal; numbers are assigned in order. */
async function findFreeSlot(store: DurableStore, id: string, name: string): Promise<number> {
  const isFree = async (slot: number) => (await store.findAnswer(id, signalKey(name, slot))) === undefined;
  let taken = -1;
  let free = 0;
  while (!(await isFree(free))) [taken, free] = [free, free * 2 + 1];
  while (free - taken > 1) {
    const between = Math.floor((taken + free) / 2);
    if (await isFree(between)) free = between;
    else taken = between;
  }
  return free;
}

export interface CancelWish extends CodecKeys {
  reason?: string | undefined;
}

/**
 * Ends a run permanently. If no process works at it, at once; otherwise its signal aborts, its waits end, and no further step
 * begins. A step in progress that ignores its signal runs to its end, which is recorded. The children that it waits for are
 * cancelled too.
 */
export async function cancelRun(
  store: DurableStore,
  id: string,
  { reason, ...keys }: CancelWish = {},
): Promise<'cancelled' | 'told'> {
  const { records } = await store.read(id);
  const codec = codecForLooking(records, keys);
  const before = new RunLog(records, codec);
  requireOpenEnd(id, before);
  // Cancelling does not need the key; without it the reason is not stored.
  const isLocked = before.seal !== undefined && codec.sealFacts === undefined;
  const encode = (facts: object, value: unknown) =>
    Buffer.from(isLocked ? codec.encode(facts) : codec.encodeWith(facts, value));
  const word: Cancellation = {
    at: new Date().toISOString(),
    by: userName(),
    ...(reason !== undefined && { reason }),
  };
  await store.answer(id, cancelKey, encode({ path: cancelKey }, word));
  const handle = await openUnheld(store, id, {});
  if (!handle) return 'told';
  let isOver = false;
  try {
    const log = new RunLog(handle.records, codec);
    if (!isSettledRun(log)) {
      await cancelChildren(store, { id, log }, { reason, ...keys });
      const payload = encode({ event: 'end', status: 'cancelled' }, new CancelError(id, reason));
      await handle.append(recordKinds.durableRun, payload, true);
    }
    await tellParent(store, { id, log });
    isOver = true;
    return 'cancelled';
  } finally {
    await handle.release(isOver ? { isOver } : undefined);
  }
}

/**
 * Called by whoever ends a cancelled run, before that end is recorded: its program must learn of its own cancellation before
 * it learns of a child's.
 */
export async function cancelChildren(
  store: DurableStore,
  { id, log }: { id: string; log: RunLog },
  wish: CancelWish,
): Promise<void> {
  for (const child of openChildren(log)) await cancelChild(store, id, child, wish);
}

export async function cancelChild(
  store: DurableStore,
  parent: string,
  child: string,
  wish: CancelWish,
): Promise<void> {
  try {
    const log = await logOf(store, child);
    // A call with the id of a run that exists already was refused, and must not end that run. One that has failed keeps its error.
    if (log.parent === parent && !isOverForWorkers(log)) await cancelRun(store, child, wish);
  } catch (error) {
    // It has ended, or was not queued yet.
    if (!(error instanceof AgentdumpError && ['usage', 'not-found'].includes(error.code))) throw error;
  }
}

/** The run that started a run as its child, if one did. */
export async function parentOf(store: DurableStore, id: string): Promise<string | undefined> {
  return (await logOf(store, id)).parent;
}

async function logOf(store: DurableStore, id: string): Promise<RunLog> {
  const { records } = await store.read(id);
  return new RunLog(records, codecForLooking(records));
}

export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}
