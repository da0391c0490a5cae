/**
 * A worker thread ended badly: it threw, exceeded its memory limit, or was terminated. Reported by the worker itself or by
 * the thread that started it.
 */
import { partNames } from '../../../bundle/layout/bundle.ts';
import { workerMemoryCode } from '../../../bundle/layout/verdict-codes.ts';
import { culpritFrame, isOfNode, placeOf } from '../../../model/frame-text.ts';
import { formatDuration, formatNumber } from '../../../model/quantities.ts';
import type { Evidence } from '../../../model/verdict.ts';
import { thrownEvidence, thrownNextSteps } from '../errors/thrown.ts';
import { workerText } from '../errors/worker.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import {
  cwdOf,
  deathFrames,
  everyError,
  headlineOf,
  raisedText,
  titled,
  titleWithPlace,
} from '../wording.ts';

export const workerDeath: Cause = {
  kind: 'worker-death',
  layer: 'mechanism',
  consider(facts) {
    const outOfMemory = everyError(facts.account.error).some((e) => e.code === workerMemoryCode);
    if (!isWorkersDeath(facts, outOfMemory)) return undefined;
    const who = workerName(facts);
    const handled = facts.trigger?.handledByHost === true;
    return {
      kind: 'worker-death',
      title: titleOf(facts, who, outOfMemory),
      summary: `${howItEnded(facts, who, outOfMemory)} ${
        hasExited(facts)
          ? 'In a worker, process.exit ends only the thread: the thread that started it gets an exit event, and no error.'
          : handled
            ? 'The program has a handler for that, so the process may have gone on.'
            : 'Unless something listens for the error of this worker, the process ends with it.'
      }`,
      confidence: 'certain',
      evidence: [
        ...endEvidence(facts, who),
        ...thrownEvidence(facts),
        ...startEvidence(facts),
        ...limitEvidence(facts),
      ],
      refutedBy: hasExited(facts)
        ? 'A different exit code in the exit event of the worker.'
        : facts.account.error
          ? 'Nothing about the error; the exit code of the process says whether it went on.'
          : 'A call of worker.terminate() by the program, which also ends a worker with exit code 1.',
      nextSteps: nextSteps(facts, outOfMemory, handled),
    };
  },
};

/** It called process.exit itself. */
const hasExited = ({ account, trigger }: VerdictFacts): boolean =>
  trigger?.exitStack !== undefined && account.error === undefined;

function isWorkersDeath({ trigger }: VerdictFacts, outOfMemory: boolean): boolean {
  if (trigger?.kind === 'worker-death') return true;
  const thrown = trigger?.kind === 'uncaught-exception' || trigger?.kind === 'unhandled-rejection';
  const isEnded = trigger?.isMainThread === false && trigger.handledByHost !== true;
  return thrown && (outOfMemory || isEnded);
}

function workerName(facts: VerdictFacts): string {
  const text = workerText(facts) ?? 'a worker thread';
  return `${text[0]?.toUpperCase()}${text.slice(1)}`;
}

function titleOf(facts: VerdictFacts, who: string, outOfMemory: boolean): string {
  const { account, trigger } = facts;
  if (outOfMemory) {
    const what = `${who} ran out of memory (its own heap limit)`;
    const [only, other] = startPlaces(facts);
    return only !== undefined && other === undefined
      ? titleWithPlace(`${what}, likely started`, 'at', only)
      : titled(what);
  }
  if (account.error) {
    return titleWithPlace(`${who} died: ${headlineOf(account.error, facts)}`, 'at', placeOfDeath(facts));
  }
  if (hasExited(facts))
    return titleWithPlace(
      `${who} ended itself by process.exit(${trigger?.worker?.exitCode ?? trigger?.exitCode ?? '?'})`,
      'at',
      placeOfDeath(facts),
    );
  return titled(`${who} ended with exit code ${trigger?.worker?.exitCode ?? trigger?.exitCode ?? '?'}`);
}

function placeOfDeath({ account }: VerdictFacts): string | undefined {
  const culprit = culpritFrame(deathFrames(account));
  return culprit && !isOfNode(culprit) ? placeOf(culprit, cwdOf(account)) : undefined;
}

const startPlaces = ({ workerStarts = [], account }: VerdictFacts): string[] =>
  workerStarts.map((frame) => placeOf(frame, cwdOf(account))).filter((place) => place !== undefined);

/** Node does not say which call started it. */
function startEvidence(facts: VerdictFacts): Evidence[] {
  const places = startPlaces(facts);
  if (places.length === 0) return [];
  const fact =
    places.length === 1
      ? `new Worker is called at ${places[0]}; no other call of it was found in the program's files.`
      : `new Worker is called at ${places.slice(0, mostStarts).join(', ')}${places.length > mostStarts ? ' and elsewhere' : ''}: which of them started this one is not recorded.`;
  return [{ fact, part: partNames.scripts }];
}

const mostStarts = 3;

function howItEnded({ account, trigger }: VerdictFacts, who: string, outOfMemory: boolean): string {
  const uptime = account.process?.uptimeMs;
  const when = uptime === undefined ? '' : ` ${formatDuration(uptime)} after the start of the process`;
  if (outOfMemory) return `${who} reached the limit of its heap${when}, and V8 ended it.`;
  if (trigger?.kind === 'unhandled-rejection')
    return `Unhandled rejection in ${lowerFirst(who)}${when}: no handler was attached to the promise.`;
  return account.error ? `Uncaught exception in ${lowerFirst(who)}${when}.` : `${who} ended${when}.`;
}

function endEvidence(facts: VerdictFacts, who: string): Evidence[] {
  const { trigger } = facts;
  const code = trigger?.worker?.exitCode ?? trigger?.exitCode;
  const fact =
    trigger?.kind === 'worker-death'
      ? `${who} ended${code === undefined ? '' : ` with exit code ${code}`}.`
      : raisedText(
          facts,
          trigger?.isMainThread === false ? ` in ${lowerFirst(who)}` : ' in the thread that started it',
        );
  return [{ fact, part: 'trigger.json' }];
}

function limitEvidence({ trigger }: VerdictFacts): Evidence[] {
  const limits = Object.entries(trigger?.worker?.resourceLimits ?? {});
  if (!limits.length) return [];
  const text = limits.map(([name, value]) => `${name} ${formatNumber(value)}`).join(', ');
  return [{ fact: `The limits of the worker: ${text}.`, part: 'trigger.json' }];
}

const lowerFirst = (text: string): string => `${text[0]?.toLowerCase() ?? ''}${text.slice(1)}`;

function nextSteps(facts: VerdictFacts, outOfMemory: boolean, handled: boolean): string[] {
  const listen = 'Listen for the error and exit events of the worker, and restart it or fail on purpose.';
  if (!outOfMemory) return [...thrownNextSteps(facts), ...(handled ? [] : [listen])];
  return [
    'If the work of the worker needs it, raise resourceLimits.maxOldGenerationSizeMb; if not, find what it keeps.',
    ...(handled ? [] : [listen]),
  ];
}
