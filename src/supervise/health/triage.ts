/**
 * What is the matter with a program that a check complained about: a short look at the main thread's processor time
 * and system call, and, of a thread that only may hang, the question whether its event loop turns.
 */
import { openInspector } from '../attach/inspector-port.ts';
import { closeInspector } from '../attach/leave-inspector.ts';
import { RemoteDebugger } from '../attach/remote-debugger.ts';
import type { Complaint } from './limits.ts';
import { isInEventLoop, type MainThread, readMainThread, viewChildren, waitsForEvents } from './program.ts';

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

const lookMs = 25;
const looks = 5;
const ticksPerSecond = 100;
/** A loop that turns at all does within this time of being asked. */
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

/** What it waits for, most probably. */
function childText(pid: number): string {
  const [child] = viewChildren(pid);
  return child ? ` and has the child ${child.pid}` : '';
}

/** Some looks, up to the one that finds it gone. */
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
