import { basename } from 'node:path';
import { platform } from '../../platform/index.ts';

const deepest = 8;
const mostChildren = 64;

/** The first Node among the process and its descendants; the process itself where there is none. */
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

/** It waits for the script that it runs. */
function isNpm(pid: number): boolean {
  const argv = (platform.processFile(pid, 'cmdline') ?? '').split('\0');
  return (
    argv[0] === 'npm' || argv[0]?.startsWith('npm ') || /\/(?:npm|npx)(?:-cli\.js)?$/.test(argv[1] ?? '')
  );
}

export interface MainThread {
  /** Letter of its state: R, S, D, T, Z … */
  state: string;
  /** Processor time in clock ticks (1/100 s). */
  ticks: number;
  /** Number of the system call that it sits in; undefined while it runs, or where that may not be seen. */
  systemCall?: number;
  /** Its first argument: for the waiting for events, the descriptor of the loop that waits. */
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

/** Waiting for events: epoll_wait, epoll_pwait and epoll_pwait2 of this machine. */
const loopCalls: Record<string, number[]> = { x64: [232, 281, 441], arm64: [22, 441] };

/** `home`: the descriptor of its own loop, where that is known: a synchronous child is waited for in a loop of its own. */
export function isInEventLoop(thread: MainThread, home: number | undefined): boolean {
  return waitsForEvents(thread) && (home === undefined || thread.argument === home);
}

export function waitsForEvents({ systemCall }: MainThread): boolean {
  return systemCall !== undefined && (loopCalls[process.arch] ?? []).includes(systemCall);
}

/** The main thread's own loop is the oldest that it was ever met in: the others are made later, and higher. */
export class HomeLoop {
  descriptor: number | undefined;

  learn(thread: MainThread | undefined): void {
    if (thread?.argument === undefined || !waitsForEvents(thread)) return;
    this.descriptor = Math.min(this.descriptor ?? thread.argument, thread.argument);
  }
}

/** Commands of the processes that it started and that live. */
export function viewChildren(pid: number): { pid: number; command: string }[] {
  return childrenOf(pid)
    .slice(0, mostChildren)
    .map((child) => ({
      pid: child,
      command: (platform.processFile(child, 'cmdline') ?? '').split('\0').slice(0, -1).join(' '),
    }));
}

/** Resident bytes; undefined when it is gone. */
export function readResidentBytes(pid: number): number | undefined {
  const status = platform.processFile(pid, 'status') ?? '';
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}
