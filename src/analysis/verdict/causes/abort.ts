/** The process ended itself: process.abort(), a failed assertion in C++, or a fatal error of V8. */
import { clip } from '../../../model/quantities.ts';
import type { Evidence } from '../../../model/verdict.ts';
import type { Cause } from '../facts.ts';
import { coreEvidence, coreSteps, endEvidence, fatalSignal, kernelEvidence } from '../seen-from-outside.ts';
import { titled } from '../wording.ts';

export const abort: Cause = {
  kind: 'abort',
  layer: 'mechanism',
  consider(facts) {
    const signal = fatalSignal(facts);
    const event = facts.evidence?.fatal?.event;
    if (signal !== 'SIGABRT' && signal !== 'SIGTRAP' && event === undefined) return undefined;
    const own = facts.evidence?.signalsSent?.some(({ name }) => name === signal) === true;
    return {
      kind: 'abort',
      title: titled(event ? `Fatal error: ${event}` : titleOf(signal, own)),
      summary: event
        ? `Node or V8 hit a fatal error and ended the process: ${clip(event, 300)}`
        : signal === 'SIGTRAP'
          ? 'A check compiled into V8 or into native code failed and stopped the process at once.'
          : own
            ? 'Its supervisor sent the process SIGABRT, and there is no report of a fatal error.'
            : 'A process that calls abort() ends so: process.abort(), a failed C++ assertion, or an allocator that found corrupted memory. So does one that is sent the signal, as by a watchdog of systemd. There is no Node report, which Node writes for its own fatal errors.',
      // The signal alone doesn't show who raised it; a core does (from-core.ts).
      confidence: event ? 'certain' : 'likely',
      evidence: [
        ...endEvidence(facts),
        ...fatalEvidence(event),
        ...kernelEvidence(facts),
        ...coreEvidence(facts),
      ],
      refutedBy:
        'Standard error of the process: it prints the assertion, or the fatal error, before it ends.',
      nextSteps: [
        'Read the last lines of its stderr: they hold the assertion and a native stack.',
        ...coreSteps(facts),
        'Check the program for process.abort() and its options for --abort-on-uncaught-exception.',
        'A native add-on that was built for another Node fails like this: `npm rebuild`.',
      ],
    };
  },
};

function titleOf(signal: string | undefined, isSentBySupervisor: boolean): string {
  return isSentBySupervisor
    ? `Ended by ${signal}, sent by its supervisor`
    : `The process aborted (${signal})`;
}

function fatalEvidence(event: string | undefined): Evidence[] {
  return event === undefined ? [] : [{ fact: `Node reported: ${clip(event, 300)}.`, part: 'report.json' }];
}
