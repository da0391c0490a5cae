/**
 * For an error or a signal that a handler received: whether it ended the process, as far as the process recorded that at
 * its end.
 */
import { clip, formatDuration } from '../../../model/quantities.ts';
import type { Evidence } from '../../../model/verdict.ts';
import type { VerdictFacts } from '../facts.ts';
import { handlerFacts } from './handler-owner.ts';

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

/** `, and …`, if the process was seen to end after its handler for a signal had been called. */
export function endAfterSignal(facts: VerdictFacts): string | undefined {
  const end = endOf(facts);
  if (!end || !(end.ms >= 0)) return undefined;
  return `, and the process ended ${formatDuration(end.ms)} later with exit code ${end.exitCode}.`;
}

/** Node's exit code if a listener for uncaught exceptions throws. */
const handlerThrew = 7;

/** What is known if the handler was called and was not seen to return, to follow its name. */
export function endInHandler({ account }: VerdictFacts): string | undefined {
  const { event, exitCode, rethrown, next } = account.bundle?.sequel ?? {};
  if (event !== 'handling' && event !== 'died') return undefined;
  const end = 'so Node ended the process with exit code 7';
  if (rethrown) return `threw it again, ${end}.`;
  if (next !== undefined) return `threw another error, ${end}; the bundle ${clip(next, 200)} is about that.`;
  if (exitCode === undefined)
    return 'was not seen to return: it threw as well (exit code 7), ended the process itself, or was still running. If it threw, what it threw is the last error in the log.';
  return exitCode === handlerThrew
    ? `threw as well, ${end}. What it threw is the last error in the log.`
    : `did not return: the process ended in it with exit code ${exitCode}.`;
}

/** The end of a sentence: `, and …`. */
export function afterHandler(what: 'error' | 'rejection', facts: VerdictFacts): string {
  const inHandler = endInHandler(facts);
  if (inHandler !== undefined) return `. The handler ${inHandler}`;
  const end = endOf(facts);
  if (!end || !(end.ms >= 0))
    return `, so the process may have continued: this bundle records the ${what}, which may not have ended the process.`;
  const after = `${formatDuration(end.ms)} later with exit code ${end.exitCode}`;
  return end.ms <= soonMs
    ? `, and the process ended ${after}.`
    : `. The process continued, and ended ${after}.`;
}

/** With what it is handled. Older bundles only say that it is. */
export function handlerEvidence(facts: VerdictFacts): Evidence[] {
  const { trigger, handlerFrames = [] } = facts;
  if (trigger?.handledByHost !== true) return [];
  if (trigger.handledBy === 'captureCallback')
    return [
      {
        fact: 'A callback for uncaught exceptions is set (process.setUncaughtExceptionCaptureCallback, or a domain).',
        part: 'trigger.json',
      },
    ];
  const part = handlerFrames.length > 0 ? 'scripts.json' : 'trigger.json';
  return handlerFacts(trigger.handledBy ?? 'it', facts).map((fact) => ({ fact, part }));
}

const throwers = {
  uncaughtException: 'an uncaughtException handler',
  captureCallback: 'a callback for uncaught exceptions',
  uncaughtExceptionMonitor: 'a listener of uncaughtExceptionMonitor',
};

/** `, thrown by …`: a handler that threw while it was given another error, or a listener of `exit`. */
export function throwerText({ trigger }: VerdictFacts): string {
  if (trigger?.thrownBy)
    return `, thrown by ${throwers[trigger.thrownBy.handler]}, which had been given another error`;
  if (!trigger?.atExit) return '';
  const { exitCode } = trigger;
  return `, while the process was already ending${exitCode === undefined ? '' : ` with exit code ${exitCode}`}`;
}

export function handledEndEvidence(facts: VerdictFacts): Evidence[] {
  const { event, at } = facts.account.bundle?.sequel ?? {};
  const end = endOf(facts);
  const fact = end
    ? `The process ended at ${end.at} with exit code ${end.exitCode}.`
    : event === 'handling' && `A handler was called at ${at}; that it returned was not seen.`;
  return fact ? [{ fact, part: 'the file .sequel beside the bundle' }] : [];
}

export function refutedOfHandled(what: 'exception' | 'rejection', facts: VerdictFacts): string {
  if (facts.account.bundle?.sequel?.event === 'handling')
    return `The ${what} itself is certain. An exit code other than 7, or a signal, in the log of the service manager or shell that started the process: then the handler did not throw.`;
  if (facts.account.bundle?.sequel?.rethrown)
    return 'An exit code other than 7, in the log of the service manager or shell that started the process.';
  if (endOf(facts))
    return `The ${what} and the end of the process are certain; that the one led to the other is not.`;
  const threw = what === 'exception' ? ' exit code 7 means that the handler threw as well;' : '';
  return `The ${what} itself is certain. Whether the process ended is not recorded:${threw} a later bundle of the same pid means that the process continued.`;
}
