/**
 * Opens the inspector of a running Node where the system does not tell who listens on which port: at Node's usual one. Who
 * answers there must say that it is the process; another program that has the port keeps ours from being seen.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { notAvailable, platform } from '../../platform/index.ts';
import { answerMs, askForTarget, type InspectorDoor, unreachable, usualPort } from './inspector-door.ts';
import { RemoteDebugger } from './remote-debugger.ts';

const pollMs = 20;
/** Of a main thread that runs JavaScript. */
const pidMs = 2_000;

/** Undefined when the main thread did not get to it in time. Throws `not-found` as `openInspector` does. */
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

/** By its name: which signals it handles only Linux tells. */
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
    // Somebody else's, or a main thread that does not answer.
    return undefined;
  }
}
