/**
 * The end of a failed run: explains deaths, collects bundles, summarizes, writes the report folder, and informs the CI
 * service.
 */
import { readdirSync } from 'node:fs';
import { type CiLeak, type CiOutcome, type CiSummary, unseenRunner } from '../../model/ci-summary.ts';
import { makeScrubber } from '../../supervise/scrub/scrubber.ts';
import type { CiEnd, CiOptions } from '../options.ts';
import type { StartedRun } from '../start.ts';
import { explainSilentDeaths } from '../watch/silent-deaths.ts';
import { collectBundles, keepHeaps } from './collect.ts';
import { compareWithBaseline, readBaseline, writeBaseline } from './diff.ts';
import { checkLeaks } from './leak-check.ts';
import { keepNames } from './names-only.ts';
import { summarize } from './summarize.ts';
import { type LoggedThread, readTestLogs, runningTests, startingTest } from './test-logs.ts';
import { writeReport } from './write-report.ts';

/** Returns the final outcome; `passed` leaves no report. */
export async function report(
  options: CiOptions,
  run: StartedRun,
  { exit, outcome }: CiEnd,
  startedAt: string,
): Promise<CiOutcome> {
  const threads = readTestLogs(run.folder);
  const heaps = new Set(threads.flatMap((thread) => thread.heaps.map(({ bundle }) => bundle)));
  noteUnseen(run.gaps, threads);
  const gaps = [...run.gaps];
  const leaks: CiLeak[] = options.leakCheck ? await checkLeaks(threads, options.leakCheck, gaps) : [];
  const final = finalOutcome(outcome, leaks, hasDiedInTest(run.folder, threads));
  const isGreen = final.kind === 'passed';
  if (final.kind === 'failed' || final.kind === 'died') explainSilentDeaths(run, threads, exit, options.note);
  const collected = isGreen
    ? { bundles: [], leftOut: [] }
    : // Read again, because silent deaths have bundles now.
      await collectBundles(run, readTestLogs(run.folder), options, heaps);
  // A bundle tells more than that.
  if (!isGreen && collected.bundles.length === 0) noteNoTests(run.gaps, gaps, threads);
  const whole = await summarize({
    command: options.command,
    startedAt,
    durationMs: performance.now() - run.startedMs,
    outcome: final,
    threads,
    collected,
    leaks: isGreen ? [] : keepHeaps(heaps, leaks),
    gaps,
    scrubber: makeScrubber(process.env),
  });
  const summary = process.env['AGENTDUMP_RECIPIENT'] ? keepNames(whole) : whole;
  if (isGreen) {
    if (options.baseline !== undefined) writeBaseline(options.baseline, summary);
    return final;
  }
  writeReport(options, withDifference(options, summary));
  return final;
}

const unseenText = `the tests of ${unseenRunner} were not seen: of jest, only those that jest-circus runs are reported`;

function noteUnseen(gaps: string[], threads: readonly LoggedThread[]): void {
  if (threads.some(({ runner }) => runner === unseenRunner) && !gaps.includes(unseenText))
    gaps.push(unseenText);
}

/** A runner whose test files don't load, or whose version is not known, fails without a test. */
function noteNoTests(told: string[], gaps: string[], threads: readonly LoggedThread[]): void {
  const runners = new Set(threads.flatMap(({ runner }) => runner ?? []));
  runners.delete(unseenRunner);
  const hasTests = threads.some(({ tests, dropped }) => tests.length > 0 || dropped.finished > 0);
  if (runners.size === 0 || hasTests) return;
  const text = `no test of ${[...runners].join(', ')} was seen to begin: a test file may not have loaded (see the output of the command), or this version of the runner is not known`;
  if (!told.includes(text)) told.push(text);
  gaps.push(text);
}

function finalOutcome(outcome: CiOutcome, leaks: readonly CiLeak[], hasDied: boolean): CiOutcome {
  if (outcome.kind !== 'passed') return outcome;
  return hasDied ? { ...outcome, kind: 'died' } : leaks.length ? { ...outcome, kind: 'leak' } : outcome;
}

/**
 * Whether a process ended before its test did: Node wrote a fatal report about it, it exited with a code that was ignored, as
 * mocha does for its worker pool, or with 0, which most runners take for success. A process that a test has started is left to
 * that test.
 */
function hasDiedInTest(folder: string, threads: readonly LoggedThread[]): boolean {
  const reports = readdirSync(folder).filter((name) => name.startsWith('report.'));
  return threads.some(({ pid, threadId, exit }) => {
    const isCutOff = exit?.unfinished !== undefined;
    const hasExited = threadId === 0 && exit !== undefined && (exit.code !== 0 || isCutOff);
    const hasDied = reports.some((name) => name.includes(`.${pid}.`));
    if (!hasDied && !(hasExited && startingTest(threads, pid) === undefined)) return false;
    return runningTests(threads, pid).length > 0;
  });
}

function withDifference({ baseline }: CiOptions, summary: CiSummary): CiSummary {
  const earlier = baseline === undefined ? undefined : readBaseline(baseline);
  if (baseline === undefined || !earlier) return summary;
  const difference = compareWithBaseline(baseline, earlier, summary);
  const first = new Set(difference.signatures.flatMap(({ id, state }) => (state === 'first' ? [id] : [])));
  const bundles = summary.bundles.map((bundle) => ({
    ...bundle,
    ...(bundle.signature && { seen: first.has(bundle.signature) ? ('first' as const) : ('again' as const) }),
  }));
  return { ...summary, bundles, difference };
}
