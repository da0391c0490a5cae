/** Exit code 13: the event loop ran empty while a top-level await had not settled. Node prints no error for it. */

import { partNames } from '../../../bundle/layout/bundle.ts';
import { culpritFrame, frameText, placeOf } from '../../../model/frame-text.ts';
import { formatCount } from '../../../model/quantities.ts';
import type { Frame } from '../../../model/thread.ts';
import type { Evidence } from '../../../model/verdict.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { duringText, firstCycle, inFlightEvidence } from '../in-flight.ts';
import { pendingTest } from '../pending-test.ts';
import { cwdOf, deathFrames, titled } from '../wording.ts';

export const pendingExit: Cause = {
  kind: 'pending-exit',
  layer: 'mechanism',
  consider(facts) {
    const { account, trigger } = facts;
    if (trigger?.kind !== 'pending-exit') return undefined;
    if (trigger.duringTest) return pendingTest(facts, registeredEvidence(trigger.pending));
    const isSure = trigger.setByNode === true || facts.topLevelAwaits?.isSeen === true;
    const during = duringText(facts);
    const frame = facts.topLevelAwaits?.frames.length === 1 ? facts.topLevelAwaits.frames[0] : undefined;
    const where = frame && frameText(frame, cwdOf(account));
    const inner = culpritFrame(deathFrames(account));
    const waitsIn =
      where && inner && !isSame(inner, frame) ? `, waiting in ${frameText(inner, cwdOf(account))}` : '';
    const cycle = firstCycle(facts);
    return {
      kind: 'pending-exit',
      title: titled(
        cycle
          ? `Deadlock: ${cycle.title} (exit code 13)`
          : `Top-level await never settled${where ? ` at ${where}` : ''}${waitsIn}${during ?? ''} (exit code 13)`,
      ),
      summary: isSure
        ? 'The event loop ran empty while a top-level await had not settled, so Node ended the process with exit code 13. No error was thrown.'
        : 'The event loop ran empty and the exit code was 13, which is what Node sets when a top-level await has not settled. No error was thrown.',
      confidence: isSure ? 'certain' : 'likely',
      evidence: [
        {
          fact: trigger.setByNode
            ? 'No exit code was set as the event loop ran empty, and Node itself set 13.'
            : 'The exit code after the event loop ran empty was 13.',
          part: 'trigger.json',
        },
        ...awaitEvidence(facts),
        ...inFlightEvidence(facts),
        ...registeredEvidence(trigger.pending),
      ],
      refutedBy: 'An exit code of 13 that the program set itself.',
      nextSteps: [
        ...(isOneOfMany(facts)
          ? [
              'Find out which await it is: Node 22 and later print its file and line on stderr before they end.',
            ]
          : []),
        'Look for a promise that is never resolved: an event that does not fire, a stream that closed early, a lock that is not released.',
        'Put a time limit on the await: it keeps the event loop alive and turns the silent exit into an error.',
      ],
    };
  },
};

const isSame = (one: Frame, other: Frame): boolean => one.file === other.file && one.line === other.line;

const mostNamed = 6;
const mostResources = 8;

/** The program's own standard streams are among them, and keep nothing alive. */
const ofStreams = new Set(['PipeWrap', 'TTYWrap']);

function registeredEvidence(pending: readonly string[] | undefined): Evidence[] {
  if (!pending) return [];
  const others = pending.filter((kind) => !ofStreams.has(kind));
  const fact = others.length
    ? `Still registered: ${others.slice(0, mostResources).join(', ')}.`
    : 'No timer, socket, request or child kept the event loop alive.';
  return [{ fact, part: 'trigger.json' }];
}

const isOneOfMany = ({ topLevelAwaits: all }: VerdictFacts): boolean =>
  all !== undefined && !all.isSeen && all.frames.length > 1;

/**
 * Node reports nothing about the await to the program. V8 shows the suspended functions if they are still reachable;
 * otherwise the modules are searched for top-level awaits.
 */
function awaitEvidence(facts: VerdictFacts): Evidence[] {
  const { topLevelAwaits: all, account } = facts;
  const places = (all?.frames ?? []).map((frame) => placeOf(frame, cwdOf(account))).filter(Boolean);
  if (!all || places.length === 0) return [];
  const more = places.length > mostNamed ? ` and ${formatCount(places.length - mostNamed, 'other')}` : '';
  const named = `${places.slice(0, mostNamed).join(', ')}${more}`;
  if (all.isSeen)
    return [
      { fact: `Suspended in a top-level await at the end: ${named}.`, part: partNames.suspended },
      ...importedEvidence(facts),
    ];
  const fact = isOneOfMany(facts)
    ? `One of these had not settled: ${named}. They are the top-level awaits that were found in its modules.`
    : `${named} is the only top-level await that was found in its modules.`;
  return [{ fact, part: partNames.scripts }];
}

/** V8 shows the wait for the module, but not which of its awaits has not settled. */
function importedEvidence({ topLevelAwaits: all, account }: VerdictFacts): Evidence[] {
  const places = (all?.imported ?? []).map((frame) => placeOf(frame, cwdOf(account))).filter(Boolean);
  if (places.length === 0) return [];
  const named = places.slice(0, mostNamed).join(', ');
  const fact =
    places.length === 1
      ? `It waits for an imported module: ${named} is the only top-level await that was found in the others.`
      : `It waits for an imported module: one of these had not settled: ${named}.`;
  return [{ fact, part: partNames.scripts }];
}
