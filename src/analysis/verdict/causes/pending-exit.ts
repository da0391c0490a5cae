/** Exit code 13: the event loop ran empty while a top-level await had not settled. Node prints no error for it. */

import { partNames } from '../../../bundle/layout/bundle.ts';
import { culpritFrame, frameText, placeOf } from '../../../model/frame-text.ts';
import { formatCount } from '../../../model/quantities.ts';
import type { Evidence } from '../../../model/verdict.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { firstCycle, inFlightEvidence, pendingOf } from '../in-flight.ts';
import { cwdOf, deathFrames, titled } from '../wording.ts';

export const pendingExit: Cause = {
  kind: 'pending-exit',
  layer: 'mechanism',
  consider(facts) {
    const { account, trigger } = facts;
    const code = trigger?.exitCode ?? account.process?.exit?.code;
    if (trigger?.kind !== 'pending-exit' && !(trigger?.kind === 'exit' && code === 13 && !trigger.exitStack))
      return undefined;
    const agentPending = pendingOf(facts);
    const resources = trigger.pending ?? [];
    const frame = facts.topLevelAwaits?.frames.length === 1 ? facts.topLevelAwaits.frames[0] : undefined;
    const where = frame && frameText(frame, cwdOf(account));
    const inner = culpritFrame(deathFrames(account));
    const waitsIn =
      where && inner && inner.line !== frame.line ? `, waiting in ${frameText(inner, cwdOf(account))}` : '';
    const cycle = firstCycle(facts);
    const waited = agentPending[0];
    return {
      kind: 'pending-exit',
      title: titled(
        cycle
          ? `Deadlock: ${cycle.title} (exit code 13)`
          : waited
            ? `Ended while still waiting for ${waited} (exit code 13)`
            : `Top-level await never settled${where ? ` at ${where}` : ''}${waitsIn} (exit code 13)`,
      ),
      summary:
        'A top-level await never settled and nothing was left that could settle it, so Node ended the process with exit code 13. No error was thrown.',
      confidence: trigger.kind === 'pending-exit' ? 'certain' : 'likely',
      evidence: [
        { fact: 'The event loop was empty before the main module had finished.', part: 'trigger.json' },
        ...awaitEvidence(facts),
        ...inFlightEvidence(facts),
        resources.length
          ? { fact: `Still registered: ${resources.slice(0, 8).join(', ')}.`, part: 'trigger.json' }
          : { fact: 'No timer, socket, request or child was left to wait for.', part: 'trigger.json' },
      ],
      refutedBy: 'A call of process.exit(13) by the program itself.',
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

const mostNamed = 6;

const isOneOfMany = ({ topLevelAwaits: all }: VerdictFacts): boolean =>
  all !== undefined && !all.isSeen && all.frames.length > 1;

/** Node tells the program nothing of it: V8 says who waits for what can still be reached, else it is sought in the modules. */
function awaitEvidence(facts: VerdictFacts): Evidence[] {
  const { topLevelAwaits: all, account } = facts;
  const places = (all?.frames ?? []).map((frame) => placeOf(frame, cwdOf(account))).filter(Boolean);
  if (!all || places.length === 0) return [];
  const more = places.length > mostNamed ? ` and ${formatCount(places.length - mostNamed, 'other')}` : '';
  const named = `${places.slice(0, mostNamed).join(', ')}${more}`;
  if (all.isSeen)
    return [{ fact: `Suspended in a top-level await at the end: ${named}.`, part: partNames.suspended }];
  const fact = isOneOfMany(facts)
    ? `One of these had not settled: ${named}. They are the top-level awaits that were found in its modules.`
    : `${named} is the only top-level await that was found in its modules.`;
  return [{ fact, part: partNames.scripts }];
}
