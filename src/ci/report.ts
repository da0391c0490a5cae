/** The red end of a run: explains, collects, summarizes, writes the report folder, and tells the CI service. */
import type { CiLeak, CiOutcome, CiSummary } from '../model/ci-summary.ts';
import { makeScrubber } from '../supervise/scrubber.ts';
import { collectBundles } from './collect.ts';
import { compareWithBaseline, readBaseline, writeBaseline } from './diff.ts';
import { checkLeaks } from './leak-check.ts';
import type { CiOptions } from './options.ts';
import type { CiEnd } from './run.ts';
import { explainSilentDeaths } from './silent-deaths.ts';
import type { StartedRun } from './start.ts';
import { summarize } from './summarize.ts';
import { readTestLogs } from './test-logs.ts';
import { writeReport } from './write-report.ts';

/** The outcome that stands in the end; `passed` leaves no report. */
export async function report(
  options: CiOptions,
  run: StartedRun,
  { exit, outcome }: CiEnd,
  startedAt: string,
): Promise<CiOutcome> {
  const threads = readTestLogs(run.folder);
  const heaps = new Set(threads.flatMap((thread) => thread.heaps.map(({ bundle }) => bundle)));
  const gaps: string[] = [];
  const leaks: CiLeak[] = options.leakCheck ? await checkLeaks(threads, options.leakCheck, gaps) : [];
  const final: CiOutcome = outcome.kind === 'passed' && leaks.length ? { ...outcome, kind: 'leak' } : outcome;
  const isGreen = final.kind === 'passed';
  if (outcome.kind === 'failed') explainSilentDeaths(run, threads, exit, options.note);
  const collected = isGreen
    ? { bundles: [], leftOut: [] }
    : // Read anew: who died in silence has a bundle now.
      await collectBundles(run.dir, readTestLogs(run.folder), options, leaks.length ? new Set() : heaps);
  const summary = await summarize({
    command: options.command,
    startedAt,
    durationMs: performance.now() - run.startedMs,
    outcome: final,
    threads,
    collected,
    leaks,
    gaps,
    scrubber: makeScrubber(process.env),
  });
  if (isGreen) {
    if (options.baseline !== undefined) writeBaseline(options.baseline, summary);
    return final;
  }
  writeReport(options, withDifference(options, summary));
  return final;
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
