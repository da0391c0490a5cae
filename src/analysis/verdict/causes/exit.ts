/** The program called process.exit with a code that isn't 0, or set the code and let the loop run dry. */

import { culpritFrame, frameText, placeOf } from '../../../model/frame-text.ts';
import { formatDuration } from '../../../model/quantities.ts';
import type { Cause } from '../facts.ts';
import { cwdOf, deathFrames, titled } from '../wording.ts';

export const exit: Cause = {
  kind: 'exit',
  layer: 'mechanism',
  consider({ account, trigger }) {
    if (trigger?.kind !== 'exit') return undefined;
    const code = trigger.exitCode ?? account.process?.exit?.code;
    const called = trigger.exitStack !== undefined;
    const found = culpritFrame(deathFrames(account));
    // A frame of Node's own is nowhere to look.
    const caller = found?.file?.startsWith('node:') ? undefined : found;
    const where = caller && frameText(caller, cwdOf(account));
    const place = caller && placeOf(caller, cwdOf(account));
    const uptime = account.process?.uptimeMs;
    return {
      kind: 'exit',
      title: titled(
        `${called ? `process.exit(${code ?? '?'})` : `Exit code ${code ?? '?'}`}${where ? ` called by ${where}` : ''}`,
      ),
      summary: `The program ended itself with exit code ${code ?? '(not recorded)'}${uptime === undefined ? '' : ` after ${formatDuration(uptime)}`}. ${
        called
          ? 'process.exit ends the process at once: nothing that was pending was waited for.'
          : 'No call of process.exit was seen: the code was set, and the program ran to its end.'
      }`,
      confidence: 'certain',
      evidence: [
        { fact: `The process ended with exit code ${code ?? '(not recorded)'}.`, part: 'trigger.json' },
        ...(where ? [{ fact: `process.exit was called in ${where}.`, part: 'trigger.json' }] : []),
      ],
      refutedBy: 'A different exit code, or a signal, in the log of whoever started the process.',
      nextSteps: place
        ? [`Open ${place} and see on which condition it gives up; its own message is on stderr.`]
        : ['Look at the last lines of stderr: a program that ends itself usually says why.'],
    };
  },
};
