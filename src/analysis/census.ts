/**
 * What a count of objects by class says, where no heap snapshot fitted: which class there is most of, and which collections
 * are the largest. It knows no bytes and not who holds what, so nothing here is more than possible. Pure.
 */
import { partNames } from '../bundle/layout.ts';
import type { MemoryFacts, MemorySuspect } from '../model/account.ts';
import { formatNumber, formatShare } from '../model/quantities.ts';
import type { HeapCensusFacts } from './parts/surroundings.ts';

/** A class with a smaller share of all objects, or a collection with fewer entries, is no suspect. */
const leastShare = 0.2;
const leastObjects = 50_000;
const leastEntries = 50_000;
const mostCollections = 3;

export function censusClasses(census: HeapCensusFacts | undefined): MemoryFacts['classes'] {
  const rows = [
    ...(census?.classes ?? []).filter(({ name }) => name !== 'Object'),
    ...(census?.shapes ?? []),
  ];
  return rows.length ? rows.sort((a, b) => b.count - a.count) : undefined;
}

export function censusSuspects(census: HeapCensusFacts | undefined): MemorySuspect[] {
  if (!census) return [];
  const [most] = censusClasses(census) ?? [];
  const found: MemorySuspect[] = [];
  if (most && most.count >= leastObjects && most.count >= census.objects * leastShare)
    found.push(classSuspect(most.name, most.count, census.objects));
  for (const { name, entries, of } of census.collections.slice(0, mostCollections))
    if (entries >= leastEntries) found.push(collectionSuspect(name, entries, of));
  return found;
}

function classSuspect(name: string, count: number, objects: number): MemorySuspect {
  const share = formatShare(count / objects);
  return {
    rule: 'object-count',
    title: `${formatNumber(count)} objects of ${name}`,
    sentence: `${formatNumber(count)} of ${formatNumber(objects)} objects were ${name} (${share}). No snapshot fitted, so who holds them is not known.`,
    confidence: 'possible',
    evidence: [{ fact: `${share} of all objects by number, not by bytes`, part: partNames.heapCensus }],
  };
}

function collectionSuspect(name: string, entries: number, of: string | undefined): MemorySuspect {
  const content = of === undefined ? '' : `, the last of them ${of}`;
  return {
    rule: 'large-collection',
    title: `a collection of ${formatNumber(entries)} entries`,
    sentence: `One ${name} had ${formatNumber(entries)} entries${content}.`,
    confidence: 'possible',
    evidence: [{ fact: `${name}: ${formatNumber(entries)} entries${content}`, part: partNames.heapCensus }],
  };
}
