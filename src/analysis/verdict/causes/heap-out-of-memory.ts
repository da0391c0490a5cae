/** The heap exceeded V8's limit. A worker that reached its own limit is a worker-death. */
import { type FullHeap, findFullHeap } from '../../../bundle/layout/full-heap.ts';
import { culpritFrame, frameText, placeOf } from '../../../model/frame-text.ts';
import { clip, formatBytes, formatShare } from '../../../model/quantities.ts';
import type { Frame } from '../../../model/thread.ts';
import type { Evidence } from '../../../model/verdict.ts';
import { type Allocator, findAllocators } from '../../allocations.ts';
import { heapHeadroom } from '../../headroom.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { lookStep, suspectEvidence } from '../memory-steps.ts';
import { countedKills, endEvidence, kernelEvidence, memoryEvidence } from '../seen-from-outside.ts';
import { cwdOf, deathFrames, placedAt, surroundingsOf, titled, titleWithPlace } from '../wording.ts';

/**
 * The limit that V8 reports includes the young generation. With a small --max-old-space-size the old generation is full at a
 * quarter of that limit, and printing both figures would contradict the verdict.
 */
const fullShare = 0.8;

export const heapOutOfMemory: Cause = {
  kind: 'heap-out-of-memory',
  layer: 'reason',
  consider(facts) {
    const event = facts.reportEvent ?? facts.evidence?.fatal?.event;
    const reported = event !== undefined && /heap out of memory|OOMError/i.test(event);
    const full = reported ? undefined : inferFullHeap(facts);
    if (facts.trigger?.verdictKind !== 'heap-out-of-memory' && !reported && !full) return undefined;
    const use = full ?? heapHeadroom(surroundingsOf(facts));
    const isFull = use !== undefined && use.used / use.limit >= fullShare;
    const [allocator] = findAllocators(facts.heapProfile, cwdOf(facts.account));
    const running = allocator ? undefined : runningFrame(facts);
    const figures = isFull ? ` at ${formatBytes(use.used)} of ${formatBytes(use.limit)}` : '';
    return {
      kind: 'heap-out-of-memory',
      title: titleOf(allocator, figures, running && placeOf(running, cwdOf(facts.account))),
      ...placedAt(running),
      summary: full
        ? 'The end was not seen and no report was kept, but in its last sample the heap was at its limit, and V8 ends a program whose heap is full.'
        : 'The program kept more objects alive than the heap limit allows, and V8 ended the process when garbage collection could not free enough.',
      confidence: full ? 'likely' : 'certain',
      evidence: full ? inferredEvidence(facts, full) : evidenceOf(facts, reported ? event : undefined),
      refutedBy: full
        ? 'The exit status, where a service manager or a container runtime logged it: 134 is an abort, such as that of V8, 137 a kill from outside.'
        : 'A limit that is too small for the work: the same load then succeeds with a larger limit, and memory stays flat.',
      nextSteps: [
        lookStep(facts),
        'If the objects are not needed any more, find who still holds them: caches without a bound, arrays that only grow, listeners.',
        'If they are needed, raise the limit: `--max-old-space-size`, below what the container allows.',
      ],
    };
  },
};

/** Where the program was when its heap was full: it need not be what filled it. */
function runningFrame({ account }: VerdictFacts): Frame | undefined {
  const frame = culpritFrame(deathFrames(account));
  return frame?.inApp && frame.line !== undefined ? frame : undefined;
}

function runningEvidence(facts: VerdictFacts): Evidence[] {
  const frame = runningFrame(facts);
  if (!frame) return [];
  const fact = `It was full while ${frameText(frame, cwdOf(facts.account))} ran, which need not be what filled it.`;
  return [{ fact, part: facts.core ? 'core' : 'threads.json' }];
}

/** A long path loses its folders, not its file; a function without a name is named by its place. */
function titleOf(allocator: Allocator | undefined, figures: string, place: string | undefined): string {
  const full = 'The JavaScript heap ran out of memory';
  if (!allocator)
    return place === undefined
      ? titled(`${full}${figures}`)
      : titleWithPlace(`${full}${figures}`, 'at', place);
  const { name, at } = allocator;
  if (name === undefined) return titleWithPlace(`${full}, filled`, 'at', at);
  return titleWithPlace(`${full}, filled by ${name}`, 'at', at);
}

/** For a death that nobody observed: the last memory sample, if the heap was full and the kernel counted no OOM kill. */
function inferFullHeap(facts: VerdictFacts): FullHeap | undefined {
  const { evidence } = facts;
  if (!evidence || evidence.exit || evidence.fatal || evidence.fate?.rebooted) return undefined;
  if (countedKills(evidence.memory?.cgroup?.oomKills) > 0 || kernelEvidence(facts).length > 0)
    return undefined;
  return findFullHeap(evidence.memory?.history ?? []);
}

function inferredEvidence(facts: VerdictFacts, { used, limit, rate }: FullHeap): Evidence[] {
  const share = formatShare(used / limit);
  const speed = rate > 0 ? `, and grew by ${formatBytes(Math.round(rate))} a second` : '';
  const fact = `At its last sample the heap held ${formatBytes(used)} of ${formatBytes(limit)} (${share})${speed}.`;
  return [
    ...endEvidence(facts),
    { fact, part: 'evidence.json' },
    ...allocatorEvidence(facts),
    ...memoryEvidence(facts),
  ];
}

function evidenceOf(facts: VerdictFacts, event: string | undefined): Evidence[] {
  const evidence: Evidence[] = [];
  if (event) evidence.push({ fact: `Node reported: ${event}.`, part: 'report.json' });
  else if (!facts.evidence?.lastGcs)
    evidence.push({ fact: 'The writer of the bundle saw the heap run out.', part: 'trigger.json' });
  evidence.push(...lastGcsEvidence(facts));
  const use = heapHeadroom(surroundingsOf(facts));
  if (use)
    evidence.push({
      fact:
        use.share >= fullShare
          ? `${formatBytes(use.used)} of ${formatBytes(use.limit)} were in use (${formatShare(use.share)}).`
          : `${formatBytes(use.used)} were in use; V8's limit of ${formatBytes(use.limit)} counts the room for young objects too.`,
      part: use.part,
    });
  evidence.push(...runningEvidence(facts), ...suspectEvidence(facts), ...allocatorEvidence(facts));
  evidence.push(...memoryEvidence(facts));
  return evidence;
}

/**
 * V8 prints these lines only when it gives up. A parent that reads them may kill the process before Node's report is written.
 */
function lastGcsEvidence(facts: VerdictFacts): Evidence[] {
  const lines = facts.evidence?.lastGcs;
  if (!lines) return [];
  const last = lines.length ? `, the last being ${clip(lines.at(-1) ?? '', 100)}` : '';
  const fact = `V8 listed its last collections on stderr, as it does when a heap is full${last}.`;
  return [{ fact, part: 'evidence.json' }, ...endEvidence(facts)];
}

function allocatorEvidence(facts: VerdictFacts): Evidence[] {
  const allocators = findAllocators(facts.heapProfile, cwdOf(facts.account)).slice(0, 3);
  return allocators.map(({ place, bytes, share }) => ({
    fact: `${formatBytes(bytes)} of what was alive when memory was last looked at (${formatShare(share)} of the samples) had been allocated in ${place}.`,
    part: 'heap-profile.json',
  }));
}
