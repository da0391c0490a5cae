/**
 * The heap of a process that is about to die because its heap is full. The process, which is stopped in Node's out-of-memory
 * handler, is resumed when its memory has been copied into ours. Reading the copy takes seconds, during which the program is
 * restarted, so it is done on a separate thread that the command line provides.
 */
import { closeSync, readSync } from 'node:fs';
import { platform } from '../../platform/index.ts';
import { viewProcess } from '../evidence/proc-view.ts';
import type { MemberSpool } from '../scrub/member-spool.ts';
import { copyWhole, requireKnownMemory } from './copied-heap.ts';
import type { CoreInMemory } from './copied-memory.ts';
import { guardStop } from './guard-stop.ts';
import { openMemory, readMappings, readThreads, resume, stop } from './live-process.ts';
import type { SealedCopy } from './sealed-copy.ts';

/** A copy of the memory, which is transferred, one that is sealed in a file, or the path of a core. */
export type HeapSource = CoreInMemory | SealedCopy | string;

/** What the thread that reads a heap sends after all members. */
export interface HeapAnswer {
  /** Redactions by rule. */
  counts: Map<string, number>;
  gaps: string[];
}

export interface ReadHeap extends HeapAnswer {
  /** Redacted and gzipped. */
  members: MemberSpool;
}

export interface HeapReading {
  /** Rejects if the heap can't be read, or `stop` was called. */
  result: Promise<ReadHeap>;
  stop(): void;
}

export interface FullHeapOptions {
  /** Reads a heap on a separate thread. `words`: the command line, whose secrets the heap may contain. */
  readApart(source: HeapSource, words: readonly string[]): Promise<HeapReading>;
  /** Whether another heap is being read: a second copy at the same time could take the memory that the next life needs. */
  isBusy(): boolean;
}

export interface FullHeap {
  pid: number;
  /** How long the process was stopped for the copy. */
  pauseMs?: number;
  /** When that was; without it, when the heap was full. */
  moment?: string;
  /** The process was killed, and the copy was taken before. */
  isOfKilled?: boolean;
  reading?: HeapReading;
  /** Why the heap was not read. */
  gap?: string;
}

const searchedStack = 1 << 16;
const longestText = 64;
/**
 * The trigger that Node passes to its report (OOMErrorHandler in src/node_errors.cc). The string is a constant in its
 * executable.
 */
const trigger = 'OOMError';

/**
 * For a process that was sent SIGSTOP; it is resumed in any case. Undefined if its heap is not full and the report was
 * written on request. Never rejects.
 */
export async function readFullHeap(pid: number, options: FullHeapOptions): Promise<FullHeap | undefined> {
  const began = performance.now();
  const dismiss = guardStop(pid);
  try {
    stop(pid, []);
    if (!isOutOfMemory(pid)) return undefined;
    if (options.isBusy()) throw new Error('the heap of the life before is still being read');
    const words = viewProcess(pid).argv;
    requireKnownMemory(pid);
    const { kept, size, gaps } = copyWhole(pid);
    resume(pid);
    const pauseMs = performance.now() - began;
    const reading = await options.readApart({ kept, size }, words);
    return { pid, pauseMs, reading: withGaps(reading, gaps) };
  } catch (error) {
    return { pid, gap: error instanceof Error ? error.message : String(error) };
  } finally {
    resume(pid);
    dismiss();
  }
}

export function withGaps({ result, stop: stopReading }: HeapReading, gaps: readonly string[]): HeapReading {
  const all = result.then((read) => ({ ...read, gaps: [...gaps, ...read.gaps] }));
  // The result is only awaited when the process has ended; this prevents an unhandled rejection until then.
  all.catch(() => {});
  return { result: all, stop: stopReading };
}

/**
 * Whether the main thread is writing the report of a full heap: then a pointer to the trigger string is on its stack. Throws
 * errors of /proc.
 */
function isOutOfMemory(pid: number): boolean {
  const main = readThreads(pid).threads.find(({ tid }) => tid === pid);
  if (!main) return false;
  const executable = platform.processLink(pid, 'exe');
  const constants = readMappings(pid).filter(
    ({ path, readable, writable }) => path === executable && readable && !writable,
  );
  const memory = openMemory(pid);
  try {
    const start = Number(main.stackPointer) - (Number(main.stackPointer) % 8);
    const stack = readAt(memory, start, searchedStack);
    const seen = new Set<number>();
    for (let at = 0; at + 8 <= stack.length; at += 8) {
      const word = stack.readUInt32LE(at + 4) * 2 ** 32 + stack.readUInt32LE(at);
      if (seen.has(word) || !constants.some((c) => word >= c.start && word < c.end)) continue;
      seen.add(word);
      if (readAt(memory, word, longestText).toString('latin1').startsWith(`${trigger}\0`)) return true;
    }
    return false;
  } finally {
    closeSync(memory);
  }
}

/** Returns fewer bytes if the stack ends before. */
function readAt(memory: number, address: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  try {
    return bytes.subarray(0, readSync(memory, bytes, 0, length, address));
  } catch {
    return bytes.subarray(0, 0);
  }
}
