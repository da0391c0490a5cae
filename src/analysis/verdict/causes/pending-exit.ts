/** Exit code 13: the event loop ran empty while a top-level await had not settled. Node prints no error for it. */

import { culpritFrame, frameText } from '../../../model/frame-text.ts';
import type { Cause } from '../facts.ts';
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
    const frame = culpritFrame(deathFrames(account));
    const where = frame && frameText(frame, cwdOf(account));
    const cycle = firstCycle(facts);
    const waited = agentPending[0];
    return {
      kind: 'pending-exit',
      title: titled(
        cycle
          ? `Deadlock: ${cycle.title} (exit code 13)`
          : waited
            ? `Ended while still waiting for ${waited} (exit code 13)`
            : `Top-level await never settled${where ? ` at ${where}` : ''} (exit code 13)`,
      ),
      summary:
        'A top-level await never settled and nothing was left that could settle it, so Node ended the process with exit code 13. No error was thrown.',
      confidence: trigger.kind === 'pending-exit' ? 'certain' : 'likely',
      evidence: [
        { fact: 'The event loop was empty before the main module had finished.', part: 'trigger.json' },
        ...inFlightEvidence(facts),
        resources.length
          ? { fact: `Still registered: ${resources.slice(0, 8).join(', ')}.`, part: 'trigger.json' }
          : { fact: 'No timer, socket, request or child was left to wait for.', part: 'trigger.json' },
      ],
      refutedBy: 'A call of process.exit(13) by the program itself.',
      nextSteps: [
        'Look for a promise that is never resolved: an event that does not fire, a stream that closed early, a lock that is not released.',
        'Put a time limit on the await: it keeps the event loop alive and turns the silent exit into an error.',
      ],
    };
  },
};
