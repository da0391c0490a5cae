/**
 * What is the matter with a program that a check complained about: a short look at the main thread's processor time
 * and system call, and, of a thread that only may hang, the question whether its event loop turns.
 */
import { openInspector } from '../inspector-port.ts';
import { closeInspector } from '../leave-inspector.ts';
import { RemoteDebugger } from '../remote-debugger.ts';
import type { Complaint } from './limits.ts';
import { isInEventLoop, readMainThread } from './program.ts';

export type Condition =
  /** It is no more. */
  | 'gone'
  /** Waits for events: whatever is wrong, its main thread could act. */
  | 'waiting'
  /** Runs, and its event loop turns. */
  | 'busy'
  /** Runs, and does not come back to its event loop. */
  | 'spinning'
  /** Sits in a system call that is not the waiting for events. */
  | 'blocked';

export interface Triage {
  condition: Condition;
  /** One sentence with the figures. */
  finding: string;
}

const lookMs = 100;
const ticksPerSecond = 100;
/** A loop that turns at all does within this time of being asked. */
const turnWithinMs = 500;
const answerMs = 1000;

export async function triage(pid: number, { check }: Complaint): Promise<Triage> {
  const before = readMainThread(pid);
  await new Promise((done) => setTimeout(done, lookMs));
  const after = readMainThread(pid);
  if (!before || !after || /^[ZX]$/.test(after.state))
    return { condition: 'gone', finding: 'the process has ended' };
  const share = Math.min(1, (after.ticks - before.ticks) / ((lookMs / 1000) * ticksPerSecond));
  const used = `${Math.round(share * 100)} % of a processor in ${lookMs} ms`;
  if (isInEventLoop(before) && isInEventLoop(after) && share < 0.5)
    return { condition: 'waiting', finding: `the main thread waits for events and uses ${used}` };
  if (after.systemCall !== undefined && after.systemCall === before.systemCall && share < 0.2)
    return { condition: 'blocked', finding: `the main thread sits in system call ${after.systemCall}` };
  const spinning = `the main thread uses ${used} and its event loop does not turn`;
  if (check !== 'main-thread') return { condition: 'spinning', finding: `the main thread uses ${used}` };
  return (await isTurning(pid))
    ? { condition: 'busy', finding: `the main thread uses ${used}, but its event loop turns` }
    : { condition: 'spinning', finding: spinning };
}

const mark = "globalThis[Symbol.for('agentdump.turn')]";

/** Asks for a mark at the next turn of the loop, and looks for it: both are answered in a busy loop too. */
async function isTurning(pid: number): Promise<boolean> {
  try {
    const door = await openInspector(pid, answerMs);
    if (!door) return false;
    const remote = await RemoteDebugger.connect(door.webSocketUrl, answerMs);
    try {
      await evaluate(remote, `${mark} = 0; setImmediate(() => { ${mark} = 1; }); 0`);
      const deadline = performance.now() + turnWithinMs;
      while (performance.now() < deadline) {
        if ((await evaluate(remote, mark)) === 1) return true;
        await new Promise((done) => setTimeout(done, 20));
      }
      return false;
    } finally {
      await evaluate(remote, `delete ${mark}`).catch(() => {});
      await closeInspector(remote, door.openedByUs);
    }
  } catch {
    return false;
  }
}

async function evaluate(remote: RemoteDebugger, expression: string): Promise<unknown> {
  const { result } = await remote.send('Runtime.evaluate', { expression, returnByValue: true });
  return (result as { value?: unknown } | undefined)?.value;
}
