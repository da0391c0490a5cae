/** The fallback when no other cause applies: states what is known and what would be needed. */
import type { Cause } from '../facts.ts';

export const unknown: Cause = {
  kind: 'unknown',
  layer: 'mechanism',
  consider({ account, trigger }) {
    const said = trigger?.verdictKind;
    return {
      kind: 'unknown',
      title: 'Unknown: the bundle does not say why it was written',
      summary: `${
        account.bundle?.sealed === false
          ? 'The bundle was never sealed: its writer was stopped while writing.'
          : 'No part that says why the bundle was written could be read.'
      } What could be read is shown below.`,
      confidence: 'possible',
      evidence: [
        ...(said ? [{ fact: `The writer called it ${said}.`, part: 'trigger.json' }] : []),
        ...(account.bundle?.sealed === false
          ? [{ fact: 'There is no manifest, which is written last.', part: 'manifest.json' }]
          : []),
      ],
      refutedBy: 'A trigger part that can be read.',
      nextSteps: [
        '`agentdump verify` says which parts are whole.',
        'Look at the log of whoever started the process for its exit code or signal.',
      ],
    };
  },
};
