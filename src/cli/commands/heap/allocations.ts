/** `heap allocations`: from a sampled profile, a snapshot taken with allocation tracking, or a bundle's own samples. */
import { readFileSync, statSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import {
  type Allocations,
  allocationFlame,
  allocationsOfStacks,
  sampledAllocations,
  trackedAllocations,
} from '../../../analysis/memory/questions/allocations.ts';
import type { FlameFrame } from '../../../analysis/memory/questions/flame.ts';
import { AgentdumpError } from '../../../errors.ts';
import {
  type HeapProfile,
  largestProfileBytes,
  readHeapProfile,
} from '../../../formats/heap-profile/heap-profile.ts';
import type { Gap } from '../../../model/verdict.ts';
import { isBundlePath, openHeapAt, type SourceOptions } from './input.ts';
import { isGzip, sourceKind } from './source-kind.ts';

/** @throws AgentdumpError `not-found` if the file contains no allocation sites. */
export async function findAllocations(
  source: string,
  dir: string,
  threads: number,
  options: SourceOptions,
): Promise<{ allocations: Allocations; gaps: Gap[] }> {
  if (sourceKind(source) === 'profile')
    return { allocations: sampledAllocations(readProfileFile(source)), gaps: [] };
  if (source !== '-' && isBundlePath(source)) return ofBundle(source, dir);
  const { heap, gaps, compute, close } = await openHeapAt(source, dir, threads, options);
  try {
    return { allocations: compute(() => trackedAllocations(heap)), gaps };
  } finally {
    close();
  }
}

/** A profile's calls as a flame graph. */
export function profileFlame(path: string): FlameFrame[] {
  return allocationFlame(readProfileFile(path));
}

function readProfileFile(path: string): HeapProfile {
  const { size } = statSync(path);
  if (size > largestProfileBytes) throw tooLarge(path, size);
  const bytes = readFileSync(path);
  if (!isGzip(bytes)) return readHeapProfile(bytes);
  try {
    return readHeapProfile(gunzipSync(bytes, { maxOutputLength: largestProfileBytes }));
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(path, undefined);
    throw error;
  }
}

function tooLarge(path: string, wanted: number | undefined): AgentdumpError {
  return new AgentdumpError(
    'over-limit',
    `${path} is larger than ${largestProfileBytes} bytes, the most for a profile`,
    { limit: 'heap profile', wanted, allowed: largestProfileBytes },
  );
}

/** Samples are recorded when memory approaches its limit. */
async function ofBundle(source: string, dir: string): Promise<{ allocations: Allocations; gaps: Gap[] }> {
  const [{ pathOf }, { openBundle }, { readBundleParts }] = await Promise.all([
    import('../../options/bundle-options.ts'),
    import('../../../bundle/read/reader.ts'),
    import('../../../analysis/bundle-parts.ts'),
  ]);
  const bundle = openBundle(pathOf({ bundle: source, dir }));
  try {
    const { heapProfile } = readBundleParts(bundle).parts;
    if (heapProfile) return { allocations: allocationsOfStacks(heapProfile.rows), gaps: [] };
    throw new AgentdumpError(
      'not-found',
      `the bundle ${bundle.path} has no sampled allocations: they are taken where memory comes near its limit`,
      { path: bundle.path },
    );
  } finally {
    bundle.close();
  }
}
