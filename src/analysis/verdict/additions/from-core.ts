/**
 * Replaces the verdict by that of a core in the bundle, which shows more than the exit status: the faulting address, the
 * function, the message of an abort. Adds what the parent observed to its evidence.
 */
import type { Verdict } from '../../../model/verdict.ts';
import type { VerdictFacts } from '../facts.ts';
import { endEvidence, kernelEvidence } from '../seen-from-outside.ts';
import { titled } from '../wording.ts';

/** Verdicts that may rest on the signal alone. */
const bySignal = new Set<Verdict['kind']>(['native-crash', 'abort']);

export function refineByCore(verdict: Verdict, facts: VerdictFacts): Verdict {
  const { core } = facts;
  // A core of a live process shows only one moment; other parts record why it was taken.
  if (!core || core.kind === 'snapshot' || !bySignal.has(verdict.kind)) return verdict;
  return {
    ...core,
    title: titled(core.title),
    evidence: [...core.evidence, ...endEvidence(facts), ...kernelEvidence(facts)],
    ...(verdict.alternatives && { alternatives: verdict.alternatives }),
  };
}
