/**
 * For an error that the program's own handler received: whether it ended the process, as far as the process recorded that at
 * its end.
 */
import { formatDuration } from '../../model/quantities.ts';
import type { Evidence } from '../../model/verdict.ts';
import type { VerdictFacts } from './facts.ts';

/** An end within this time is attributed to the handler. */
const soonMs = 10_000;

interface End {
  at: string;
  exitCode: number;
  /** Milliseconds after the error. */
  ms: number;
}

function endOf({ account, trigger }: VerdictFacts): End | undefined {
  const { at, exitCode } = account.bundle?.sequel ?? {};
  if (at === undefined || exitCode === undefined) return undefined;
  return { at, exitCode, ms: Date.parse(at) - Date.parse(trigger?.at ?? '') };
}

/** The end of a sentence: `, and …`. */
export function afterHandler(what: 'error' | 'rejection', facts: VerdictFacts): string {
  const end = endOf(facts);
  if (!end || !(end.ms >= 0))
    return `, so the process may have continued: this bundle records the ${what}, which may not have ended the process.`;
  const after = `${formatDuration(end.ms)} later with exit code ${end.exitCode}`;
  return end.ms <= soonMs
    ? `, and the process ended ${after}.`
    : `. The process continued, and ended ${after}.`;
}

export function handledEndEvidence(facts: VerdictFacts): Evidence[] {
  const end = endOf(facts);
  if (!end) return [];
  const fact = `The process ended at ${end.at} with exit code ${end.exitCode}.`;
  return [{ fact, part: 'the file .sequel beside the bundle' }];
}

export function refutedOfHandled(what: 'exception' | 'rejection', facts: VerdictFacts): string {
  if (endOf(facts))
    return `The ${what} and the end of the process are certain; that the one led to the other is not.`;
  const threw = what === 'exception' ? ' exit code 7 means that the handler threw as well;' : '';
  return `The ${what} itself is certain. Whether the process ended is not recorded:${threw} a later bundle of the same pid means that the process continued.`;
}
