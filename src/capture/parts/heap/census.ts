/** `heap-census.json`: the number of objects of each class, counted or from a sample, if no snapshot is taken. */
import { type HeapCensusPart, partNames } from '../../../bundle/layout/bundle.ts';
import { takeHeapCensus } from '../../heap/census.ts';
import { largeBytes } from '../../heap/estimate.ts';
import { heapRoots } from '../../heap/roots.ts';
import { decideHeapTier, isNotMissed } from '../../heap/tier.ts';
import { walkHeap } from '../../heap/walk.ts';
import { askV8 } from '../../host/ask-v8.ts';
import { ownTime } from '../../host/own-time.ts';
import { ClosureScopes } from '../../stacks/closure-scopes.ts';
import type { CaptureContext, PartProducer } from '../part.ts';

/** V8 can't be interrupted while it lists objects; the tier has compared their number with a lower limit. */
const censusLimitMs = 10_000;
/** If memory is in question. */
const longestWalkMs = 100;
/**
 * Otherwise a death has 250 ms in total, of which 40 have passed when the clock of the parts starts, and 15 follow: the walk uses what is
 * left of this share, but always looks at something.
 */
const ofDeathMs = 130;
const shortestWalkMs = 10;

export const heapCensusPart: PartProducer = {
  name: partNames.heapCensus,
  limitMs: () => censusLimitMs,
  produce(context): HeapCensusPart | undefined {
    const { taken, reason } = decideHeapTier(context.config, context.trigger);
    if (taken === 'sample') return takeSample(context, isNotMissed(reason) ? leftMs(context) : longestWalkMs);
    if (taken !== 'census') return undefined;
    const census = takeHeapCensus();
    if (census) return census;
    throw new Error('this Node does not list its objects');
  },
};

function leftMs({ time }: CaptureContext): number {
  return Math.min(longestWalkMs, Math.max(shortestWalkMs, ofDeathMs - time.usedMs()));
}

function takeSample({ thrown, ownFile }: CaptureContext, longestMs: number): HeapCensusPart {
  const from = performance.now();
  const time = ownTime();
  const scopes = openScopes();
  const walk = (v8?: Parameters<Parameters<typeof askV8>[0]>[0]) =>
    walkHeap(heapRoots(thrown?.value, ownFile), {
      scopes,
      v8,
      largeBytes: largeBytes(),
      hasTime: () => time.usedMs() < longestMs,
    });
  try {
    const counted = askV8(walk) ?? walk();
    return { ms: Math.round(performance.now() - from), ...counted };
  } finally {
    scopes?.close();
  }
}

/** Without an inspector, Node does not provide the variables that a function captures. */
function openScopes(): ClosureScopes | undefined {
  try {
    return new ClosureScopes();
  } catch {
    return undefined;
  }
}
