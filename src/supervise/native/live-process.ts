/**
 * Reads from /proc what a core of a living process needs: mappings, resident pages, and the stack pointer and program counter
 * of each thread, which the kernel shows for threads that are stopped or in a system call. Also stops and resumes the
 * process. Source: proc(5), Documentation/admin-guide/mm/pagemap.rst.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { AgentdumpError } from '../../errors.ts';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';

export interface Mapping {
  start: number;
  end: number;
  readable: boolean;
  writable: boolean;
  executable: boolean;
  isShared: boolean;
  fileOffset: number;
  /** Absolute path of a file, a name in brackets, or empty for anonymous memory. */
  path: string;
}

export interface LiveThread {
  tid: number;
  stackPointer: bigint;
  programCounter: bigint;
}

const pageSize = 4096;
/** Offset of e_machine in an ELF header, and its value for x86-64. */
const machineAt = 18;
const x64 = 62;
/** Bits in the upper half of a pagemap entry: present or swapped; file-backed or shared. */
const held = 0xc000_0000;
const fileOrShared = 0x2000_0000;

export function readMappings(pid: number): Mapping[] {
  const mappings: Mapping[] = [];
  for (const line of readFileSync(platform.processPath(pid, 'maps'), 'utf8').split('\n')) {
    const match = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) \S+ \d+\s*(.*)$/.exec(line);
    if (!match) continue;
    const [, start = '', end = '', flags = '', offset = '', path = ''] = match;
    mappings.push({
      start: Number.parseInt(start, 16),
      end: Number.parseInt(end, 16),
      readable: flags[0] === 'r',
      writable: flags[1] === 'w',
      executable: flags[2] === 'x',
      isShared: flags[3] === 's',
      fileOffset: Number.parseInt(offset, 16),
      path,
    });
  }
  return mappings;
}

/**
 * The threads with their positions, and the ids of running ones, for which the kernel shows none. The main thread comes
 * first.
 */
export function readThreads(pid: number): { threads: LiveThread[]; running: number[] } {
  const threads: LiveThread[] = [];
  const running: number[] = [];
  const ids = readdirSync(platform.processPath(pid, 'task')).map(Number);
  for (const tid of ids.sort((a, b) => Number(b === pid) - Number(a === pid) || a - b)) {
    const words = readFileSync(platform.processPath(pid, `task/${tid}/syscall`), 'utf8')
      .trim()
      .split(' ');
    const [sp, pc] = words.slice(-2);
    if (!sp?.startsWith('0x') || !pc?.startsWith('0x')) running.push(tid);
    else threads.push({ tid, stackPointer: BigInt(sp), programCounter: BigInt(pc) });
  }
  return { threads, running };
}

/** State letter of a thread: T for stopped. */
export function readState(pid: number, tid: number): string {
  const stat = readFileSync(platform.processPath(pid, `task/${tid}/stat`), 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
}

/** Threads that are running or waiting for a processor; empty if the process has ended. */
export function readRunnable(pid: number): number[] {
  try {
    const ids = readdirSync(platform.processPath(pid, 'task')).map(Number);
    return ids.filter((tid) => readState(pid, tid) === 'R');
  } catch {
    return [];
  }
}

export function readParent(pid: number): number {
  const stat = readFileSync(platform.processPath(pid, 'stat'), 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]);
}

/** Anonymous resident memory in bytes (RssAnon). */
export function readOwnBytes(pid: number): number {
  const status = readFileSync(platform.processPath(pid, 'status'), 'latin1');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

/** Runs of private pages as [start, end), without untouched pages and unmodified file pages. */
export class Pagemap {
  readonly #fd: number;

  constructor(pid: number) {
    this.#fd = openSync(platform.processPath(pid, 'pagemap'), 'r');
  }

  ownRuns({ start, end, path }: Mapping): [number, number][] {
    const count = (end - start) / pageSize;
    const entries = new Uint32Array(Math.min(count, 1 << 16) * 2);
    const bytes = new Uint8Array(entries.buffer);
    const runs: [number, number][] = [];
    const isAnonymous = path === '' || path.startsWith('[');
    let last: [number, number] | undefined;
    for (let page = 0; page < count; page += bytes.length / 8) {
      const wanted = Math.min(bytes.length, (count - page) * 8);
      const got = readSync(this.#fd, bytes, 0, wanted, (start / pageSize + page) * 8);
      for (let i = 0; i * 8 + 8 <= got; i++) {
        const bits = entries[i * 2 + 1]!;
        if ((bits & held) === 0 || (!isAnonymous && (bits & fileOrShared) !== 0)) continue;
        const at = start + (page + i) * pageSize;
        if (last?.[1] === at) last[1] = at + pageSize;
        else {
          last = [at, at + pageSize];
          runs.push(last);
        }
      }
    }
    return runs;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

const stopTimeoutMs = 500;

/** Throws `unsupported-version` if the process is not x86-64: readers of the memory know only these registers. */
export function openMemory(pid: number): number {
  requireX64(pid);
  const path = platform.processPath(pid, 'mem');
  try {
    return openSync(path, 'r');
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw isGone
      ? new AgentdumpError('not-found', `no process ${pid}`, { path }, error)
      : new AgentdumpError(
          'unwritable',
          `the memory of process ${pid} may not be read`,
          { path, reason: 'not permitted' },
          error,
        );
  }
}

/**
 * For an emulated program this is the emulator's architecture. If the executable can't be read, its memory can't be read
 * either.
 */
function requireX64(pid: number): void {
  const machine = readMachine(platform.processPath(pid, 'exe'));
  if (machine === undefined || machine === x64) return;
  throw new AgentdumpError('unsupported-version', 'cores are written of x86-64 processes only', {
    format: 'elf-core',
    version: `machine ${machine}`,
    supported: 'x86-64',
  });
}

function readMachine(executable: string): number | undefined {
  const head = Buffer.alloc(machineAt + 2);
  try {
    const file = openSync(executable, 'r');
    try {
      return readSync(file, head, 0, head.length, 0) === head.length
        ? head.readUInt16LE(machineAt)
        : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** Harmless if the process is already running or has ended. */
export function resume(pid: number): void {
  try {
    process.kill(pid, signals.goOn);
  } catch {}
}

export function stop(pid: number, gaps: string[]): void {
  process.kill(pid, signals.stop);
  const until = performance.now() + stopTimeoutMs;
  while (readThreads(pid).running.length > 0) {
    if (performance.now() < until) continue;
    gaps.push(`threads did not stop within ${stopTimeoutMs} ms: ${readThreads(pid).running.join(', ')}`);
    return;
  }
}
