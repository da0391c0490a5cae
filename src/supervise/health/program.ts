/**
 * Which process the program is, where a shell or `npm run` stands between it and us, and what the kernel tells of its
 * main thread. Source: proc(5). Nothing throws: a process may be gone at any moment.
 */
import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { readSmallFile } from '../../capture/proc-files.ts';

const deepest = 8;

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
  const text = readSmallFile(`/proc/${pid}/task/${pid}/children`) ?? '';
  return text.split(' ').filter(Boolean).map(Number);
}

function isNode(pid: number): boolean {
  try {
    return /^(?:node|nodejs|electron)(?:[-\d.]|$)/.test(basename(readlinkSync(`/proc/${pid}/exe`)));
  } catch {
    return false;
  }
}

/** It waits for the script that it runs. */
function isNpm(pid: number): boolean {
  const argv = (readSmallFile(`/proc/${pid}/cmdline`) ?? '').split('\0');
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
}

export function readMainThread(pid: number): MainThread | undefined {
  const stat = readSmallFile(`/proc/${pid}/task/${pid}/stat`);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const call = /^\d+/.exec(readSmallFile(`/proc/${pid}/task/${pid}/syscall`) ?? '')?.[0];
  return {
    state: fields[0] ?? '?',
    ticks: Number(fields[11]) + Number(fields[12]),
    ...(call !== undefined && { systemCall: Number(call) }),
  };
}

export function isStopped(pid: number): boolean {
  return /^[Tt]$/.test(readMainThread(pid)?.state ?? '');
}

/** Waiting for events: epoll_wait, epoll_pwait and epoll_pwait2 of this machine. */
const loopCalls: Record<string, number[]> = { x64: [232, 281, 441], arm64: [22, 441] };

export function isInEventLoop({ systemCall }: MainThread): boolean {
  return systemCall !== undefined && (loopCalls[process.arch] ?? []).includes(systemCall);
}

/** Resident bytes; undefined when it is gone. */
export function readResidentBytes(pid: number): number | undefined {
  const status = readSmallFile(`/proc/${pid}/status`) ?? '';
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}
