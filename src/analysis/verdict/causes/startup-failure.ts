/**
 * The program failed to start because some of its code could not be loaded. For a lazy load the mechanism is the verdict
 * (load-failure.ts).
 */
import { formatDuration } from '../../../model/quantities.ts';
import type { Evidence } from '../../../model/verdict.ts';
import { handlerSubject } from '../errors/handler-owner.ts';
import { findLoadFailure, isOnDemand } from '../errors/load-failure.ts';
import type { Cause } from '../facts.ts';
import { titled } from '../wording.ts';

export const startupFailure: Cause = {
  kind: 'startup-failure',
  layer: 'reason',
  consider(facts) {
    const { account, trigger } = facts;
    const failure = isOnDemand(facts) ? undefined : findLoadFailure(facts);
    if (!failure) return undefined;
    const uptime = account.process?.uptimeMs;
    const evidence: Evidence[] = failure.facts.map((fact) => ({ fact, part: 'error.json' }));
    if (uptime !== undefined)
      evidence.push({ fact: `It failed ${formatDuration(uptime)} after the start.`, part: 'process.json' });
    const isStarting = trigger?.phase === 'starting';
    if (isStarting) evidence.push({ fact: 'The main module had not ended.', part: 'trigger.json' });
    return {
      kind: 'startup-failure',
      title: titled(failure.title),
      summary: `${isStarting ? 'The program could not start: a part of its code could not be loaded' : 'A part of the code could not be loaded, and nothing shows that the program had begun its work'}. The same start will fail the same way until the files change.${
        trigger?.handledByHost
          ? ` ${handlerSubject(facts)} received the error, and the program may have gone on.`
          : ''
      }`,
      // Node doesn't record whether an ES module has been evaluated.
      confidence: isStarting ? 'certain' : 'likely',
      evidence,
      refutedBy: 'The same start succeeding with the same files and the same Node.',
      nextSteps: failure.steps,
    };
  },
};
