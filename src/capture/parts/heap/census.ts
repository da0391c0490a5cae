/** `heap-census.json`: how many objects of each class there are, counted or from a sample, where no snapshot is taken. */
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

/** V8 can't be stopped while it lists: the tier has held the objects against less. */
const censusLimitMs = 10_000;
/** Where memory is in question. */
const longestWalkMs = 100;
/** Where it is not, a death has 250 ms in all: the walk has what is left of these, and sees something in any case. */
const ofDeathMs = 190;
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

/** A Node without an inspector does not tell what a function keeps. */
function openScopes(): ClosureScopes | undefined {
  try {
    return new ClosureScopes();
  } catch {
    return undefined;
  }
}
