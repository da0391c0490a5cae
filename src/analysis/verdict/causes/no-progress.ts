/**
 * The process is alive but the agent makes no progress: no sign of progress within the deadline, or the same calls again and
 * again. Reports a cycle of waits first, then a loop of calls, then the longest open work.
 */
import { placeOf } from '../../../model/frame-text.ts';
import { formatCount, formatDuration } from '../../../model/quantities.ts';
import type { Evidence, Verdict } from '../../../model/verdict.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import {
  firstCycle,
  inFlightEvidence,
  ongoingLoop,
  openWorkOf,
  pendingOf,
  placesOfWaits,
} from '../in-flight.ts';
import { cwdOf, isWithoutProgress, placedAt, titled } from '../wording.ts';

export const noProgress: Cause = {
  kind: 'no-progress',
  layer: 'mechanism',
  consider(facts) {
    if (!isWithoutProgress(facts)) return undefined;
    const { why, confidence, nextSteps } = explain(facts);
    const waits = placesOfWaits(facts);
    return {
      kind: 'no-progress',
      title: titled(`${silence(facts)}: ${why}`),
      ...(waits.size === 1 && placedAt([...waits.values()][0])),
      summary: summaryOf(facts, why),
      confidence,
      evidence: [deadlineFact(facts), ...inFlightEvidence(facts), ...openEvidence(facts)],
      refutedBy: 'A later record of the same process that shows the run going on by itself.',
      nextSteps,
    };
  },
};

function silence({ trigger }: VerdictFacts): string {
  const { silentMs, repeated } = trigger?.silence ?? {};
  if (trigger?.kind === 'capture') return 'Unhealthy';
  if (repeated || silentMs === undefined) return 'No progress';
  return `No progress for ${formatDuration(silentMs)}`;
}

/** That something waits is known only for work that the program itself named as a wait. */
const isWait = (facts: VerdictFacts): boolean => {
  const [first] = openWorkOf(facts);
  return first?.kind === 'wait' && !first.leftBehind;
};

type Explanation = Pick<Verdict, 'confidence' | 'nextSteps'> & { why: string };

function explain(facts: VerdictFacts): Explanation {
  const cycle = firstCycle(facts);
  if (cycle)
    return {
      why: cycle.title,
      confidence: 'likely',
      nextSteps: [
        cycle.nodes.some((id) => id.startsWith('lock '))
          ? 'Break the circle: take the locks in one order everywhere, or let one of them go before waiting for the other.'
          : 'Break the circle: let one of them go on without the outcome of the other.',
        'Give each wait a time limit, so that a circle becomes an error that names its place.',
      ],
    };
  const loop = ongoingLoop(facts);
  if (loop)
    return {
      why: `in a loop, ${loop.sentence}`,
      confidence: 'likely',
      nextSteps: [
        'Tell the model that this call was made before and what came of it, or refuse it after a few times.',
        'Limit the steps of a run, so that a loop ends with an error instead of running on.',
      ],
    };
  const [longest] = pendingOf(facts);
  if (longest !== undefined)
    return {
      why: isWait(facts) ? `waiting for ${longest}` : longest,
      confidence: 'likely',
      nextSteps: [
        'Check whether that work can still finish: the connection below, the child process, the holder of the lock.',
        'Give the call a time limit (AbortSignal.timeout) and a retry where it may be repeated.',
      ],
    };
  const waits = placesOfWaits(facts);
  const [first] = waits;
  if (first)
    return {
      why:
        waits.size === 1
          ? `suspended in ${first[0]}`
          : `suspended in ${first[0]} and ${formatCount(waits.size - 1, 'other place')}`,
      confidence: waits.size === 1 ? 'likely' : 'possible',
      nextSteps: [
        `Open ${placeOf(first[1], cwdOf(facts.account))} and check who settles the promise that is awaited there.`,
        'Give the call a time limit (AbortSignal.timeout) and a retry where it may be repeated.',
      ],
    };
  if (facts.trigger?.kind === 'capture')
    return {
      why: facts.trigger.reason ?? 'a check failed',
      confidence: 'likely',
      nextSteps: [
        'See what the failed check waits for: its event loop was running, so the answer is held up elsewhere.',
        'Look below at sockets, requests and children, and at the last lines of its log.',
      ],
    };
  return {
    why: 'nothing of the agent was open',
    confidence: 'possible',
    nextSteps: [
      'Name the agent’s work with agent.run, agent.step and agent.waitFor: then the next bundle says what it waits for.',
      'Look at the timers, sockets and children below: the program waits for one of them, or for something that can no longer happen.',
    ],
  };
}

function summaryOf({ trigger }: VerdictFacts, why: string): string {
  if (trigger?.kind === 'capture')
    return `A check of its supervisor failed while its event loop was running. What was seen: ${why}. The process was alive when this bundle was taken.`;
  const { deadlineMs, repeated } = trigger?.silence ?? {};
  const allowed =
    deadlineMs === undefined ? '' : ` within the ${formatDuration(deadlineMs)} that it was given`;
  const noticed = repeated
    ? 'The agent made the same calls with the same results again and again.'
    : `The agent gave no sign of progress${allowed}.`;
  return `${noticed} What was seen: ${why}. The process was alive and continued after this bundle.`;
}

function deadlineFact({ trigger }: VerdictFacts): Evidence {
  if (trigger?.kind === 'capture')
    return { fact: `The supervisor: ${trigger.reason ?? 'a check failed'}.`, part: 'trigger.json' };
  const { silentMs, deadlineMs, lastSign, repeated, signs } = trigger?.silence ?? {};
  const last = lastSign === undefined ? 'No sign since the watch began' : `The last sign was ${lastSign}`;
  const counted = signs === undefined || signs === 'any' ? '' : ` (only ${signs} counted)`;
  const fact = repeated
    ? `${formatCount(repeated.length, 'call or result', 'calls and results')} repeated ${repeated.times} times in a row.`
    : `${last}${counted}, ${formatDuration(silentMs ?? 0)} before; ${formatDuration(deadlineMs ?? 0)} were allowed.`;
  return { fact, part: 'trigger.json' };
}

/** Open requests and handles, which could still wake the program. */
function openEvidence({ handles, account }: VerdictFacts): Evidence[] {
  const requests = (account.agent?.openRequests ?? []).slice(0, 3).map(({ method, host, ageMs }) => ({
    fact: `Request in flight: ${method} ${host}, sent ${formatDuration(ageMs)} before.`,
    part: 'agent-events.json',
  }));
  const kinds = Object.entries(handles?.resources ?? {});
  if (!handles) return requests;
  const open = kinds.slice(0, 5).map(([kind, count]) => `${count} × ${kind}`);
  return [
    ...requests,
    {
      fact: open.length
        ? `Open then: ${open.join(', ')}.`
        : 'No timer, socket, request or child kept it alive.',
      part: 'handles.json',
    },
  ];
}
