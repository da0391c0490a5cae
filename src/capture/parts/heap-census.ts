/** `heap-census.json`: how many objects of each class there are, where the tier says that a snapshot does not fit. */
import { type HeapCensusPart, partNames } from '../../bundle/layout.ts';
import { takeHeapCensus } from '../heap-census.ts';
import { decideHeapTier } from '../heap-tier.ts';
import type { PartProducer } from './part.ts';

/** V8 can't be stopped while it lists: the tier has held the objects against this. */
export const censusLimitMs = 10_000;

export const heapCensusPart: PartProducer = {
  name: partNames.heapCensus,
  limitMs: () => censusLimitMs,
  produce({ config, trigger }): HeapCensusPart | undefined {
    if (decideHeapTier(config, trigger).taken !== 'census') return undefined;
    const census = takeHeapCensus();
    if (census) return census;
    throw new Error('this Node does not list its objects');
  },
};
