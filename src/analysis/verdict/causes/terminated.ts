/**
 * A signal stopped the process. Deploys, container runtimes, service managers and people end programs this way, so it is not
 * called a crash. The sender is named only if a record names it.
 */

import { culpritFrame, frameText, placeOf } from '../../../model/frame-text.ts';
import { formatDuration } from '../../../model/quantities.ts';
import type { Evidence } from '../../../model/verdict.ts';
import { endAfterSignal, handledEndEvidence } from '../errors/handled.ts';
import { handlerFacts, handlerSubject } from '../errors/handler-owner.ts';
import { busyWorkerEvidence, busyWorkerFrame, busyWorkerText } from '../errors/worker.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { duringText, inFlightEvidence, inFlightText } from '../in-flight.ts';
import { endEvidence, fatalSignal, memoryEvidence } from '../seen-from-outside.ts';
import { cwdOf, deathFrames, placedAt, titled } from '../wording.ts';

const senders: Record<string, string> = {
  SIGTERM: 'Deploys, container runtimes, service managers and `kill` stop a program with it',
  SIGHUP: 'A closed terminal or a lost session ends its programs with it',
  SIGQUIT: 'Ctrl-\\ and supervisors stop a program with it',
  SIGINT: 'Ctrl-C and supervisors interrupt a program with it',
};

export const terminated: Cause = {
  kind: 'terminated',
  layer: 'mechanism',
  consider(facts) {
    const signal = facts.trigger?.kind === 'signal' ? facts.trigger.signal : undefined;
    if (!signal) return seenByParent(facts);
    if (signal.fromItself && signal.heardMsBefore === undefined) return sentByItself(facts, signal.name);
    const how = senders[signal.name];
    const own = facts.evidence?.signalsSent?.some(({ name }) => name === signal.name) === true;
    return {
      kind: 'terminated',
      // A process with a handler for it may have continued.
      title: titled(
        `${facts.trigger?.handledByHost ? 'Asked to stop' : 'Stopped'} by ${signal.name}${busyWith(facts)}`,
      ),
      summary: [
        `The process received ${signal.name}${own ? ' from its supervisor' : ''}.`,
        own ? '' : `${how ? `${how}; the` : 'The'} sender is not recorded.`,
        facts.trigger?.handledByHost
          ? `${handlerSubject(facts)} received it${endAfterSignal(facts) ?? ', so the process may have shut down cleanly or continued.'}`
          : 'The program had no handler for it, so work in progress was cut off.',
      ]
        .filter(Boolean)
        .join(' '),
      confidence: 'certain',
      ...(!culpritFrame(deathFrames(facts.account)) && placedAt(busyWorkerFrame(facts))),
      evidence: [
        ...evidenceOf(facts, signal.name),
        ...(facts.trigger?.handledByHost && facts.handlerFrames?.length
          ? handlerFacts(signal.name, facts).map((fact) => ({ fact, part: 'scripts.json' }))
          : []),
        ...(facts.trigger?.handledByHost ? handledEndEvidence(facts) : []),
      ],
      refutedBy: `The signal itself is certain. Why ${signal.name} was sent stands in the log of the sender (orchestrator, service manager).`,
      nextSteps: [
        `Ask the orchestrator or the service manager why it sent ${signal.name} at that time.`,
        facts.trigger?.handledByHost
          ? 'If work was lost, check that the handler waits for it within the time the sender allows.'
          : `If work was lost, handle ${signal.name}: finish or save what is in flight, then exit.`,
      ],
    };
  },
};

/** The program called process.kill on its own pid or process group. */
function sentByItself(facts: VerdictFacts, name: string): ReturnType<Cause['consider']> {
  const { account, trigger } = facts;
  const frame = culpritFrame(deathFrames(account));
  const caller = frame?.file?.startsWith('node:') ? undefined : frame;
  const where = caller && frameText(caller, cwdOf(account));
  const place = caller && placeOf(caller, cwdOf(account));
  const uptime = account.process?.uptimeMs;
  return {
    kind: 'terminated',
    title: titled(`The program sent itself ${name}${where ? ` at ${where}` : ''}${inFlight(facts)}`),
    summary: [
      `The program called process.kill for its own process${uptime === undefined ? '' : ` after ${formatDuration(uptime)}`}.`,
      trigger?.handledByHost
        ? `${handlerSubject(facts)} received it${endAfterSignal(facts) ?? ', so the process may have shut down cleanly or continued.'}`
        : `It had no handler for ${name}, so work in progress was cut off.`,
    ].join(' '),
    confidence: 'certain',
    evidence: [
      {
        fact: `process.kill was called with ${name}${where ? ` in ${where}` : ''}.`,
        part: 'trigger.json',
      },
      ...inFlightEvidence(facts),
    ],
    refutedBy: `Another ${name} at the same moment, in the log of whoever sent it.`,
    nextSteps: [
      place
        ? `Open ${place} and check the condition that leads to process.kill.`
        : 'Look for process.kill in the program and its packages.',
    ],
  };
}

/** The process itself wrote nothing: it had no handler, or didn't get to run it. */
function seenByParent(facts: VerdictFacts): ReturnType<Cause['consider']> {
  const name = fatalSignal(facts);
  if (name === undefined || facts.trigger?.verdictKind !== 'terminated') return undefined;
  const isParent = facts.evidence?.exit?.byParent === true;
  const how = senders[name];
  return {
    kind: 'terminated',
    title: titled(`Stopped by ${name}${isParent ? ', sent by its parent process' : ''}${busyWith(facts)}`),
    summary: [
      isParent
        ? `Its parent process sent it ${name}.`
        : `The process ended by ${name}. ${how ? `${how}; the` : 'The'} sender is not recorded.`,
      'The process itself wrote nothing at its end.',
    ].join(' '),
    confidence: 'certain',
    evidence: [...endEvidence(facts), ...inFlightEvidence(facts), ...memoryEvidence(facts)],
    refutedBy: `The signal itself is certain. Why it was sent stands in the log of the sender.`,
    nextSteps: [
      isParent
        ? `Look in the parent's output for why it sent ${name}: a time limit, a cancelled run, an error that it saw in the child's output.`
        : `Ask the orchestrator or the service manager why it sent ${name} at that time.`,
    ],
  };
}

/** Open work is not called a wait here: one of these calls may itself have called process.kill. */
function inFlight(facts: VerdictFacts): string {
  const what = inFlightText(facts);
  return what === undefined ? '' : ` with ${what} in flight`;
}

function busyWith(facts: VerdictFacts): string {
  const during = duringText(facts);
  if (during !== undefined) return during;
  const uptime = facts.account.process?.uptimeMs;
  return `${uptime === undefined ? '' : ` after ${formatDuration(uptime)}`}${busyWorkerText(facts)}`;
}

function evidenceOf(facts: VerdictFacts, name: string): Evidence[] {
  const { account, trigger, handles } = facts;
  const { fromItself, heardMsBefore } = trigger?.signal ?? {};
  const evidence: Evidence[] = [
    fromItself
      ? {
          fact: `${name} arrived, and ${formatDuration(heardMsBefore ?? 0)} later the program sent itself ${name} again.`,
          part: 'trigger.json',
        }
      : { fact: `${name} arrived${trigger?.at ? ` at ${trigger.at}` : ''}.`, part: 'trigger.json' },
  ];
  evidence.push(...inFlightEvidence(facts), ...busyWorkerEvidence(facts));
  const frame = culpritFrame(deathFrames(account));
  if (frame)
    evidence.push({
      fact: `The main thread was in ${frameText(frame, cwdOf(account))}.`,
      part: 'threads.json',
    });
  const kinds = Object.entries(handles?.resources ?? {});
  if (kinds.length)
    evidence.push({
      fact: `Open then: ${kinds
        .slice(0, 5)
        .map(([kind, count]) => `${count} × ${kind}`)
        .join(', ')}.`,
      part: 'handles.json',
    });
  return evidence;
}
