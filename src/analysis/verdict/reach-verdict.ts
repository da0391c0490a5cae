/**
 * Ranks the causes; the only module that imports all of them. Roughly from the most specific to the most general, with
 * `unknown` last.
 */

import { partNames } from '../../bundle/layout/bundle.ts';
import { culpritFrame } from '../../model/frame-text.ts';
import type { Evidence, Verdict } from '../../model/verdict.ts';
import { refineByCore } from './additions/from-core.ts';
import { abort } from './causes/abort.ts';
import { dependencyDrift } from './causes/dependency-drift.ts';
import { eventLoopHang } from './causes/event-loop-hang.ts';
import { exit } from './causes/exit.ts';
import { heapOutOfMemory } from './causes/heap-out-of-memory.ts';
import { killed } from './causes/killed.ts';
import { nativeCrash } from './causes/native-crash.ts';
import { noProgress } from './causes/no-progress.ts';
import { pendingExit } from './causes/pending-exit.ts';
import { resourceExhaustion } from './causes/resource-exhaustion.ts';
import { snapshot } from './causes/snapshot.ts';
import { startupFailure } from './causes/startup-failure.ts';
import { systemOutOfMemory } from './causes/system-out-of-memory.ts';
import { terminated } from './causes/terminated.ts';
import { testStopped } from './causes/test-stopped.ts';
import { uncaughtException } from './causes/uncaught-exception.ts';
import { unhandledRejection } from './causes/unhandled-rejection.ts';
import { unknown } from './causes/unknown.ts';
import { workerDeath } from './causes/worker-death.ts';
import { abortFrame } from './errors/aborted.ts';
import { beganPlaceFrame, likelyCall } from './errors/begun.ts';
import { passedFrame } from './errors/thrown-at.ts';
import type { Cause, VerdictFacts } from './facts.ts';
import { inFlightEvidence } from './in-flight.ts';
import { deathFrames, placedAt } from './wording.ts';

export const causes: readonly Cause[] = [
  heapOutOfMemory,
  systemOutOfMemory,
  resourceExhaustion,
  dependencyDrift,
  startupFailure,
  testStopped,
  eventLoopHang,
  snapshot,
  noProgress,
  workerDeath,
  pendingExit,
  exit,
  terminated,
  nativeCrash,
  abort,
  killed,
  unhandledRejection,
  uncaughtException,
  unknown,
];

/** Adds the open work to the evidence, whatever ended the process. */
function withOpenWork(verdict: Verdict, facts: VerdictFacts): Verdict {
  const known = new Set(verdict.evidence.map(({ fact }) => fact));
  const open = inFlightEvidence(facts).filter(({ fact }) => !known.has(fact));
  return open.length ? { ...verdict, evidence: [...verdict.evidence, ...open] } : verdict;
}

/**
 * Chooses the first reason that is at least likely, or the first mechanism, whichever comes first; other reasons become
 * alternatives.
 */
export function reachVerdict(facts: VerdictFacts): Verdict {
  const considered = causes.flatMap((cause) => {
    const verdict = cause.consider(facts);
    return verdict ? [{ cause, verdict }] : [];
  });
  const chosen =
    considered.find(
      ({ cause, verdict }) => cause.layer === 'mechanism' || verdict.confidence !== 'possible',
    ) ?? considered[0];
  if (!chosen) throw new TypeError('the cause "unknown" speaks for every death');
  const alternatives = considered
    .filter((other) => other !== chosen && other.cause.layer === 'reason')
    .map(({ verdict: { kind, title, confidence } }) => ({ kind, title, confidence }));
  const own = chosen.verdict;
  const verdict = own.place
    ? own
    : {
        ...own,
        ...placedAt(
          beganPlaceFrame(facts) ??
            likelyCall(facts) ??
            passedFrame(facts) ??
            abortFrame(facts) ??
            culpritFrame(deathFrames(facts.account)),
        ),
      };
  const told = withOpenWork(
    refineByCore(alternatives.length ? { ...verdict, alternatives } : verdict, facts),
    facts,
  );
  return { ...told, evidence: withPresentParts(told.evidence, facts) };
}

/** Which part to cite if the usual one was never written because the program died first. */
const substitutes: ReadonlyMap<string, string> = new Map([
  [partNames.memory, partNames.report],
  [partNames.heapProfile, partNames.journal],
]);

function withPresentParts(evidence: Evidence[], { account }: VerdictFacts): Evidence[] {
  const names = new Set(account.bundle?.parts.map(({ name }) => name));
  return evidence.map((fact) => {
    const other = names.has(fact.part) ? undefined : substitutes.get(fact.part);
    return other !== undefined && names.has(other) ? { ...fact, part: other } : fact;
  });
}
