/** Names of a test run, a test and a bundle, shared by all forms of the report. Pure. */
import {
  type CiBundle,
  type CiOutcome,
  type CiSummary,
  type CiTest,
  isUnseen,
} from '../../model/ci-summary.ts';
import { clip, firstLine, formatCount, formatDuration } from '../../model/quantities.ts';
import type { RunningTestFacts } from '../../model/tests.ts';

const mostNames = 3;

export function testTitle(test: Pick<RunningTestFacts, 'name' | 'file'>): string {
  return test.name.length ? test.name.join(' › ') : (test.file ?? 'a process of the run');
}

export function outcomeText({ outcome, durationMs }: CiSummary): string {
  const after = durationMs === undefined ? '' : ` after ${formatDuration(durationMs)}`;
  const words: Record<CiOutcome['kind'], string> = {
    passed: 'The run passed',
    failed: `The run failed${endText(outcome)}`,
    hang: 'The run hung and was stopped',
    'job-limit': 'The run was stopped before the job’s time was up',
    cancelled: 'The run was cancelled',
    leak: 'The tests passed, and memory grew',
    died: 'The command exited with code 0',
  };
  const but = outcome.kind === 'died' ? ', although a process ended before its test did' : '';
  return `${words[outcome.kind]}${after}${but}`;
}

function endText({ exitCode, signal }: CiOutcome): string {
  if (signal !== undefined) return ` with ${signal}`;
  return exitCode === undefined ? '' : ` with exit code ${exitCode}`;
}

export function countsText(summary: CiSummary): string {
  const { tests, bundles } = summary;
  const counts = [`${formatCount(tests.finished, 'test')} finished`, `${tests.failed} failed`];
  return [
    ...(tests.finished === 0 && isUnseen(summary) ? ['its tests were not seen'] : counts),
    ...(tests.unfinished ? [`${tests.unfinished} did not finish`] : []),
    formatCount(bundles.length, 'bundle'),
  ].join(', ');
}

/** What happened to the test, in one line: from its bundle, otherwise its error. */
export function testReason(test: CiTest, bundle: CiBundle | undefined): string {
  if (bundle?.title !== undefined && bundle.kind !== 'snapshot') return withoutTest(bundle.title);
  if (test.error) {
    const message = clip(firstSentence(plain(test.error.message)), 300);
    const said = test.error.name === undefined ? message : `${test.error.name}: ${message}`;
    const wait = waitText(test, bundle);
    return wait ? `${said.replace(/\.$/, '')}${wait}` : said;
  }
  return test.status === 'unfinished' ? 'It did not finish' : 'It failed';
}

/** Of a test's time; less makes no difference to a time limit. */
const notableShare = 0.25;

/**
 * What the runner says, if the entry is told by something else that happened in the test. The program waited while that bundle
 * was written, which may be why a time limit was reached.
 */
function runnersReason(
  { error, status, durationMs }: CiTest,
  bundle: CiBundle | undefined,
): string | undefined {
  const { handled, kind, title, tookMs = 0 } = bundle ?? {};
  if (status !== 'failed' || !error || title === undefined || kind === 'snapshot') return undefined;
  const message = firstSentence(plain(error.message));
  if (message === '' || title.includes(clip(message, 60).replace(/…$/, ''))) return undefined;
  const said = `the test failed with “${error.name === undefined ? '' : `${error.name}: `}${clip(message, 200)}”`;
  const isNotable = handled && durationMs !== undefined && tookMs >= durationMs * notableShare;
  return isNotable
    ? `${said}; writing the bundle took ${formatDuration(tookMs)} of its ${formatDuration(durationMs)}`
    : said;
}

/** A runner whose time limit was reached knows where the test is written, and not where it waited. */
function waitText({ place }: CiTest, bundle: CiBundle | undefined): string {
  const wait = bundle?.kind === 'snapshot' ? bundle.place : undefined;
  if (!wait || (wait.file === place?.file && wait.line === place.line)) return '';
  return `, waiting at ${wait.file}:${wait.line}`;
}

/**
 * The first line; if that only announces something (node:assert: "Expected values to be strictly equal:"), also what follows.
 */
function firstSentence(message: string): string {
  const line = firstLine(message);
  return line.endsWith(':') ? message.trim().replace(/\s+/g, ' ') : line;
}

/** Removes the colours that runners put into messages. */
export function plain(text: string): string {
  return text.replace(/\x1b\[[0-9;]*m/g, '');
}

/** The title of a death that a test began names it, and so does what stands before it here. */
const withoutTest = (title: string): string => title.replace(/^(?:Test|Hook) “.*?”: /, '');

export function bundleTitle(bundle: CiBundle): string {
  return bundle.title ?? (bundle.encrypted ? 'An encrypted bundle' : 'A bundle');
}

/** It happened 9 more times in this run, begun by the tests “a › b”, “a › c”, “d” and 5 others */
export function againText({ times, tests = [] }: NonNullable<CiBundle['again']>): string {
  const by = tests.length ? `, begun by ${namesText(tests.map(testTitle))}` : '';
  return `It happened ${formatCount(times, 'more time')} in this run${by}`;
}

/** The test “a”; the tests “a”, “b”, “c” and 5 others */
export function namesText(names: readonly string[]): string {
  return `the ${names.length === 1 ? 'test' : 'tests'} ${listText(names)}`;
}

/** “a”, “b”, “c” and 5 others */
export function listText(names: readonly string[]): string {
  const listed = names.slice(0, mostNames).map((name) => `“${name}”`);
  const more = names.length - listed.length;
  return `${listed.join(', ')}${more > 0 ? ` and ${formatCount(more, 'other')}` : ''}`;
}

export function openCommand(bundle: CiBundle, folder: string): string {
  const identity = bundle.encrypted ? ' --identity FILE' : '';
  return `npx agentdump analyze ${folder}/bundles/${bundle.name}${identity}`;
}

export function heapDiffCommand(heaps: readonly string[], folder: string): string {
  return `npx agentdump heap diff ${heaps.map((name) => `${folder}/bundles/${name}`).join(' ')}`;
}

/** One row per problem: every bundle with its test, then the tests without a bundle. */
export interface Problem {
  title: string;
  test?: string;
  file?: string;
  place?: CiBundle['place'];
  bundle?: CiBundle;
  detail: string;
  /** What the runner says, where the title says something else. */
  reported?: string;
  /** The test did not end, and nothing more is known of it. */
  isUnfinished?: true;
}

function errorText({ error }: CiTest): string {
  if (!error) return '';
  return `${error.name === undefined ? '' : `${error.name}: `}${plain(error.message)}`;
}

/** Whether tests that were running when the error of another one occurred did not succeed. */
function hasCutTests({ unfinished = [] }: CiBundle, telling: readonly CiTest[]): boolean {
  return unfinished.some(({ name, file }) =>
    telling.some((test) => test.file === file && test.name.join('\n') === name.join('\n')),
  );
}

/** Runners attribute a late error to the test that is running at that time. */
function isFailedBy(test: CiTest, cause: CiBundle): boolean {
  const message = firstSentence(plain(test.error?.message ?? ''));
  return message !== '' && cause.title?.includes(message) === true && hasCutTests(cause, [test]);
}

/**
 * Tests that failed in the same words at the same place, which is often one cause, as one entry, and tests of one file that did not
 * finish: usually one of them ended the process.
 */
export function groupProblems(problems: readonly Problem[]): Problem[][] {
  const groups = new Map<unknown, Problem[]>();
  for (const problem of problems) {
    const key = groupKey(problem);
    groups.set(key, [...(groups.get(key) ?? []), problem]);
  }
  return [...groups.values()];
}

/** The first of those that tell the same death in one test. */
export function withoutRepeats(problems: readonly Problem[]): Problem[] {
  const keys = problems.map((problem) => (problem.bundle ? groupKey(problem) : problem));
  return problems.filter((_, at) => keys.indexOf(keys[at]) === at);
}

function groupKey(problem: Problem): unknown {
  const { title, place, file, test, bundle, isUnfinished } = problem;
  // What happened twice in one test is told once.
  if (bundle?.signature !== undefined) return `bundle\n${bundle.signature}\n${file}\n${test}\n${title}`;
  if (isUnfinished && file !== undefined) return `unfinished\n${file}`;
  return bundle || !place ? problem : `${title}\n${place.file}:${place.line}`;
}

/** One failure of those that the entry of a bundle counts as repeats of it. */
function isRepeatOf({ again, title = '' }: CiBundle, { name, file, error }: CiTest): boolean {
  const message = firstSentence(plain(error?.message ?? ''));
  return (
    message !== '' &&
    title.includes(message) &&
    again?.tests?.some((one) => one.file === file && one.name.join('\n') === name.join('\n')) === true
  );
}

export const handledLateText = 'its test had ended; a handler of the program or of the runner took the error';

/** The program, or the runner, handled it after its test had ended, and its process did not fail by it. */
export function isHandledLate({ handled, late, failedProcess }: CiBundle): boolean {
  return handled === true && late === true && failedProcess !== true;
}

function isUnexpected({ aside, late, failedProcess }: CiBundle): boolean {
  return !aside && (late === true || failedProcess === true);
}

/** By the program, the run, or the test that it was about. */
const isSurvived = ({ handled, aside }: CiBundle): boolean => handled === true || aside !== undefined;

export function problemsOf(summary: CiSummary): Problem[] {
  const { tests, bundles } = summary;
  const named = new Set(tests.telling.flatMap(({ bundle }) => (bundle === undefined ? [] : [bundle])));
  const causes = bundles.filter((bundle) => isSurvived(bundle) && hasCutTests(bundle, tests.telling));
  const isToldAsRepeat = (test: CiTest): boolean =>
    test.bundle === undefined && bundles.some((bundle) => isRepeatOf(bundle, test));
  const ofTests = tests.telling
    .filter((test) => !isToldAsRepeat(test))
    .map((test): Problem => {
      const bundle = bundles.find(({ name }) => name === test.bundle);
      const cause = bundle ? undefined : causes.find((one) => isFailedBy(test, one));
      const place = test.place ?? bundle?.place;
      const file = test.file;
      const reported = runnersReason(test, bundle);
      return {
        title: `${testReason(test, bundle)}${cause?.test ? `, from “${testTitle(cause.test)}”` : ''}`,
        test: testTitle(test),
        ...(file !== undefined && { file }),
        ...(place && { place }),
        ...(bundle && { bundle }),
        detail: bundle?.summary ?? errorText(test),
        ...(reported !== undefined && { reported }),
        ...(test.status === 'unfinished' && !test.error && !bundle && { isUnfinished: true as const }),
      };
    });
  // A light snapshot of a process whose memory then ran out is not another problem.
  const ended = new Set(bundles.flatMap(({ kind, pid }) => (kind === 'snapshot' ? [] : [pid])));
  const isForerunner = ({ kind, pid }: CiBundle): boolean =>
    kind === 'snapshot' && pid !== undefined && ended.has(pid);
  // What tests that can't be followed handle, they may have caused on purpose.
  const isTold = isUnseen(summary) || ofTests.length > 0 || bundles.some((bundle) => !isSurvived(bundle));
  const others = bundles
    .filter((bundle) => !named.has(bundle.name) && !isForerunner(bundle))
    // Tests may let things die on purpose, so a handled error is only listed if nothing else failed, since it may then be the
    // reason, if its test had ended, if tests that were running when it occurred failed or never ended, or if its process failed
    // without them.
    .filter((bundle) => !(isSurvived(bundle) && isTold) || isUnexpected(bundle) || causes.includes(bundle))
    .map((bundle): Problem => {
      const file = bundle.test?.file;
      return {
        title: bundle.test ? withoutTest(bundleTitle(bundle)) : bundleTitle(bundle),
        ...(bundle.test && { test: testTitle(bundle.test) }),
        ...(file !== undefined && { file }),
        ...(bundle.place && { place: bundle.place }),
        bundle,
        detail: bundle.summary ?? '',
      };
    });
  const isCause = ({ bundle }: Problem): boolean => bundle !== undefined && causes.includes(bundle);
  const besides = others.filter((one) => !isCause(one));
  const isBeside = ({ bundle }: Problem): boolean => bundle !== undefined && isHandledLate(bundle);
  return [
    ...others.filter(isCause),
    ...ofTests.filter(({ bundle }) => bundle),
    ...besides.filter((one) => !isBeside(one)),
    ...ofTests.filter(({ bundle, isUnfinished }) => !bundle && !isUnfinished),
    // May be why others did not finish.
    ...besides.filter(isBeside),
    ...ofTests.filter(({ isUnfinished }) => isUnfinished),
  ];
}
