/**
 * Reads the heap of a living process from a copy of its memory. The process is only stopped while the copy is made, and needs
 * no memory for it. The copy is in our own memory, so it disappears with this process. The heap reader belongs to analysis,
 * on which this module does not depend: the command line passes it in.
 */
import { notAvailable, platform } from '../../platform/index.ts';
import { GraphMembers, type GraphRedaction } from '../scrub/heap-members.ts';
import { MemberSpool } from '../scrub/member-spool.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { CopiedMemory, type CoreBytes, type CoreInMemory } from './copied-memory.ts';
import { bytesFor, mayCopy } from './core-room.ts';
import { copyMemory, type MemoryCopy } from './live-core.ts';
import { readMappings } from './live-process.ts';

/** Converts a core, in memory or in a file, to the redacted text of a heap snapshot. Rejects if the heap can't be read. */
export type HeapReader = (core: CoreBytes | string, redaction: GraphRedaction) => Promise<HeapText>;

export interface HeapText {
  text: AsyncIterable<Buffer>;
  /** The process was stopped while the garbage collector moved objects: some may be missing. */
  isCollecting: boolean;
  gaps: string[];
  /** For a text that is not read. */
  close(): void;
}

export interface CopiedHeap {
  /** Redacted and gzipped. */
  members: MemberSpool;
  /** The longest pause if more than one copy was made. */
  pauseMs: number;
  gaps: string[];
}

/** A collection takes only milliseconds, so a further copy usually finds the heap at rest. */
const mostCopies = 3;

/**
 * Roots are found by the layout of glibc's malloc chunks. With another allocator live objects could be mistaken for dead
 * ones.
 */
const otherAllocator = /\/(?:ld-musl-|lib(?:jemalloc|mimalloc|tcmalloc|snmalloc)[^/]*$)/;

/**
 * Rejects with a readable reason if the memory can't be read, the machine has too little of it, or this V8 version is
 * unknown.
 */
export async function readCopiedHeap(pid: number, read: HeapReader, scrubber: Scrubber): Promise<CopiedHeap> {
  if (!platform.hasProcessFiles || process.arch !== 'x64')
    throw new Error(notAvailable('the memory of another process'));
  requireKnownMemory(pid);
  const spool = new MemberSpool();
  try {
    const members = new GraphMembers(scrubber, (member) => spool.add(member));
    const { text, gaps, pauseMs } = await copyAtRest(pid, (core) => read(core, members));
    for await (const piece of text) await members.write(piece);
    await members.end();
    return { members: spool, pauseMs, gaps };
  } catch (error) {
    spool.close();
    throw error;
  }
}

/** Copies again if the process was stopped during a garbage collection. The last copy is used in any case. */
async function copyAtRest(
  pid: number,
  read: (core: CoreBytes) => Promise<HeapText>,
  copiesLeft = mostCopies - 1,
): Promise<HeapText & { pauseMs: number }> {
  const { copy, found } = await copyAndRead(pid, read);
  const { pauseMs } = copy;
  if (!found.isCollecting || copiesLeft === 0)
    return { ...found, pauseMs, gaps: [...copy.gaps, ...found.gaps] };
  found.close();
  const again = await copyAtRest(pid, read, copiesLeft - 1);
  return { ...again, pauseMs: Math.max(pauseMs, again.pauseMs) };
}

async function copyAndRead(
  pid: number,
  read: (core: CoreBytes) => Promise<HeapText>,
): Promise<{ copy: MemoryCopy; found: HeapText }> {
  const { kept, size, ...copy } = copyWhole(pid);
  return { copy, found: await read(new CopiedMemory({ kept, size })) };
}

/** Throws a readable reason if roots can't be found in the memory of this process. */
export function requireKnownMemory(pid: number): void {
  const allocator = readMappings(pid).find(({ path }) => otherAllocator.test(path));
  if (allocator) throw new Error(`it allocates by ${allocator.path}, whose memory is not known`);
}

/** Copies all of its memory into ours. Throws a readable reason if there is not enough room. */
export function copyWhole(pid: number): MemoryCopy & CoreInMemory {
  const maxBytes = mayCopy(pid);
  requireRoom(bytesFor(pid), maxBytes);
  const copy = copyMemory(pid, { maxBytes });
  requireOneMoment(copy);
  // An incomplete heap would be misleading.
  if (copy.leftOutBytes > 0) requireRoom(copy.bytes + copy.leftOutBytes, maxBytes);
  return copy;
}

/** Throws a readable reason if the process ran during the copy: objects and what refers to them would not fit together. */
export function requireOneMoment({ wasResumed }: MemoryCopy): void {
  if (wasResumed) throw new Error('it was resumed while its memory was copied');
}

/** Throws a readable reason if a copy of this size, and reading it, would take too much memory. */
export function requireRoom(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes)
    throw new Error(`a copy takes ${bytes} bytes, and ${Math.floor(maxBytes)} may be taken on this machine`);
}
