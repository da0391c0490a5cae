/**
 * Finds out the condition of a program that failed a check: briefly observes the main thread's CPU time and system call, and,
 * if it may only seem to hang, tests whether its event loop turns.
 */
import { openInspector } from '../attach/inspector-port.ts';
import { closeInspector } from '../attach/leave-inspector.ts';
import { RemoteDebugger } from '../attach/remote-debugger.ts';
import type { Complaint } from './limits.ts';
import { isInEventLoop, type MainThread, readMainThread, viewChildren, waitsForEvents } from './program.ts';

export type Condition =
  /** The process has ended. */
  | 'gone'
  /** Waits for events: whatever is wrong, its main thread could still act. */
  | 'waiting'
  /** Runs, and its event loop turns. */
  | 'busy'
  /** Runs, but does not return to its event loop. */
  | 'spinning'
  /** In a system call other than waiting for events. */
  | 'blocked';

export interface Triage {
  condition: Condition;
  /** One sentence with the figures. */
  finding: string;
}

const lookMs = 25;
const looks = 5;
const ticksPerSecond = 100;
/** A live event loop turns within this time. */
const turnWithinMs = 500;
const answerMs = 1000;

export async function triage(pid: number, { check, homeLoop }: Complaint): Promise<Triage> {
  const startedAt = performance.now();
  const seen = await lookAgain(pid);
  const [first, last] = [seen[0], seen.at(-1)];
  if (!first || !last || /^[ZX]$/.test(last.state))
    return { condition: 'gone', finding: 'the process has ended' };
  const tookMs = Math.round(performance.now() - startedAt);
  const share = Math.min(1, ((last.ticks - first.ticks) / ticksPerSecond / tookMs) * 1000);
  const used = `uses ${Math.round(share * 100)} % of a processor in ${tookMs} ms`;
  if (seen.some((thread) => isInEventLoop(thread, homeLoop)))
    return { condition: 'waiting', finding: `the main thread waits for events and ${used}` };
  if (seen.every(waitsForEvents))
    return { condition: 'blocked', finding: `the main thread is in a synchronous call${childText(pid)}` };
  if (last.systemCall !== undefined && seen.every(({ systemCall }) => systemCall === last.systemCall))
    return { condition: 'blocked', finding: `the main thread is in system call ${last.systemCall}` };
  if (check !== 'main-thread') return { condition: 'spinning', finding: `the main thread ${used}` };
  return (await isTurning(pid))
    ? { condition: 'busy', finding: `the main thread ${used}, but its event loop turns` }
    : { condition: 'spinning', finding: `the main thread ${used} and its event loop does not turn` };
}

/** The child that it probably waits for. */
function childText(pid: number): string {
  const [child] = viewChildren(pid);
  return child ? ` and has the child ${child.pid}` : '';
}

/** Several observations; empty if the process ends meanwhile. */
async function lookAgain(pid: number): Promise<MainThread[]> {
  const seen: MainThread[] = [];
  for (let look = 0; look < looks; look++) {
    if (look > 0) await new Promise((done) => setTimeout(done, lookMs));
    const thread = readMainThread(pid);
    if (!thread) return [];
    seen.push(thread);
  }
  return seen;
}

const mark = "globalThis[Symbol.for('agentdump.turn')]";

/** Schedules a mark for the next turn of the event loop, and polls for it. Both work even while the main thread spins. */
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
