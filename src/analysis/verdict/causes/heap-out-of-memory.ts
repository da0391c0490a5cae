/** The process kept more than V8's heap may hold. A worker that ran into its own limit is a worker's death. */
import { formatBytes, formatShare } from '../../../model/quantities.ts';
import type { Evidence } from '../../../model/verdict.ts';
import { findAllocators } from '../../allocations.ts';
import { heapHeadroom } from '../../headroom.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { memoryEvidence } from '../seen-from-outside.ts';
import { cwdOf, surroundingsOf, titled } from '../wording.ts';

export const heapOutOfMemory: Cause = {
  kind: 'heap-out-of-memory',
  layer: 'reason',
  consider(facts) {
    const event = facts.reportEvent ?? facts.evidence?.fatal?.event;
    const reported = event !== undefined && /heap out of memory|OOMError/i.test(event);
    if (facts.trigger?.verdictKind !== 'heap-out-of-memory' && !reported) return undefined;
    const use = heapHeadroom(surroundingsOf(facts));
    const [allocator] = findAllocators(facts.heapProfile, cwdOf(facts.account));
    const figures = use ? ` at ${formatBytes(use.used)} of ${formatBytes(use.limit)}` : '';
    return {
      kind: 'heap-out-of-memory',
      title: titled(
        `The JavaScript heap ran out of memory${allocator ? `, filled in ${allocator.place}` : figures}`,
      ),
      summary:
        'The program kept more objects alive than the heap may hold, and V8 gave up when collecting garbage did not help.',
      confidence: 'certain',
      evidence: evidenceOf(facts, reported ? event : undefined),
      refutedBy:
        'A limit that is too small for honest work: the same load then succeeds with a larger limit and stays flat.',
      nextSteps: [
        'Look at what grows: `agentdump heap` on a snapshot taken before the limit.',
        'If the objects are not needed any more, find who still holds them: caches without a bound, arrays that only grow, listeners.',
        'If they are needed, raise the limit: `--max-old-space-size`, below what the container allows.',
      ],
    };
  },
};

function evidenceOf(facts: VerdictFacts, event: string | undefined): Evidence[] {
  const evidence: Evidence[] = [];
  if (event) evidence.push({ fact: `Node reported: ${event}.`, part: 'report.json' });
  else evidence.push({ fact: 'The writer of the bundle saw the heap run out.', part: 'trigger.json' });
  const use = heapHeadroom(surroundingsOf(facts));
  if (use)
    evidence.push({
      fact: `${formatBytes(use.used)} of ${formatBytes(use.limit)} were in use (${formatShare(use.share)}).`,
      part: use.part,
    });
  for (const { place, bytes, share } of findAllocators(facts.heapProfile, cwdOf(facts.account)).slice(0, 3))
    evidence.push({
      fact: `${formatBytes(bytes)} of what was alive when memory was last looked at (${formatShare(share)} of the samples) had been allocated in ${place}.`,
      part: 'heap-profile.json',
    });
  evidence.push(...memoryEvidence(facts));
  return evidence;
}
