/** The process ended itself: process.abort(), a failed assertion in C++, or a fatal error of V8. */
import { clip } from '../../../model/quantities.ts';
import type { Evidence } from '../../../model/verdict.ts';
import type { Cause } from '../facts.ts';
import { endEvidence, fatalSignal, kernelEvidence } from '../seen-from-outside.ts';
import { titled } from '../wording.ts';

export const abort: Cause = {
  kind: 'abort',
  layer: 'mechanism',
  consider(facts) {
    const signal = fatalSignal(facts);
    const event = facts.evidence?.fatal?.event;
    if (signal !== 'SIGABRT' && signal !== 'SIGTRAP' && event === undefined) return undefined;
    return {
      kind: 'abort',
      title: titled(event ? `Fatal error: ${event}` : `The process aborted itself (${signal})`),
      summary: event
        ? `Node or V8 met an error that it can't go on from, and ended the process: ${clip(event, 300)}`
        : signal === 'SIGTRAP'
          ? 'A check compiled into V8 or into native code failed and stopped the process at once.'
          : 'Native code called abort(): process.abort(), a failed assertion in C++, or an allocator that found its memory damaged. Node wrote no report, which it does for its own fatal errors.',
      confidence: event || signal === 'SIGABRT' ? 'certain' : 'likely',
      evidence: [...endEvidence(facts), ...fatalEvidence(event), ...kernelEvidence(facts)],
      refutedBy:
        'Standard error of the process: it prints the assertion, or the fatal error, before it ends.',
      nextSteps: [
        'Read the last lines of its standard error: the assertion and a native stack stand there.',
        'Look for process.abort() and --abort-on-uncaught-exception in the program and its options.',
        'A native add-on that was built for another Node fails like this: `npm rebuild`.',
      ],
    };
  },
};

function fatalEvidence(event: string | undefined): Evidence[] {
  return event === undefined ? [] : [{ fact: `Node reported: ${clip(event, 300)}.`, part: 'report.json' }];
}
