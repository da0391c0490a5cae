/**
 * `report.json`: Node's diagnostic report, in memory only (Node would write it with mode 0644 and every variable in
 * clear). Node collects a part from each worker and waits for it without limit (seen: 5.5 s behind an execSync), so the
 * report is left out unless every worker is idle in its event loop.
 */
import { partNames } from '../../bundle/layout.ts';
import { platform } from '../../platform/index.ts';
import { uproot, withCanary } from '../canary.ts';
import type { PartProducer } from './part.ts';
import { describeThread } from './threads.ts';

/** epoll_wait and epoll_pwait on x86-64; epoll_pwait on arm64. */
const waitsForEvents: Record<string, string[]> = { x64: ['232', '281'], arm64: ['22'] };

/** As far as it is looked into here. Before Node 22.13 it always has the variables. */
interface Report {
  environmentVariables?: Record<string, string>;
}

export const reportPart: PartProducer = {
  name: partNames.report,
  canaryPlace: {
    plant(report: Report) {
      report.environmentVariables &&= withCanary(report.environmentVariables);
    },
    uproot({ environmentVariables }: Report) {
      if (environmentVariables) uproot(environmentVariables);
    },
  },
  produce(context): unknown {
    if (!areWorkersIdle(context.workers.size, context.watchdogThread)) {
      context.addGap(
        partNames.report,
        'a worker thread is busy, and the report would wait for it',
        'process.report.getReport()',
      );
      return undefined;
    }
    return withoutNetwork(() => process.report.getReport(asError(context.thrown?.value))) as unknown;
  },
};

/** Node's report names the error only when it gets one. */
function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error('agentdump: state at the time of the dump');
}

/** Reverse DNS for each socket has taken minutes. The setting is not there before Node 20.13. */
function withoutNetwork<Result>(run: () => Result): Result {
  const report = process.report as { excludeNetwork?: boolean };
  const before = report.excludeNetwork;
  report.excludeNetwork = true;
  try {
    return run();
  } finally {
    if (before !== undefined) report.excludeNetwork = before;
    else delete report.excludeNetwork;
  }
}

/** Each worker waits in its own event loop, and V8's timer thread in one more. */
function areWorkersIdle(workers: number, watchdogThread: number | undefined): boolean {
  if (workers === 0) return true;
  const idleCalls = waitsForEvents[process.arch] ?? [];
  const waiting = platform
    .processFolder('self', 'task')
    .filter(
      (tid) => Number(tid) !== watchdogThread && idleCalls.includes(describeThread(tid)?.syscall ?? ''),
    );
  return waiting.length >= workers + 1;
}
