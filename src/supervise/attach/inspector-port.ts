/**
 * Opens the inspector of a running Node process from outside, or finds it if it is already open. SIGUSR1 opens it even if the
 * program spins, because Node handles the signal on a separate thread. But SIGUSR1 kills a program without a handler for it,
 * so /proc is checked first. Sources: proc(5), Node's documentation of `SIGUSR1`.
 */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { platform } from '../../platform/index.ts';
import { answerMs, askForTarget, type InspectorDoor, unreachable, usualPort } from './inspector-door.ts';
import { openAtUsualPort } from './inspector-usual-port.ts';

const SIGUSR1 = 10;
const pollMs = 5;
const largestTable = 16 * 1024 * 1024;
/** For the ports that are open already: those of a program that hangs don't answer. */
const firstAnswerMs = 100;

/**
 * Undefined if it did not open in time: the main thread is in native code or a system call, or the port is in use. (The
 * inspector may then open later.) If another process releases the port in time, the signal is sent again. Throws `not-found`
 * with the reason (no such process, not Node, no permission).
 */
export async function openInspector(pid: number, timeoutMs = 3000): Promise<InspectorDoor | undefined> {
  if (!platform.hasProcessFiles) return openAtUsualPort(pid, timeoutMs);
  requireReachable(pid);
  const before = listeningPorts(pid);
  const open = await findDoor(before, firstAnswerMs);
  if (open !== undefined) return { webSocketUrl: open, openedByUs: false };
  requireNodeHandler(pid);
  let isTaken = isPortTaken(pid, before);
  platform.askForInspector(pid);
  // The program's own ports may not answer, so they are only queried again at the end.
  const own = new Set(before);
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const found = await findDoor(listeningPorts(pid).filter((port) => !own.has(port)));
    if (found !== undefined) return { webSocketUrl: found, openedByUs: true };
    await new Promise((done) => setTimeout(done, pollMs));
    const wasTaken = isTaken;
    isTaken = isPortTaken(pid, listeningPorts(pid));
    if (wasTaken && !isTaken) platform.askForInspector(pid);
  }
  const late = await findDoor(listeningPorts(pid));
  return late === undefined ? undefined : { webSocketUrl: late, openedByUs: false };
}

function requireReachable(pid: number): void {
  try {
    process.kill(pid, 0);
    readdirSync(platform.processPath(pid, 'fd'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw unreachable(
      pid,
      code === 'ESRCH' || code === 'ENOENT' ? 'there is no such process' : 'it belongs to another user',
    );
  }
}

/** Node catches SIGUSR1 almost from its start. With `--disable-sigusr1` it does not, and neither do other programs. */
function requireNodeHandler(pid: number): void {
  const executable = platform.processLink(pid, 'exe');
  if (executable === undefined)
    throw unreachable(pid, 'it has ended, is a thread of the kernel, or belongs to another user');
  if (!/node|electron|bun/i.test(basename(executable)))
    throw unreachable(pid, `it runs ${executable}, which is not Node`);
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(platform.processFile(pid, 'status') ?? '')?.[1] ?? '0';
  if ((BigInt(`0x${mask}`) & (1n << BigInt(SIGUSR1 - 1))) === 0n)
    throw unreachable(pid, 'it does not handle SIGUSR1 (--disable-sigusr1?), which would kill it');
}

/** WebSocket URL of the first inspector that answers on one of the ports; undefined if none does. */
function findDoor(ports: readonly number[], timeoutMs = answerMs): Promise<string | undefined> {
  return new Promise((resolve) => {
    const answers = ports.map(async (port) => {
      const url = await askForTarget(port, timeoutMs);
      if (url !== undefined) resolve(url);
    });
    Promise.all(answers).then(() => resolve(undefined));
  });
}

/** Whether another process has the port that SIGUSR1 would open; false where the system doesn't show it. */
export function isItsPortTaken(pid: number): boolean {
  if (!platform.hasProcessFiles || hasOwnPort(pid)) return false;
  return isPortTaken(pid, listeningPorts(pid));
}

/** Whether it was started with another port than the usual one: `--inspect-port=9300`, `--inspect=127.0.0.1:9300`. */
function hasOwnPort(pid: number): boolean {
  const words = ['cmdline', 'environ'].map((name) => platform.processFile(pid, name, largestTable) ?? '');
  const ports = words
    .join('\0')
    .matchAll(/--(?:inspect|debug)(?:-(?:brk|wait|port))?[=\0](?:[^\s\0]*:)?(\d+)(?![^\s\0])/g);
  return [...ports].some(([, port]) => Number(port) !== usualPort);
}

/** Whether another process listens on the usual port, for example another one that is being captured. */
function isPortTaken(pid: number, own: readonly number[]): boolean {
  return !own.includes(usualPort) && listeners(pid).some(({ port }) => port === usualPort);
}

/** Listening TCP sockets in the network namespace of the process. */
function listeners(pid: number): { inode: string; port: number }[] {
  return ['tcp', 'tcp6'].flatMap((table) =>
    (platform.processFile(pid, `net/${table}`, largestTable) ?? '')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === '0A')
      .map(([, local, , , , , , , , inode]) => ({
        inode: inode ?? '',
        port: Number.parseInt(local?.split(':')[1] ?? '', 16),
      })),
  );
}

/** TCP ports on which the process listens, on any address; the inspector's usual port first. */
export function listeningPorts(pid: number): number[] {
  const inodes = new Set(socketInodes(pid));
  const ports = listeners(pid)
    .filter(({ inode }) => inodes.has(inode))
    .map(({ port }) => port);
  return [...new Set(ports)].sort((a, b) => Number(b === usualPort) - Number(a === usualPort));
}

function socketInodes(pid: number): string[] {
  return platform
    .processFolder(pid, 'fd')
    .flatMap((fd) => /^socket:\[(\d+)\]$/.exec(platform.processLink(pid, `fd/${fd}`) ?? '')?.[1] ?? []);
}
