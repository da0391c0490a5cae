/** Builds the summary of a run. What comes from the logs is redacted here. */
import { relative } from 'node:path';
import {
  type CiBundle,
  type CiLeak,
  type CiOutcome,
  type CiPlace,
  type CiProcess,
  type CiSummary,
  type CiTest,
  ciSummarySchema,
} from '../../model/ci-summary.ts';
import { below, isAbsolutePath } from '../../platform/paths.ts';
import type { Scrubber } from '../../supervise/scrub/scrubber.ts';
import type { Collected } from './collect.ts';
import { findFailurePlace } from './failure-place.ts';
import type { LoggedTest, LoggedThread } from './test-logs.ts';
import { findTestPlace } from './test-place.ts';

export interface SummaryFacts {
  command: readonly string[];
  startedAt: string;
  durationMs: number;
  outcome: CiOutcome;
  threads: readonly LoggedThread[];
  collected: Collected;
  leaks: CiLeak[];
  gaps: string[];
  scrubber: Scrubber;
}

const mostTests = 1_000;
const mostProcesses = 2_000;

export async function summarize(facts: SummaryFacts): Promise<CiSummary> {
  const { threads, collected, scrubber } = facts;
  const tests = threads.flatMap((thread) => thread.tests);
  const telling = threads.flatMap(({ pid, tests: own }) =>
    own.filter(({ status }) => status === 'failed' || status === 'unfinished').map((test) => ({ pid, test })),
  );
  const count = (status: LoggedTest['status']): number =>
    tests.filter((test) => test.status === status).length;
  const dropped = (pick: 'finished' | 'failed'): number =>
    threads.reduce((sum, thread) => sum + thread.dropped[pick], 0);
  // Logs are not redacted yet; bundles were redacted when they were written.
  const clean = <T>(value: T): T => scrubber.value(value) as T;
  const described: CiTest[] = [];
  const bundleOf = matchBundles(telling, collected, clean);
  for (const { pid, test } of telling.slice(0, mostTests))
    described.push(await describeTest(test, bundleOf(pid, test)));
  const summary: CiSummary = {
    schema: ciSummarySchema,
    command: scrubber.argv([...facts.command]),
    startedAt: facts.startedAt,
    durationMs: Math.round(facts.durationMs),
    outcome: facts.outcome,
    tests: {
      finished:
        tests.filter(({ status, isHook }) => status !== 'unfinished' && !isHook).length + dropped('finished'),
      failed: count('failed') + dropped('failed'),
      unfinished: count('unfinished'),
      telling: clean(described),
    },
    bundles: collected.bundles,
    ...(collected.leftOut.length && { leftOut: collected.leftOut }),
    processes: clean(describeProcesses(threads)),
    ...(facts.leaks.length && { leaks: clean(facts.leaks) }),
    ...(facts.gaps.length && { gaps: clean(facts.gaps) }),
  };
  return withRelativePaths(summary, scrubber.text(process.cwd()));
}

/** A file may run more than once: a bundle of another process that ran the same test belongs to that run. */
function matchBundles(
  telling: readonly { pid: number; test: LoggedTest }[],
  { bundles }: Collected,
  clean: <T>(value: T) => T,
): (pid: number, test: LoggedTest) => CiBundle | undefined {
  const pids = new Map<string, Set<number>>();
  for (const { pid, test } of telling) {
    const key = keyOf(test);
    const own = pids.get(key) ?? new Set();
    pids.set(key, own.add(pid));
  }
  return (pid, test) => {
    // A bundle that was described from the logs alone has unredacted names.
    const keys = [keyOf(test), keyOf(clean({ name: test.name, file: test.file }))];
    const fitting = bundles
      .filter((one) => one.test && keys.includes(keyOf(one.test)))
      .sort((a, b) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1));
    const others = pids.get(keyOf(test));
    return (
      fitting.find((one) => one.pid === pid) ??
      fitting.find((one) => one.pid === undefined || !others?.has(one.pid))
    );
  };
}

/** Within a process the first fatal bundle is the cause. Names begin with the time. */
function rankOf({ kind, handled }: CiBundle): number {
  if (kind === 'snapshot') return 2;
  // A runner handles the death of its worker, and may then die of it itself.
  return handled && kind !== 'worker-death' ? 1 : 0;
}

async function describeTest(test: LoggedTest, bundle: CiBundle | undefined): Promise<CiTest> {
  const { status, name, file, startedAt, runner, tookMs, error } = test;
  const failed = await findFailurePlace(error?.stack, file);
  const place = failed ?? (bundle?.place ? undefined : findTestPlace(test));
  return {
    ...(file !== undefined && { file }),
    name,
    startedAt,
    ...(runner !== undefined && { runner }),
    status,
    ...(tookMs !== undefined && { durationMs: tookMs }),
    ...(error && {
      error: {
        message: error.message,
        ...(error.name !== undefined && { name: error.name }),
        ...(error.stack !== undefined && { stackText: error.stack }),
      },
    }),
    ...(place && { place }),
    ...(bundle && { bundle: bundle.name }),
  };
}

const keyOf = ({ name, file }: { name: readonly string[]; file?: string | undefined }): string =>
  [file ?? '', ...name].join('\n');

/** Processes that ran tests or a script, for the comparison with an earlier run. */
function describeProcesses(threads: readonly LoggedThread[]): CiProcess[] {
  return threads.slice(0, mostProcesses).flatMap((thread): CiProcess[] => {
    const entry = thread.file ?? thread.process?.argv[1];
    if (entry === undefined || thread.threadId !== 0) return [];
    const { exit, runner, tests } = thread;
    return [
      {
        entry,
        ...(runner !== undefined && { runner }),
        tests: tests.filter(({ isHook }) => !isHook).length,
        ...(exit && {
          exitCode: exit.code,
          heapUsedBytes: exit.heapUsedBytes,
          maxRssBytes: exit.maxRssBytes,
          handles: exit.handles,
        }),
      },
    ];
  });
}

/**
 * Paths are made relative, because the report is read on other machines. `redactedCwd`: the working directory as the redactor
 * writes it, without the name of the home folder.
 */
function withRelativePaths(summary: CiSummary, redactedCwd: string): CiSummary {
  const shorten = (path: string): string => shortenPath(path, redactedCwd);
  const place = (given: CiPlace): CiPlace => ({ ...given, file: shorten(given.file) });
  const test = <T extends { file?: string; place?: CiPlace }>(given: T): T => ({
    ...given,
    ...(given.file !== undefined && { file: shorten(given.file) }),
    ...(given.place && { place: place(given.place) }),
  });
  return {
    ...summary,
    tests: { ...summary.tests, telling: summary.tests.telling.map(test) },
    bundles: summary.bundles.map((bundle) => ({
      ...bundle,
      ...(bundle.test && { test: test(bundle.test) }),
      ...(bundle.unfinished && { unfinished: bundle.unfinished.map(test) }),
      ...(bundle.again?.tests && { again: { ...bundle.again, tests: bundle.again.tests.map(test) } }),
      ...(bundle.place && { place: place(bundle.place) }),
    })),
    ...(summary.processes && {
      processes: summary.processes.map((process) => ({ ...process, entry: shorten(process.entry) })),
    }),
    ...(summary.leaks && { leaks: summary.leaks.map((leak) => ({ ...leak, entry: shorten(leak.entry) })) }),
  };
}

export function shortenPath(path: string, redactedCwd?: string): string {
  const inFolder = redactedCwd === undefined ? undefined : below(redactedCwd, path);
  if (inFolder !== undefined) return inFolder;
  if (!isAbsolutePath(path)) return path;
  const short = relative(process.cwd(), path);
  return short.startsWith('..') || short === '' ? path : short;
}
