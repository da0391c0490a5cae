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
        ? `Node or V8 hit a fatal error and ended the process: ${clip(event, 300)}`
        : signal === 'SIGTRAP'
          ? 'A check compiled into V8 or into native code failed and stopped the process at once.'
          : 'The process called abort(): process.abort(), a failed C++ assertion, or an allocator that found corrupted memory. There is no Node report, which Node writes for its own fatal errors.',
      confidence: event || signal === 'SIGABRT' ? 'certain' : 'likely',
      evidence: [...endEvidence(facts), ...fatalEvidence(event), ...kernelEvidence(facts)],
      refutedBy:
        'Standard error of the process: it prints the assertion, or the fatal error, before it ends.',
      nextSteps: [
        'Read the last lines of its stderr: they hold the assertion and a native stack.',
        'Check the program for process.abort() and its options for --abort-on-uncaught-exception.',
        'A native add-on that was built for another Node fails like this: `npm rebuild`.',
      ],
    };
  },
};

function fatalEvidence(event: string | undefined): Evidence[] {
  return event === undefined ? [] : [{ fact: `Node reported: ${clip(event, 300)}.`, part: 'report.json' }];
}
