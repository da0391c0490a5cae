/**
 * What a count of objects by class shows if there is no heap snapshot: the most frequent class and the largest collections
 * and, for a sample, how they were reached. The count has no sizes, so all conclusions are only possible. Pure.
 */
import { partNames } from '../bundle/layout/bundle.ts';
import type { MemoryFacts, MemorySuspect } from '../model/account.ts';
import { formatNumber, formatShare } from '../model/quantities.ts';
import type { HeapCensusFacts } from './parts/surroundings.ts';

/** Classes with a smaller share of all objects, or collections with fewer entries, are not suspects. */
const leastShare = 0.2;
const leastObjects = 50_000;
const leastEntries = 50_000;
const mostCollections = 3;
const leastReached = 1_000;

/** Undefined if a sample reached too few objects to be representative. */
export function censusClasses(census: HeapCensusFacts | undefined): MemoryFacts['classes'] {
  if (!census || (census.sample && census.objects < leastReached)) return undefined;
  const rows = mostFirst(census);
  return rows.length ? rows : undefined;
}

function mostFirst({ classes, shapes }: HeapCensusFacts): { name: string; count: number }[] {
  // Strings are not included in the total that shares refer to.
  const told = classes.filter(({ name }) => name !== 'Object' && name !== 'string');
  return [...told, ...shapes].sort((a, b) => b.count - a.count);
}

export function censusSuspects(census: HeapCensusFacts | undefined): MemorySuspect[] {
  if (!census) return [];
  const [most] = mostFirst(census);
  const found: MemorySuspect[] = [];
  if (most && most.count >= leastObjects && most.count >= census.objects * leastShare)
    found.push(classSuspect(most.name, most.count, census));
  for (const collection of census.collections.slice(0, mostCollections))
    if (collection.entries >= leastEntries) found.push(collectionSuspect(collection));
  return found;
}

function classSuspect(name: string, count: number, { objects, sample }: HeapCensusFacts): MemorySuspect {
  const share = formatShare(count / objects);
  const about = sample ? `About ${formatNumber(count)} of some` : `${formatNumber(count)} of`;
  const how = sample
    ? `It is an estimate from ${formatNumber(sample.lookedAt)} objects (${sample.reason}).`
    : 'No snapshot fitted, so who holds them is not known.';
  return {
    rule: 'object-count',
    title: `${sample ? 'about ' : ''}${formatNumber(count)} objects of ${name}`,
    sentence: `${about} ${formatNumber(objects)} objects were ${name} (${share}). ${how}`,
    confidence: 'possible',
    evidence: [{ fact: `${share} of all objects by number, not by bytes`, part: partNames.heapCensus }],
  };
}

function collectionSuspect({ name, entries, of, at }: HeapCensusFacts['collections'][number]): MemorySuspect {
  const content = of === undefined ? '' : `, the last of them ${of}`;
  const place = at === undefined ? '' : ` It was reached as ${at}.`;
  return {
    rule: 'large-collection',
    title: `a collection of ${formatNumber(entries)} entries`,
    sentence: `One ${name} had ${formatNumber(entries)} entries${content}.${place}`,
    confidence: 'possible',
    evidence: [{ fact: `${name}: ${formatNumber(entries)} entries${content}`, part: partNames.heapCensus }],
  };
}
