/**
 * The heap of a process that dies because its heap is full: stopped in Node's handler for that, its memory is copied into
 * ours, and it is let go. Reading the copy takes seconds, in which the program is started again: it is done on a thread
 * that the command line hands in.
 */
import { closeSync, readSync } from 'node:fs';
import { platform } from '../../platform/index.ts';
import { viewProcess } from '../evidence/proc-view.ts';
import { copyWhole, requireKnownMemory } from './copied-heap.ts';
import { guardStop } from './guard-stop.ts';
import type { CoreInMemory } from './live-core.ts';
import { openMemory, readMappings, readThreads, resume, stop } from './live-process.ts';

/** What a heap is read from: a copy of the memory, which is handed over, or the path of a core. */
export type HeapSource = CoreInMemory | string;

export interface ReadHeap {
  /** Redacted and gzipped. */
  members: Uint8Array[];
  /** Redactions by rule. */
  counts: Map<string, number>;
  gaps: string[];
}

export interface HeapReading {
  /** Rejects where the heap can't be read, or `stop` was called. */
  result: Promise<ReadHeap>;
  stop(): void;
}

export interface FullHeapOptions {
  /** Reads a heap on a thread of its own. `words`: the command line, whose secrets the heap may hold. */
  readApart(source: HeapSource, words: readonly string[]): Promise<HeapReading>;
  /** Another one is being read: a second copy at the same time could take the memory that the next life needs. */
  isBusy(): boolean;
}

export interface FullHeap {
  pid: number;
  /** For the copy the process stood still for so long. */
  pauseMs?: number;
  reading?: HeapReading;
  /** Why there is none. */
  gap?: string;
}

const searchedStack = 1 << 16;
const longestText = 64;
/** What Node calls its report with (OOMErrorHandler in src/node_errors.cc): the words stand in its executable. */
const trigger = 'OOMError';

/**
 * Of a process that was sent SIGSTOP; it goes on in any case. Undefined where its heap is not full: somebody has asked it
 * for a report. Never rejects.
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

function withGaps({ result, stop: stopReading }: HeapReading, gaps: readonly string[]): HeapReading {
  const all = result.then((read) => ({ ...read, gaps: [...gaps, ...read.gaps] }));
  // Whoever waits for it comes when the process has ended.
  all.catch(() => {});
  return { result: all, stop: stopReading };
}

/**
 * Whether its main thread writes the report of a heap that is full: a pointer to the word for that is on its stack then.
 * Throws what /proc throws.
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

/** As much as can be read: a stack may end before. */
function readAt(memory: number, address: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  try {
    return bytes.subarray(0, readSync(memory, bytes, 0, length, address));
  } catch {
    return bytes.subarray(0, 0);
  }
}
