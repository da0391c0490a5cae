/**
 * What resident memory is mapped for (/proc/self/smaps, proc(5)), if much of it is neither V8's heap nor external memory. Otherwise,
 * and for very large processes, the file is not read, because the kernel walks all pages of the process for it.
 *
 * An arena of glibc's malloc for threads is a reservation of 64 MiB at a multiple of 64 MiB, the used beginning of which is
 * writable (arena.c, HEAP_MAX_SIZE). Other allocators are not recognized; their memory is in `otherBytes`.
 */
import type { MappedMemory } from '../../../bundle/layout/bundle.ts';
import { platform } from '../../../platform/index.ts';

const leastBytes = 256 * 1024 ** 2;
const mostBytes = 8 * 1024 ** 3;
const mostText = 16 * 1024 ** 2;
const arenaBytes = 64 * 1024 ** 2;

export function mappedMemory({ rss, heapTotal, external }: NodeJS.MemoryUsage): MappedMemory | undefined {
  const rest = rss - heapTotal - external;
  if (rest < leastBytes || rest < heapTotal || rss > mostBytes) return undefined;
  const smaps = platform.processFile('self', 'smaps', mostText);
  return smaps === undefined ? undefined : sumMappings(smaps);
}

interface Mapping {
  start: number;
  end: number;
  permissions: string;
  /** A path, `[heap]`, `[stack]`, or empty. */
  name: string;
  residentBytes: number;
}

export function sumMappings(smaps: string): MappedMemory {
  const mappings = readMappings(smaps);
  const sums: MappedMemory = { mallocBytes: 0, mallocArenas: 0, stackBytes: 0, fileBytes: 0, otherBytes: 0 };
  for (const [at, mapping] of mappings.entries()) {
    const { name, residentBytes } = mapping;
    if (name === '[heap]') sums.mallocBytes += residentBytes;
    else if (isArena(mapping, mappings[at + 1])) {
      sums.mallocBytes += residentBytes;
      sums.mallocArenas++;
    } else if (name.startsWith('[stack') || isThreadStack(mapping, mappings[at - 1]))
      sums.stackBytes += residentBytes;
    else if (name.startsWith('/')) sums.fileBytes += residentBytes;
    else sums.otherBytes += residentBytes;
  }
  return sums;
}

function readMappings(smaps: string): Mapping[] {
  const found: Mapping[] = [];
  for (const line of smaps.split('\n')) {
    const [, start, end, permissions = '', name = ''] =
      /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+ *(.*)$/.exec(line) ?? [];
    if (start !== undefined && end !== undefined) {
      const [from, to] = [Number.parseInt(start, 16), Number.parseInt(end, 16)];
      found.push({ start: from, end: to, permissions, name, residentBytes: 0 });
      continue;
    }
    const kilobytes = /^Rss: +(\d+) kB/.exec(line)?.[1];
    const mapping = found.at(-1);
    if (kilobytes !== undefined && mapping) mapping.residentBytes += 1024 * Number(kilobytes);
  }
  return found;
}

/** The rest of the reservation follows as an inaccessible mapping, unless all of it is in use. */
function isArena({ start, end, permissions, name }: Mapping, next: Mapping | undefined): boolean {
  if (name !== '' || permissions !== 'rw-p' || start % arenaBytes !== 0) return false;
  if (end - start === arenaBytes) return true;
  return next?.start === end && next.permissions === '---p' && next.end === start + arenaBytes;
}

const guardBytes = 4096;
const largestStack = 16 * 1024 ** 2;

/** It follows an inaccessible page. */
function isThreadStack({ start, end, permissions, name }: Mapping, before: Mapping | undefined): boolean {
  if (name !== '' || permissions !== 'rw-p' || end - start > largestStack) return false;
  return before?.end === start && before.permissions === '---p' && before.end - before.start === guardBytes;
}
