/**
 * Describes a bundle for the summary: its verdict, the test that it is about, the place in the code, and the agent's last
 * calls.
 */

import { statSync } from 'node:fs';
import { analyzeBundle } from '../../analysis/analyze.ts';
import type { ListedBundle } from '../../bundle/finished/list.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { readBundleName } from '../../bundle/write/bundle-name.ts';
import type { Account } from '../../model/account.ts';
import type { AgentState } from '../../model/agent-state.ts';
import type { CiBundle, CiPlace } from '../../model/ci-summary.ts';
import { modelName } from '../../model/model-call-text.ts';
import { clip } from '../../model/quantities.ts';
import { type RunningTestFacts, testOf } from '../../model/tests.ts';
import type { Frame, Thread } from '../../model/thread.ts';
import { verdictKinds } from '../../model/verdict.ts';
import { findFailurePlace, placeOfFrames } from './failure-place.ts';
import {
  type LoggedBundle,
  type LoggedTest,
  type LoggedThread,
  runningTests,
  startingTest,
} from './test-logs.ts';

const mostAgain = 20;

export interface DescribedBundle {
  path: string;
  listed: ListedBundle;
  /** The final name and size are not known yet. */
  facts: Omit<CiBundle, 'name' | 'bytes'>;
  /** The entry in the log of its thread; undefined if the bundle was written from outside. */
  logged: (LoggedBundle & { pid: number }) | undefined;
  trigger: string | undefined;
}

/** Never rejects: a bundle that can't be read is described as unreadable. */
export async function describeBundle(
  listed: ListedBundle,
  threads: readonly LoggedThread[],
): Promise<DescribedBundle> {
  const logged = findLogged(listed.path, threads);
  const base = { path: listed.path, listed, logged };
  const known = { ...(logged && { pid: logged.pid, ...(logged.handled && { handled: true as const }) }) };
  if (listed.state === 'encrypted') {
    const ofLog = logged?.isFollowed ? logged.origin : logged?.running[0];
    const test = ofLog ?? (logged && startingTest(threads, logged.pid));
    return {
      ...base,
      trigger: logged?.trigger,
      facts: {
        ...known,
        ...describeName(listed.name),
        encrypted: true,
        ...(test && { test: asFacts(test) }),
      },
    };
  }
  try {
    const { account, tookMs, trigger, isMainThread } = await analyze(listed.path);
    const facts = {
      ...known,
      ...(await describeAccount(account, threads, isMainThread ? listed.at : undefined)),
      ...(logged && tookMs > 0 && { tookMs }),
      ...repeatsOf(listed, threads),
    };
    const isHandled = facts.handled || (!isMainThread && hasGoneOn(threads, facts.pid));
    const aside = asideOf(account, facts, threads);
    const hasFailed = isHandled && hasFailedWithoutTests(threads, facts.pid);
    return {
      ...base,
      trigger,
      facts: {
        ...facts,
        ...(isHandled && { handled: true as const }),
        ...(aside && { aside }),
        ...(hasFailed && { failedProcess: true as const }),
      },
    };
  } catch (error) {
    const title = `The bundle can't be read: ${error instanceof Error ? error.message : String(error)}`;
    return { ...base, trigger: logged?.trigger, facts: { ...known, title } };
  }
}

/** Of an encrypted bundle only the name is readable, which ends with the kind of its verdict. */
function describeName(name: string): Partial<CiBundle> {
  const words = readBundleName(name)?.words ?? '';
  const [kind] = verdictKinds
    .filter((one) => words === one || words.endsWith(`-${one}`))
    .sort((a, b) => b.length - a.length);
  return kind === undefined ? {} : { kind, title: `${kind} (encrypted)` };
}

/**
 * Whether the process survived the death of its worker thread. Without an error handler it dies of it, and then has a bundle
 * about that.
 */
function hasGoneOn(threads: readonly LoggedThread[], pid: number | undefined): boolean {
  const main = threads.find((thread) => thread.pid === pid && thread.threadId === 0);
  return main?.exit !== undefined && main.bundles.every(({ handled }) => handled);
}

function asideOf(
  account: Account,
  facts: Partial<CiBundle>,
  threads: readonly LoggedThread[],
): CiBundle['aside'] {
  if (hasRecovered(account, threads)) return 'recovered';
  return isExpected(facts, threads) ? 'expected' : undefined;
}

/** A stall that ended, or whose process ended by itself after all its tests: what it delayed is told by the tests. */
function hasRecovered({ verdict, bundle, process }: Account, threads: readonly LoggedThread[]): boolean {
  if (verdict?.kind !== 'event-loop-hang') return false;
  const event = bundle?.sequel?.event;
  const own = threads.filter(({ pid }) => pid === process?.pid);
  const hasEnded =
    own.some(({ exit }) => exit !== undefined) &&
    own.every(({ tests }) => tests.every(({ status }) => status !== 'unfinished'));
  return event === 'recovered' || event === 'ended' || hasEnded;
}

/** Ends that a test may be about. A crash may be why a later test failed. */
const chosenEnds = new Set(['exit', 'terminated']);

/** Of a process that a test had started, and that runs no tests itself. */
function isExpected({ kind = '', pid, test }: Partial<CiBundle>, threads: readonly LoggedThread[]): boolean {
  const isTested = threads.some((thread) => thread.pid === pid && thread.runner !== undefined);
  if (!chosenEnds.has(kind) || !test?.name.length || pid === undefined || isTested) return false;
  const same = threads.flatMap(({ tests }) => tests.filter((one) => isSame(one, test)));
  return same.length > 0 && same.every(({ status }) => status === 'passed');
}

function repeatsOf({ shortId }: ListedBundle, threads: readonly LoggedThread[]): Pick<CiBundle, 'again'> {
  const repeats = threads.flatMap((thread) => thread.repeats.filter(({ of }) => of === shortId));
  const tests = new Map(
    repeats.flatMap(({ origin }) => (origin ? [[`${origin.file}\n${origin.name.join('\n')}`, origin]] : [])),
  );
  const named = [...tests.values()].slice(0, mostAgain).map(asFacts);
  return repeats.length ? { again: { times: repeats.length, ...(named.length && { tests: named }) } } : {};
}

function hasFailedWithoutTests(threads: readonly LoggedThread[], pid: number | undefined): boolean {
  const own = threads.filter((thread) => thread.pid === pid);
  const exit = own.find(({ threadId }) => threadId === 0)?.exit;
  const isGood = ({ status }: LoggedTest): boolean => status === 'passed' || status === 'skipped';
  return (
    exit !== undefined &&
    exit.code !== 0 &&
    own.some(({ tests, dropped }) => tests.length + dropped.finished > 0) &&
    own.every(({ tests, dropped }) => dropped.failed === 0 && tests.every(isGood))
  );
}

interface Analyzed {
  account: Account;
  tookMs: number;
  trigger: string | undefined;
  isMainThread: boolean;
}

async function analyze(path: string): Promise<Analyzed> {
  const bundle = openBundle(path);
  try {
    const { kind, isMainThread } =
      bundle.readJson<{ kind?: string; isMainThread?: boolean }>('trigger.json') ?? {};
    const { createdAt = '', sealedAt = '' } = bundle.manifest ?? {};
    const tookMs = Date.parse(sealedAt) - Date.parse(createdAt);
    return {
      account: await analyzeBundle(bundle),
      tookMs,
      trigger: kind,
      isMainThread: isMainThread !== false,
    };
  } finally {
    bundle.close();
  }
}

/** `stuckAt`: when the bundle of a main thread was written. */
async function describeAccount(
  account: Account,
  threads: readonly LoggedThread[],
  stuckAt: string | undefined,
): Promise<Partial<CiBundle>> {
  const { verdict, process, error, signature } = account;
  const tests = process?.test;
  const pid = process?.pid;
  const isUnasked = verdict?.kind === 'event-loop-hang' && tests === undefined && stuckAt !== undefined;
  const test =
    testOf(tests) ??
    (pid === undefined || tests?.isFollowed ? undefined : startingTest(threads, pid)) ??
    (isUnasked && pid !== undefined ? onlyTestAt(stuckAt, pid, threads) : undefined);
  const frames = error?.frames ?? tellingThread(account)?.frames ?? suspendedFrames(account);
  const place = placeOfFrames(frames, test?.file) ?? (await placeOfAllocator(account, test?.file));
  const unfinished = (tests?.running ?? []).filter((one) => test === undefined || !isSame(one, test));
  return {
    ...(verdict && {
      kind: verdict.kind,
      title: verdict.title,
      summary: verdict.summary,
      confidence: verdict.confidence,
    }),
    ...(signature && { signature: signature.id }),
    ...(error?.handled && { handled: true }),
    ...(tests?.origin?.ended && { late: true }),
    ...(pid !== undefined && { pid }),
    ...(test && { test: { ...asFacts(test), ...(tests?.runner !== undefined && { runner: tests.runner }) } }),
    ...(!test && tests?.file !== undefined && { test: { file: tests.file, name: [] } }),
    ...(unfinished.length && { unfinished: unfinished.slice(0, 20).map(asFacts) }),
    ...(place && { place }),
    ...lastCalls(account.agent),
  };
}

/** A main thread that could not be asked, as it got no processor, can't name its test. Its log can, if only one never ended. */
function onlyTestAt(at: string, pid: number, threads: readonly LoggedThread[]): LoggedTest | undefined {
  const main = threads.filter(({ threadId }) => threadId === 0);
  const [only, ...others] = runningTests(main, pid).filter(
    ({ startedAt }) => Date.parse(startedAt) <= Date.parse(at),
  );
  return others.length === 0 ? only : undefined;
}

/** For a test that waits or waited: the stack of the place where it does, if the verdict names one. */
function suspendedFrames({ suspended = [], verdict }: Account): Frame[] {
  const { kind, place } = verdict ?? {};
  if (!place || !(kind === 'no-progress' || kind === 'snapshot' || kind === 'pending-exit')) return [];
  const isThere = ({ file, line }: Frame): boolean => file === place.file && line === place.line;
  return suspended.find(({ frames }) => frames.some(isThere))?.frames ?? [];
}

/** The thread that crashed, or, for a hang, the first with a stack; the main thread comes first. */
function tellingThread({ threads = [], verdict }: Account): Thread | undefined {
  const hung = verdict?.kind === 'event-loop-hang' && threads.find(({ frames }) => frames.length > 0);
  return threads.find(({ crashed }) => crashed) ?? (hung || undefined);
}

/**
 * For a full heap: the place that allocated most of its contents. The frames are positions in the code that ran, so they are
 * mapped here.
 */
async function placeOfAllocator(
  account: Account,
  testFile: string | undefined,
): Promise<CiPlace | undefined> {
  if (account.verdict?.kind !== 'heap-out-of-memory') return undefined;
  const stack = account.memory?.suspects?.find(({ rule }) => rule === 'allocations')?.evidence ?? [];
  const cwd = account.process?.cwd ?? '';
  const lines = stack.map(
    ({ fact }) => `    at ${fact.replace(/ \((?![/\w.-]+:\/\/|node:|\/)/, ` (${cwd}/`)}`,
  );
  return findFailurePlace(['Error', ...lines].join('\n'), testFile);
}

function isSame(one: RunningTestFacts, other: RunningTestFacts): boolean {
  return one.file === other.file && one.name.join('\n') === other.name.join('\n');
}

function asFacts({ file, name, startedAt }: RunningTestFacts): RunningTestFacts {
  return { ...(file !== undefined && { file }), name, ...(startedAt !== undefined && { startedAt }) };
}

function lastCalls(agent: AgentState | undefined): Pick<CiBundle, 'lastModelCall' | 'lastToolCall'> {
  const runs = agent?.runs ?? [];
  const model = runs.flatMap((run) => run.modelCalls ?? []).at(-1);
  const tool = runs.flatMap((run) => run.toolCalls ?? []).at(-1);
  const argumentsText = tool?.arguments === undefined ? '' : clip(JSON.stringify(tool.arguments), 120);
  return {
    ...(model && { lastModelCall: `${modelName(model)} ${model.status}` }),
    ...(tool && { lastToolCall: `${tool.name}(${argumentsText}) ${tool.status}` }),
  };
}

function findLogged(path: string, threads: readonly LoggedThread[]): DescribedBundle['logged'] {
  for (const { bundles, pid } of threads) {
    const found = bundles.find((bundle) => bundle.path === path);
    if (found) return { ...found, pid };
  }
  return undefined;
}

export function sizeOf(path: string): number {
  return statSync(path).size;
}
