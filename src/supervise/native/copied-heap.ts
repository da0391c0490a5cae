/**
 * The heap of a living process out of a copy of its memory, which stops it for as long as the copying takes and needs
 * nothing of it. The copy is in our own memory alone, so it is gone whatever dies. Reading it is analysis's work, which
 * this room does not know: the command line hands it in.
 */
import { canary } from '../../capture/fatal-path/canary.ts';
import { notAvailable, platform } from '../../platform/index.ts';
import { HeapMembers } from '../scrub/heap-members.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { bytesFor, mayCopy } from './core-room.ts';
import { type CoreInMemory, copyMemory, type MemoryCopy } from './live-core.ts';
import { readMappings } from './live-process.ts';

/** Of a whole core. */
export interface CoreBytes {
  readonly size: number;
  /** Fills `target` from byte `offset` as far as the core goes; returns how many bytes it filled. */
  readInto(target: Uint8Array, offset: number): number;
  /** The bytes themselves where they are in one piece. */
  view(offset: number, length: number): Uint8Array | undefined;
}

/** Of a core, or of the file at a path: the text of a heap snapshot, in the clear, with `planted` as one more of its strings. Rejects where it can't be read. */
export type HeapReader = (core: CoreBytes | string, planted: string) => Promise<HeapText>;

export interface HeapText {
  text: AsyncIterable<Uint8Array>;
  /** A collection of garbage was moving objects: some may be lost. */
  isCollecting: boolean;
  gaps: string[];
}

export interface CopiedHeap {
  /** Redacted and gzipped. */
  members: Uint8Array[];
  /** The longest, should it have been copied more than once. */
  pauseMs: number;
  gaps: string[];
}

/** A collection is over in milliseconds. */
const mostCopies = 3;

/** Roots are found by the form of glibc's chunks of memory: with another allocator what lives could be taken for dead. */
const otherAllocator = /\/(?:ld-musl-|lib(?:jemalloc|mimalloc|tcmalloc|snmalloc)[^/]*$)/;

/** Rejects, in words, where the memory can't be read, the machine has no room for it, or this V8 was never compared. */
export async function readCopiedHeap(pid: number, read: HeapReader, scrubber: Scrubber): Promise<CopiedHeap> {
  if (!platform.hasProcessFiles || process.arch !== 'x64')
    throw new Error(notAvailable('the memory of another process'));
  requireKnownMemory(pid);
  const { text, gaps, pauseMs } = await copyAtRest(pid, read);
  const members = new HeapMembers(scrubber);
  for await (const piece of text) members.write(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
  return { members: members.end(), pauseMs, gaps };
}

/** Again where it was stopped amidst a collection, and at last as it was. */
async function copyAtRest(
  pid: number,
  read: HeapReader,
  copiesLeft = mostCopies - 1,
): Promise<HeapText & { pauseMs: number }> {
  const { copy, found } = await copyAndRead(pid, read);
  const { pauseMs } = copy;
  if (!found.isCollecting || copiesLeft === 0)
    return { ...found, pauseMs, gaps: [...copy.gaps, ...found.gaps] };
  const again = await copyAtRest(pid, read, copiesLeft - 1);
  return { ...again, pauseMs: Math.max(pauseMs, again.pauseMs) };
}

async function copyAndRead(pid: number, read: HeapReader): Promise<{ copy: MemoryCopy; found: HeapText }> {
  const { kept, size, ...copy } = copyWhole(pid);
  return { copy, found: await read(bytesOf({ kept, size }), canary()) };
}

/** Throws, in words, where roots could not be found in its memory. */
export function requireKnownMemory(pid: number): void {
  const allocator = readMappings(pid).find(({ path }) => otherAllocator.test(path));
  if (allocator) throw new Error(`it allocates by ${allocator.path}, whose memory is not known`);
}

/** All of its memory, in ours. Throws, in words, where there is no room for it. */
export function copyWhole(pid: number): MemoryCopy & CoreInMemory {
  const maxBytes = mayCopy(pid);
  requireRoom(bytesFor(pid), maxBytes);
  const copy = copyMemory(pid, { maxBytes });
  // A heap of which a part is missing would tell a story of its own.
  if (copy.leftOutBytes > 0) requireRoom(copy.bytes + copy.leftOutBytes, maxBytes);
  return copy;
}

/** Throws, in words, where a copy of so many bytes, and its reading, may not be had. */
export function requireRoom(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes)
    throw new Error(`a copy takes ${bytes} bytes, and ${Math.floor(maxBytes)} may be taken on this machine`);
}

export function bytesOf({ kept, size }: CoreInMemory): CoreBytes {
  return {
    size,
    readInto(target, offset) {
      const length = Math.max(0, Math.min(target.length, size - offset));
      target.fill(0, 0, length);
      for (let i = lastBefore(kept, offset); i < kept.length; i++) {
        const { bytes, offset: start } = kept[i]!;
        if (start >= offset + length) break;
        const from = Math.max(0, offset - start);
        const part = bytes.subarray(from, Math.max(from, offset + length - start));
        target.set(part, start + from - offset);
      }
      return length;
    },
    view(offset, length) {
      const { bytes, offset: start } = kept[lastBefore(kept, offset)]!;
      const from = offset - start;
      return from >= 0 && from + length <= bytes.length ? bytes.subarray(from, from + length) : undefined;
    },
  };
}

/** Number of the piece that starts at the offset or last before it. */
function lastBefore(kept: CoreInMemory['kept'], offset: number): number {
  let low = 0;
  let high = kept.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (kept[middle]!.offset <= offset) low = middle;
    else high = middle;
  }
  return low;
}
