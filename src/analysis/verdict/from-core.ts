/**
 * A core of the death is in the bundle, and says more than the exit status: the faulting address, the function, the
 * message of an abort. Then its verdict is taken, with what the parent saw beside it.
 */
import type { Verdict } from '../../model/verdict.ts';
import type { VerdictFacts } from './facts.ts';
import { endEvidence, kernelEvidence } from './seen-from-outside.ts';
import { titled } from './wording.ts';

/** What is said of a death by signal alone. */
const bySignal = new Set<Verdict['kind']>(['native-crash', 'abort']);

export function refineByCore(verdict: Verdict, facts: VerdictFacts): Verdict {
  const { core } = facts;
  // Of a process that lived when it was taken it shows a moment; why it was taken is told by others.
  if (!core || core.kind === 'snapshot' || !bySignal.has(verdict.kind)) return verdict;
  return {
    ...core,
    title: titled(core.title),
    evidence: [...core.evidence, ...endEvidence(facts), ...kernelEvidence(facts)],
    ...(verdict.alternatives && { alternatives: verdict.alternatives }),
  };
}
