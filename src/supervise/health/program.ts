import { basename } from 'node:path';
import { platform } from '../../platform/index.ts';
import { quoteWords } from '../../platform/paths.ts';

const deepest = 8;
const mostChildren = 64;

/** The first Node process among the process and its descendants; the process itself if there is none. */
export function findProgram(pid: number): number {
  let level = [pid];
  for (let depth = 0; depth < deepest && level.length > 0; depth++) {
    const found = level.find(isNode);
    if (found !== undefined && !isNpm(found)) return found;
    level = level.flatMap(childrenOf);
  }
  return pid;
}

export function childrenOf(pid: number): number[] {
  const text = platform.processFile(pid, `task/${pid}/children`) ?? '';
  return text.split(' ').filter(Boolean).map(Number);
}

function isNode(pid: number): boolean {
  return /^(?:node|nodejs|electron)(?:[-\d.]|$)/.test(basename(platform.processLink(pid, 'exe') ?? ''));
}

/** npm only waits for the script that it runs. */
function isNpm(pid: number): boolean {
  const argv = (platform.processFile(pid, 'cmdline') ?? '').split('\0');
  return (
    argv[0] === 'npm' || argv[0]?.startsWith('npm ') || /\/(?:npm|npx)(?:-cli\.js)?$/.test(argv[1] ?? '')
  );
}

export interface MainThread {
  /** State letter: R, S, D, T, Z … */
  state: string;
  /** Processor time in clock ticks (1/100 s). */
  ticks: number;
  /** Number of the system call that it is in; undefined if it is running or the kernel does not show it. */
  systemCall?: number;
  /** First argument of the system call: for epoll calls, the descriptor of the event loop. */
  argument?: number;
}

export function readMainThread(pid: number): MainThread | undefined {
  const fields = platform.processStat(pid, pid);
  if (fields === undefined) return undefined;
  const [, call, argument] =
    /^(\d+) (0x[0-9a-f]+)/.exec(platform.processFile(pid, `task/${pid}/syscall`) ?? '') ?? [];
  return {
    state: fields[0] ?? '?',
    ticks: Number(fields[11]) + Number(fields[12]),
    ...(call !== undefined && { systemCall: Number(call), argument: Number(argument) }),
  };
}

export function isStopped(pid: number): boolean {
  return /^[Tt]$/.test(readMainThread(pid)?.state ?? '');
}

/** Numbers of epoll_wait, epoll_pwait and epoll_pwait2 by architecture. */
const loopCalls: Record<string, number[]> = { x64: [232, 281, 441], arm64: [22, 441] };

/** `home`: descriptor of its own event loop if known. A synchronous child process is awaited in a different loop. */
export function isInEventLoop(thread: MainThread, home: number | undefined): boolean {
  return waitsForEvents(thread) && (home === undefined || thread.argument === home);
}

export function waitsForEvents({ systemCall }: MainThread): boolean {
  return systemCall !== undefined && (loopCalls[process.arch] ?? []).includes(systemCall);
}

/** The main thread's own loop is the one with the lowest descriptor: others are created later, with higher ones. */
export class HomeLoop {
  descriptor: number | undefined;

  learn(thread: MainThread | undefined): void {
    if (thread?.argument === undefined || !waitsForEvents(thread)) return;
    this.descriptor = Math.min(this.descriptor ?? thread.argument, thread.argument);
  }
}

/** Commands of its living child processes. */
export function viewChildren(pid: number): { pid: number; command: string }[] {
  return childrenOf(pid)
    .slice(0, mostChildren)
    .map((child) => ({
      pid: child,
      command: quoteWords((platform.processFile(child, 'cmdline') ?? '').split('\0').slice(0, -1)),
    }));
}

/** Resident memory in bytes; undefined if the process has ended. */
export function readResidentBytes(pid: number): number | undefined {
  const status = platform.processFile(pid, 'status') ?? '';
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}
