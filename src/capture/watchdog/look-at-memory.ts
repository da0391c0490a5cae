/**
 * Has a main thread whose loop stands still look at its memory: it is interrupted where it is, looks as it would in a
 * turn of its loop (memory-watch.ts), takes the snapshot there if that is due, and goes on.
 */
import { MainThread } from './main-thread.ts';
import { hookExpression, type WatchdogData } from './protocol.ts';

const interruptMs = 1000;
const lookMs = 5000;
/** The bundle's own limits are shorter. */
const snapshotMs = 30_000;

export async function lookAtMemory({ shared, isInspected }: WatchdogData): Promise<void> {
  if (isInspected) return;
  const thread = new MainThread(shared);
  try {
    const found = await thread.interrupt(interruptMs);
    if (found.state !== 'paused') return;
    const isDue = await thread.evaluate(`${hookExpression}.lookAtMemory()`, lookMs);
    if (isDue !== true) return;
    const frames = JSON.stringify(await thread.readFrames(found.frames));
    await thread.evaluate(`${hookExpression}.takeSnapshot(${frames})`, snapshotMs);
  } finally {
    thread.detach();
  }
}
