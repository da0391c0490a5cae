/**
 * Makes a main thread whose loop is blocked check its memory, as it would in a turn of its loop (memory-watch.ts), without
 * stopping it. If the snapshot is due it is taken in that thread, which is stopped and read first; if its heap is too full
 * for a debugger (heap-room.ts), with its stack only.
 */

import { MainThread } from '../main-thread.ts';
import { cells, hookExpression, type WatchdogData } from '../protocol.ts';
import { roomForDebugger } from './heap-room.ts';

const interruptMs = 1000;
const lookMs = 5000;
/** The bundle's own limits are shorter. */
const snapshotMs = 30_000;

export async function lookAtMemory(data: WatchdogData): Promise<void> {
  if (data.isInspected) return;
  const thread = new MainThread(data);
  try {
    const isDue = await thread.evaluateInPassing(`${hookExpression}.lookAtMemory()`, lookMs);
    if (isDue === true) await takeSnapshot(thread, data);
  } finally {
    thread.detach();
  }
}

async function takeSnapshot(thread: MainThread, { shared, heapLimitBytes }: WatchdogData): Promise<void> {
  // The main thread has just updated it.
  const room = roomForDebugger(Atomics.load(shared, cells.heapKib) * 1024, heapLimitBytes);
  if (room === 0) {
    await thread.evaluateInPassing(`${hookExpression}.takeSnapshot()`, snapshotMs);
    return;
  }
  const found = await thread.interrupt(interruptMs, room);
  if (found.state !== 'paused') return;
  const frames = JSON.stringify(await thread.readFrames(found.frames));
  await thread.evaluate(`${hookExpression}.takeSnapshot(${frames})`, snapshotMs);
}
