/** Which functions of the program allocated what filled the memory, from sampled allocations. Pure. */
import { partNames } from '../bundle/layout/bundle.ts';
import type { MemorySuspect } from '../model/account.ts';
import { shortFile } from '../model/frame-text.ts';
import { formatBytes, formatShare } from '../model/quantities.ts';
import type { HeapProfileFacts } from './parts/surroundings.ts';

/** Functions with a smaller share of the samples are not suspects. */
const leastShare = 0.1;
const mostSuspects = 5;

export interface Allocator {
  /** `remember (src/cache.ts:12:5)`. */
  place: string;
  /** `remember` and `src/cache.ts:12:5`; a function without a name has only the place. */
  name?: string;
  at?: string;
  bytes: number;
  /** Share of the sampled bytes. */
  share: number;
  /** The stack of its largest row. */
  stack: string[];
}

/** The program's functions that allocated most of what is alive, largest first, without overlaps. */
export function findAllocators(profile: HeapProfileFacts | undefined, cwd?: string): Allocator[] {
  const total = profile?.sampledBytes ?? 0;
  if (!profile || total <= 0) return [];
  const byPlace = new Map<string, { bytes: number; stack: string[] }>();
  for (const { bytes, stack } of profile.rows) {
    const frame = stack.find((each) => isOurs(each) || isOfProgram(each)) ?? stack[0];
    if (frame === undefined || isOurs(frame)) continue;
    const known = byPlace.get(frame);
    if (known) known.bytes += bytes;
    else byPlace.set(frame, { bytes, stack });
  }
  return [...byPlace]
    .map(([frame, { bytes, stack }]) => ({
      place: shortened(frame, cwd),
      ...partsOf(frame, cwd),
      bytes,
      share: bytes / total,
      stack,
    }))
    .filter(({ share }) => share >= leastShare)
    .sort((a, b) => b.bytes - a.bytes);
}

export function allocationSuspects(profile: HeapProfileFacts | undefined, cwd?: string): MemorySuspect[] {
  return findAllocators(profile, cwd)
    .slice(0, mostSuspects)
    .map(({ place, bytes, share, stack }) => ({
      rule: 'allocations',
      title: `allocated in ${place}`,
      sentence: `${formatBytes(bytes)} that were still alive had been allocated in ${place}, ${formatShare(share)} of what was sampled.`,
      confidence: share > 0.5 ? 'likely' : 'possible',
      evidence: stack.map((frame) => ({ fact: shortened(frame, cwd), part: partNames.heapProfile })),
    }));
}

/** Frames of the recorder, which did not fill the heap, and which users can't change. */
const isOurs = (frame: string): boolean => /\/register(?:-tests)?\.cjs:/.test(frame);

function isOfProgram(frame: string): boolean {
  return /\((?:file:|\/)/.test(frame) && !frame.includes('/node_modules/');
}

function shortened(frame: string, cwd: string | undefined): string {
  const { name, at } = partsOf(frame, cwd);
  return at === undefined || name === undefined ? (name ?? at ?? frame) : `${name} (${at})`;
}

function partsOf(frame: string, cwd: string | undefined): Pick<Allocator, 'name' | 'at'> {
  const start = frame.lastIndexOf(' (');
  if (start < 0 || !frame.endsWith(')')) return { name: frame };
  const at = shortFile(frame.slice(start + 2, -1), cwd);
  const name = frame.slice(0, start);
  if (name !== '(anonymous)') return { name, at };
  // V8 reports the start of the function, which for a module's own code is the start of the file.
  return at.endsWith(':1:1') ? { name: `the top-level code of ${at.slice(0, -4)}` } : { at };
}
