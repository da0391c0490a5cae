/**
 * `report.json`: Node's diagnostic report, in memory only (Node would write it with mode 0644 and every variable unredacted).
 * Node collects a part from each worker and waits for it without limit (observed: 5.5 s behind an execSync), so the report is
 * left out unless every worker is idle in its event loop.
 */
import { types } from 'node:util';
import { partNames } from '../../bundle/layout/bundle.ts';
import { notAvailable, platform } from '../../platform/index.ts';
import type { NodeReport } from '../../platform/systems/node-report.ts';
import { startOf } from '../../redaction/start-of.ts';
import { isMainThread } from '../fatal-path/surroundings.ts';
import { findField, requireField } from '../host/read-field.ts';
import { toUndo } from '../host/undo.ts';
import type { CaptureContext, PartProducer } from './part.ts';
import { describeThread } from './threads/threads.ts';

/** epoll_wait and epoll_pwait on x86-64; epoll_pwait on arm64. */
const waitsForEvents: Record<string, string[]> = { x64: ['232', '281'], arm64: ['22'] };

/** The fields that are used here. The report of each worker contains the variables too. */
interface Report {
  environmentVariables?: Record<string, string>;
  workers?: Report[];
}

export const reportPart: PartProducer = {
  name: partNames.report,
  hasOwnFigures: true,
  produce(context): unknown {
    // Left out by design: the time limit of the test goes on, and the other parts have what the analysis needs.
    if (context.trigger.handledByHost && context.tests?.isInTest()) return undefined;
    const report = takeReport(context);
    if (!report) context.addGap(partNames.report, whyNone(), 'process.report.getReport()');
    return report;
  },
};

const taken = new WeakMap<CaptureContext, Report & NodeReport>();

/**
 * Taken once per death: if the system has no files about a process, other parts read it too. Undefined if it would wait for a
 * worker.
 */
function takeReport(context: CaptureContext): (Report & NodeReport) | undefined {
  if (!areWorkersIdle(context.workers.size, context.watchdogThread)) return undefined;
  const report =
    taken.get(context) ??
    withoutVariables(
      without(() => process.report.getReport(asError(context.thrown?.value))) as Report & NodeReport,
    );
  taken.set(context, report);
  return report;
}

/** Undefined in a worker, where the report describes that worker's own loop. */
export const ownReport = (context: CaptureContext): NodeReport | undefined =>
  isMainThread ? takeReport(context) : undefined;

function whyNone(): string {
  return platform.hasProcessFiles
    ? 'a worker thread is busy, and the report would wait for it'
    : `${notAvailable('whether a worker thread is idle')}; the report would wait for one that is busy`;
}

/**
 * Node's report names the error only if it receives one. It copies all its texts, whatever their length, and calls the getters of the
 * program, or the traps of its proxy.
 */
function asError(value: unknown): Error {
  if (types.isProxy(value) || !(value instanceof Error)) return ofTexts(stateNow, `Error: ${stateNow}`);
  if (isPlainAndShort(value)) return value;
  return ofTexts(textOf(findField(value, 'message')), textOf(findField(value, 'stack')));
}

function isPlainAndShort(value: Error): boolean {
  try {
    const fields = ['message', 'stack', ...Object.keys(value)];
    return fields.every((name) => lengthOf(requireField(value, name)) <= longestText);
  } catch {
    return false;
  }
}

const stateNow = 'agentdump: state at the time of the dump';

/** Assigned, because to define the property V8 would first call the program's formatter for the existing stack. */
function ofTexts(message: string, stack: string): Error {
  const error = new Error(message);
  error.stack = stack;
  return error;
}

const longestText = 64 * 1024;

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);
const textOf = (value: unknown): string => (typeof value === 'string' ? startOf(value, longestText) : '');

/**
 * Reverse DNS for each socket has taken minutes. The variables are in `environment.json`: to redact some hundred of them once more
 * would take longer than the rest of the report. Older Nodes lack the settings: the first before 20.13, the second before 22.13.
 */
function without<Result>(run: () => Result): Result {
  const report = process.report as { excludeNetwork?: boolean; excludeEnv?: boolean };
  const { excludeNetwork, excludeEnv } = report;
  const undo = toUndo(() => {
    if (excludeNetwork !== undefined) report.excludeNetwork = excludeNetwork;
    else delete report.excludeNetwork;
    if (excludeEnv !== undefined) report.excludeEnv = excludeEnv;
    else delete report.excludeEnv;
  });
  report.excludeNetwork = true;
  report.excludeEnv = true;
  try {
    return run();
  } finally {
    undo();
  }
}

function withoutVariables<Taken extends Report>(report: Taken): Taken {
  delete report.environmentVariables;
  for (const worker of report.workers ?? []) withoutVariables(worker);
  return report;
}

/** Each idle worker waits in its own event loop, and V8's timer thread in one more. */
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
