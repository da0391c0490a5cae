/**
 * Opens the inspector of a running Node process on systems that don't show which process listens on a port. Only Node's usual
 * port is tried, and what answers there must report the expected process id. If another program has the port, the inspector
 * can't be found.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { notAvailable, platform } from '../../platform/index.ts';
import { answerMs, askForTarget, type InspectorDoor, unreachable, usualPort } from './inspector-door.ts';
import { RemoteDebugger } from './remote-debugger.ts';

const pollMs = 20;
/** Time limit for the process id, which the main thread answers if it runs JavaScript. */
const pidMs = 2_000;

/** Undefined if it did not open in time. Throws `not-found` like `openInspector`. */
export async function openAtUsualPort(pid: number, timeoutMs: number): Promise<InspectorDoor | undefined> {
  if (!platform.isThere(pid)) throw unreachable(pid, 'there is no such process');
  const open = await findOwn(pid);
  if (open !== undefined) return { webSocketUrl: open, openedByUs: false };
  if (platform.inspectorMayKill) requireNode(pid);
  platform.askForInspector(pid);
  for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await pause(pollMs)) {
    const found = await findOwn(pid);
    if (found !== undefined) return { webSocketUrl: found, openedByUs: true };
  }
  return undefined;
}

/** Checks the program's name, because only Linux shows which signals a process handles. */
function requireNode(pid: number): void {
  const program = platform.processes().find((one) => one.pid === pid)?.program;
  if (program === undefined) throw unreachable(pid, notAvailable('the name of its program'));
  if (!/node|electron|bun/i.test(program)) throw unreachable(pid, `it runs ${program}, which is not Node`);
}

async function findOwn(pid: number): Promise<string | undefined> {
  const url = await askForTarget(usualPort, answerMs);
  return url !== undefined && (await pidBehind(url)) === pid ? url : undefined;
}

async function pidBehind(url: string): Promise<unknown> {
  try {
    const remote = await RemoteDebugger.connect(url, pidMs);
    try {
      const { result } = await remote.send('Runtime.evaluate', {
        expression: 'process.pid',
        returnByValue: true,
      });
      return (result as { value?: unknown } | undefined)?.value;
    } finally {
      remote.close();
    }
  } catch {
    // The inspector of another process, or a main thread that does not answer.
    return undefined;
  }
}
