/**
 * The heap part of a process that died because its heap was full, or was killed after its memory had come near a limit: read
 * from the copy of its memory, or from the kernel's core if there is no copy.
 */
import { statSync } from 'node:fs';
import { partNames } from '../../bundle/layout/bundle.ts';
import type { BundleWriter } from '../../bundle/write/writer.ts';
import { requireRoom } from '../native/copied-heap.ts';
import { mayCopy } from '../native/core-room.ts';
import type { FullHeap, HeapReading, ReadHeap } from '../native/full-heap.ts';

export interface DeadHeap {
  read?: ReadHeap;
  /** Its origin and what is missing, or why there is no heap. */
  gaps: string[];
}

/** Unit of `blocks` (stat(2)). */
const blockBytes = 512;
/** Enough for a heap of 4 GB on a busy machine. */
const longestMs = 600_000;
const likeness =
  'as close to V8’s own snapshot as is known of this Node, and without V8’s ids and Node’s C++ objects';

/** Never rejects. */
export async function awaitHeap({
  reading,
  pauseMs = 0,
  moment = 'when its heap was full',
  gap,
}: FullHeap): Promise<DeadHeap> {
  if (!reading) return { gaps: [`the heap could not be read: ${gap ?? 'nobody reads it'}`] };
  const from = `read out of a copy of the process’s memory, for which it stood still for ${Math.round(pauseMs)} ms ${moment}: ${likeness}`;
  return finishReading(reading, from);
}

/** Never rejects. */
export async function readHeapOfCore(
  { gap }: FullHeap,
  path: string,
  read: (path: string) => Promise<HeapReading>,
): Promise<DeadHeap> {
  try {
    requireRoom(statSync(path).blocks * blockBytes, mayCopy(process.pid));
    return await finishReading(await read(path), `read out of the kernel’s core (${gap}): ${likeness}`);
  } catch (error) {
    return { gaps: [describe(error)] };
  }
}

async function finishReading({ result, stop }: HeapReading, from: string): Promise<DeadHeap> {
  const timer = setTimeout(stop, longestMs);
  try {
    const read = await result;
    return { read, gaps: [from, ...read.gaps] };
  } catch (error) {
    return { gaps: [describe(error)] };
  } finally {
    clearTimeout(timer);
  }
}

const describe = (error: unknown): string =>
  `the heap could not be read: ${error instanceof Error ? error.message : error}`;

export function writeHeapPart(bundle: BundleWriter, { read, gaps }: DeadHeap): void {
  const part = partNames.heapSnapshot;
  if (read) {
    const open = bundle.openPart(part);
    for (const member of read.members.take()) open.write(member);
    open.close();
    bundle.countRedactions(part, read.counts);
  }
  for (const reason of gaps) bundle.addGap({ part, reason });
}
