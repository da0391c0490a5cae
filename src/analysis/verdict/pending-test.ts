/** The event loop of a test process ran empty before a test had ended: what the test awaited could not settle any more. */
import { partNames } from '../../bundle/layout/bundle.ts';
import { placeOf } from '../../model/frame-text.ts';
import { clip, formatCount } from '../../model/quantities.ts';
import { testTitle } from '../../model/tests.ts';
import type { Evidence, Verdict } from '../../model/verdict.ts';
import type { VerdictFacts } from './facts.ts';
import { inFlightEvidence, placesOfWaits } from './in-flight.ts';
import { cwdOf, placedAt, titled } from './wording.ts';

const longestName = 80;

export function pendingTest(facts: VerdictFacts, registered: Evidence[]): Verdict {
  const { account } = facts;
  const running = account.process?.test?.running ?? [];
  const [first] = running;
  const subject =
    first && running.length === 1
      ? `“${clip(testTitle(first), longestName)}”`
      : formatCount(Math.max(running.length, 1), 'test');
  const waits = placesOfWaits(facts);
  const [wait] = waits;
  const only = waits.size === 1 && running.length === 1 ? wait : undefined;
  const [text, frame] = only ?? [];
  const place = frame && placeOf(frame, cwdOf(account));
  return {
    kind: 'pending-exit',
    title: titled(
      `Event loop ran empty while ${subject} ${running.length > 1 ? 'were' : 'was'} waiting${text ? ` in ${text}` : ''}`,
    ),
    ...placedAt(frame),
    summary: `The process of the tests ended by itself, because nothing was left that could run, although ${subject} had not ended. ${text ? `What is awaited in ${text} could not settle any more.` : 'What was awaited could not settle any more.'} No error was thrown.`,
    // What is suspended beside the test need not be what it awaits.
    confidence: text === undefined ? 'certain' : 'likely',
    evidence: [
      ...running.slice(0, 5).map(
        (one): Evidence => ({
          fact: `Not ended: “${testTitle(one)}”${one.file ? ` of ${one.file}` : ''}.`,
          part: partNames.tests,
        }),
      ),
      ...inFlightEvidence(facts),
      ...registered,
    ],
    refutedBy: 'The same test ending when something else keeps the event loop alive, such as a timer.',
    nextSteps: [
      ...(place ? [`Open ${place} and check who settles the promise that is awaited there.`] : []),
      'Look for a promise that is never resolved: an event that does not fire, a stream that closed early, a lock that is not released.',
    ],
  };
}
