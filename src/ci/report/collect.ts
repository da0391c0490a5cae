/**
 * Selects the bundles of a failed run that go into the report. Bundles that only repeat another one are dropped; the others
 * are packed, the most informative and newest first, up to the limits.
 */
import { rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { listBundles } from '../../bundle/finished/list.ts';
import { packBundle } from '../../bundle/finished/pack.ts';
import { appendRemoval } from '../../bundle/write/ledger.ts';
import type { CiBundle, CiLeak } from '../../model/ci-summary.ts';
import { isInstalled } from '../../platform/paths.ts';
import type { CiOptions } from '../options.ts';
import type { StartedRun } from '../start.ts';
import { type DescribedBundle, describeBundle, sizeOf } from './describe-bundle.ts';
import { type LoggedThread, runningTests } from './test-logs.ts';

export interface Collected {
  bundles: CiBundle[];
  leftOut: { name: string; reason: string }[];
}

/** Further bundles are dropped unseen, because analyzing one takes a tenth of a second. */
const mostAnalyzed = 60;

/** `heaps`: bundles that are only needed for the leak check. */
export async function collectBundles(
  { dir, earlier }: Pick<StartedRun, 'dir' | 'earlier'>,
  threads: readonly LoggedThread[],
  options: Pick<CiOptions, 'maxBundles' | 'maxBytes'>,
  heaps: ReadonlySet<string>,
): Promise<Collected> {
  const leftOut: Collected['leftOut'] = [];
  const drop = (path: string, reason: string): void => {
    leftOut.push({ name: basename(path), reason });
    appendRemoval(dir, basename(path));
    rmSync(path, { recursive: true, force: true });
  };
  const described: DescribedBundle[] = [];
  for (const listed of listBundles(dir)) {
    if (earlier.has(basename(listed.path)) || heaps.has(listed.path)) continue;
    if (described.length >= mostAnalyzed) drop(listed.path, `there are ${mostAnalyzed} newer ones`);
    else described.push(await describeBundle(listed, threads));
  }
  const bundles: CiBundle[] = [];
  let bytes = 0;
  for (const one of described.sort((a, b) => rank(b, threads) - rank(a, threads))) {
    const echo = isEcho(one, described, threads);
    if (echo) drop(one.path, echo);
    else if (bundles.length >= options.maxBundles) drop(one.path, `more than ${options.maxBundles} bundles`);
    else {
      const packed = pack(one);
      const size = sizeOf(packed);
      if (bytes + size > options.maxBytes && bundles.length > 0) drop(packed, 'the size limit of the report');
      else {
        bytes += size;
        bundles.push({ name: basename(packed), bytes: size, ...one.facts });
      }
    }
  }
  return { bundles, leftOut };
}

const strong =
  /^(?:uncaught-exception|unhandled-rejection|heap-out-of-memory|system-out-of-memory|native-crash|abort|worker-death|event-loop-hang|no-progress|killed|pending-exit)$/;

/**
 * A bundle of a process that ended during a test that did not pass has the highest rank. The sort is stable, so among equals
 * the newest comes first.
 */
function rank({ facts, trigger, logged }: DescribedBundle, threads: readonly LoggedThread[]): number {
  const name = facts.test?.name.join('\n');
  const isOfBadTest = threads.some(({ tests }) =>
    tests.some(
      ({ status, name: own }) => (status === 'failed' || status === 'unfinished') && own.join('\n') === name,
    ),
  );
  return (
    (isOfBadTest ? 8 : 0) +
    (strong.test(facts.kind ?? trigger ?? '') ? 4 : 0) +
    (facts.test?.name.length ? 2 : 0) +
    (logged?.handled ? 0 : 1)
  );
}

/**
 * Returns the reason if a bundle repeats another one: it is a second answer to the same request, or an exit that only passes
 * on the status of a child, follows what another bundle of the same process is about, or is the regular result of an
 * installed tool (a linter, a compiler) that has printed its findings.
 */
function isEcho(
  one: DescribedBundle,
  all: readonly DescribedBundle[],
  threads: readonly LoggedThread[],
): string | undefined {
  const { trigger, facts } = one;
  if (all.some((other) => isSameAnswer(other, one)))
    return 'a second answer of the same process to one request';
  if (all.some((other) => isLookAtSameHang(other, one)))
    return 'an earlier look at the hang of the same process';
  if (trigger !== 'exit' || facts.pid === undefined) return undefined;
  const { pid } = facts;
  const others = all.filter((other) => other.facts.pid !== undefined && other.trigger !== 'exit');
  if (others.some((other) => other.facts.pid === pid)) return 'another bundle is about the same process';
  const below = threads.some(
    (thread) => thread.process?.parentPid === pid && (thread.exit === undefined || thread.exit.code !== 0),
  );
  if (below) return 'the process only passed on another one’s exit status';
  const isStory = facts.lastModelCall !== undefined || facts.lastToolCall !== undefined;
  return isInstalledTool(pid, threads) && !isStory
    ? 'a tool ended with its own exit code; its output says why'
    : undefined;
}

/**
 * In a run that was stopped, a library that treats our signal as a request to end (signal-exit, in tap) sends it to its
 * process again. The process then answers a second time, in the time that remains: the second bundle may be truncated
 * anywhere. And a process that answers late, on a busy machine, is read from outside too. The second bundle has less, unless it alone
 * shows where the process hangs: without the processor, a main thread can't be asked for its stack the first time.
 */
export function isSameAnswer(
  earlier: Pick<DescribedBundle, 'path' | 'trigger' | 'facts'>,
  later: Pick<DescribedBundle, 'path' | 'trigger' | 'facts'>,
): boolean {
  const { kind, pid } = earlier.facts;
  const mayRepeat = later.trigger === 'silence' ? !showsHang(later) : !showsMore(later, earlier);
  return (
    (later.trigger === 'snapshot-signal' || later.trigger === 'silence') &&
    mayRepeat &&
    earlier.trigger === 'snapshot-signal' &&
    kind !== undefined &&
    kind !== 'snapshot' &&
    pid !== undefined &&
    later.facts.pid === pid &&
    basename(earlier.path) < basename(later.path)
  );
}

/**
 * While a process of a run hangs, its watchdog reports the stall, and may answer the request for a bundle without the main
 * thread, so late that it is read from outside, too. The last look has the test and the stack, so the earlier ones are left
 * out, unless the event loop recovered in between or the last look found another place.
 */
export function isLookAtSameHang(
  last: Pick<DescribedBundle, 'path' | 'trigger' | 'facts'>,
  earlier: Pick<DescribedBundle, 'path' | 'trigger' | 'facts' | 'listed'>,
): boolean {
  const isLater =
    last.facts.pid !== undefined &&
    last.facts.pid === earlier.facts.pid &&
    basename(earlier.path) < basename(last.path);
  const { place } = last.facts;
  if (!isLater || !showsHang(last) || place === undefined) return false;
  if (earlier.trigger === 'snapshot-signal') return last.trigger === 'silence' || showsMore(last, earlier);
  return (
    earlier.trigger === 'stall' &&
    (last.trigger === 'silence' || last.trigger === 'snapshot-signal') &&
    earlier.listed.sequel?.event !== 'recovered' &&
    earlier.facts.place?.file === place.file &&
    earlier.facts.place.line === place.line
  );
}

type Described = Pick<DescribedBundle, 'facts'>;

const showsMore = (later: Described, earlier: Described): boolean => showsHang(later) && !showsHang(earlier);

function showsHang({ facts }: Described): boolean {
  return facts.kind === 'event-loop-hang' && facts.place !== undefined;
}

/** Decided by the location of its script. A test runner is not considered a tool while one of its tests is running. */
function isInstalledTool(pid: number, threads: readonly LoggedThread[]): boolean {
  const own = threads.filter((thread) => thread.pid === pid);
  const script = own.find(({ threadId }) => threadId === 0)?.process?.argv[1] ?? '';
  return isInstalled(script) && runningTests(own, pid).length === 0;
}

/** Keeps and packs the heaps of a leak check that a leak refers to, and removes the others. */
export function keepHeaps(heaps: ReadonlySet<string>, leaks: readonly CiLeak[]): CiLeak[] {
  const kept = leaks.map((leak) => ({
    ...leak,
    ...(leak.heaps && { heaps: leak.heaps.map((path) => basename(packBundle(path).path)) }),
  }));
  for (const path of heaps) {
    appendRemoval(dirname(path), basename(path));
    rmSync(path, { recursive: true, force: true });
  }
  return kept;
}

function pack({ path, listed }: DescribedBundle): string {
  if (listed.state !== 'sealed' && listed.state !== 'partial') return path;
  const packed = packBundle(path);
  rmSync(path, { recursive: true, force: true });
  return packed.path;
}
