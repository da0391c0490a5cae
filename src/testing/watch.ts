/**
 * Which test runs in this thread, as reported by the runner's hooks. Kept in memory for `test.json`, and in a log for deaths
 * at which nothing can be written. Knows no runner, and writes no bundle by itself.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StartedTest, TestPort } from '../agent/api/test-port.ts';
import type { CausalContext, Origin } from '../agent/record/causal-context.ts';
import {
  type RunningTest,
  type TestFailure,
  type TestLogLine,
  type TestOrigin,
  type TestPart,
  type TestStatus,
  type TestStop,
  testStopName,
  type WorkerStacksNote,
  workerStacksName,
} from '../bundle/layout/tests.ts';
import { describeFailure } from './failure.ts';
import type { TestLog } from './log.ts';
import { watchSentRequests } from './sent-requests.ts';
import { type OpenTest, TestContext } from './test-context.ts';

export interface WatchOptions {
  causal: CausalContext;
  /** The run's private folder; absent outside of `agentdump ci`. */
  folder?: string;
  log?: TestLog;
  /** Writes a light bundle and returns its path; the process continues. */
  snapshot?(reason: string): string | undefined;
  /** For each failed test, not only for those that reached their time limit. */
  snapshots?: boolean;
  /** Tests that run in other threads of this process. */
  others?(): RunningTest[];
  /** Called between two tests: the number of tests that have started or ended, and whether others are running. */
  betweenTests?(tests: number, othersRun: boolean): void;
  startsOthersOnly?: boolean;
}

/** Not `performance`, which takes most of a millisecond to load. Captured, because a test may replace either clock. */
const { hrtime } = process;
const { now } = Date;
/** How the runners say that a test reached its time limit, or waits for what nothing can settle. */
const reachedLimit =
  /^(?:thrown: ")?(?:test timed out after|(?:Test|Hook) timed out in|Timeout of [\d.]+m?s exceeded|Exceeded timeout of|Test timeout|timeout!$|Promise returned by test never resolved|Promise resolution is still pending)/;
const longestName = 400;
const mostRunning = 200;
/** Per thread, no more snapshots than this are taken of failing tests. */
const mostSnapshots = 5;
/** Of tests that reached their time limit. */
const mostOfLimits = 2;

export class TestWatch implements TestPort {
  readonly startsOthersOnly: boolean;
  suiteStarting: TestPort['suiteStarting'];
  contextsOfTests: TestPort['contextsOfTests'];
  /** The hook that `suiteStarting` told at the last look, until a test begins. */
  #seenHook: number | undefined;
  readonly #options: WatchOptions;
  readonly #running = new Map<number, OpenTest>();
  /** A runner's hook and an explicit reporter may both report a test. */
  readonly #idsByName = new Map<string, number>();
  readonly #ids = new WeakMap<object, number>();
  readonly #contexts = new WeakMap<object, TestContext>();
  #isFollowed = false;
  #runner: string | undefined;
  #file: string | undefined;
  /** The number of running tests that wait for others. */
  #waiting = 0;
  #lastId = 0;
  #begun = 0;
  #finished = 0;
  #failed = 0;
  #snapshots = 0;
  #failure: TestPart['failure'];

  constructor(options: WatchOptions) {
    this.#options = options;
    this.startsOthersOnly = options.startsOthersOnly === true;
  }

  runnerIs(runner: string, file?: string): void {
    if (this.#runner === runner && (file === undefined || this.#file === file)) return;
    this.#runner = runner;
    this.#file = file ?? this.#file;
    this.#log({ kind: 'runner', runner, ...(file !== undefined && { file }) });
  }

  begin({ file, name, isHook, within }: StartedTest, key?: object): number {
    this.#endSeenHook();
    const fullName = name.join('\n');
    const known = this.#idsByName.get(fullName);
    const id = known ?? ++this.#lastId;
    if (key) this.#ids.set(key, id);
    if (known !== undefined) {
      const running = this.#running.get(known);
      if (key && running) this.#keyed(key).began(running);
      return known;
    }
    // If a runner starts all tests at once (ava), the earlier ones have run without being reported yet.
    const outer = within && this.#running.get(this.#ids.get(within) ?? 0);
    if (outer && outer.inner++ === 0) this.#waiting++;
    this.#options.betweenTests?.(this.#begun, this.#running.size > this.#waiting);
    if (!isHook) this.#begun++;
    const test = {
      ...(file !== undefined && { file }),
      name: name.map((title) => String(title).slice(0, longestName)),
      startedMs: Date.now(),
      ...(isHook && { hook: true as const }),
    };
    this.#idsByName.set(fullName, id);
    const opened: OpenTest = {
      ...test,
      id,
      fullName,
      sinceMs: clockMs(),
      inner: 0,
      ...(outer && { outer }),
    };
    this.#running.set(id, opened);
    if (key) this.#keyed(key).began(opened);
    this.#log({ kind: 'start', id, ...test });
    return id;
  }

  /** At a death, an exit or a look: hooks that are not reported are asked for. */
  #lookForHook(): void {
    if (this.#seenHook !== undefined) return;
    const hasTest = [...this.#running.values()].some(({ inner, hook }) => inner === 0 && !hook);
    try {
      const hook = this.suiteStarting?.();
      if (hook && (hook.testsWait || !hasTest)) this.#seenHook = this.begin(hook);
    } catch {
      // The runner's shape differs from that of the known versions.
    }
  }

  #endSeenHook(): void {
    const id = this.#seenHook;
    this.#seenHook = undefined;
    if (id !== undefined) this.end(id, 'passed');
  }

  wasSuite(key: object): void {
    const suite = this.#running.get(this.#ids.get(key) ?? 0);
    if (!suite || suite.hook) return;
    suite.hook = true;
    this.#begun--;
  }

  end(test: number | object, status: TestStatus, error?: unknown, nextFollows = false): void {
    const id = typeof test === 'number' ? test : this.#ids.get(test);
    const running = id === undefined ? undefined : this.#running.get(id);
    if (id === undefined || !running) return;
    const { sinceMs, fullName, hook, outer } = running;
    const tookMs = Math.round((clockMs() - sinceMs) * 10) / 10;
    const failure = status === 'failed' ? describeFailure(error) : undefined;
    const bundle = failure && this.#snapshotOf(asTold(running), failure);
    running.ended = { status, atMs: now() };
    this.#running.delete(id);
    this.#idsByName.delete(fullName);
    if (running.inner > 0) this.#waiting--;
    if (outer && --outer.inner === 0 && this.#running.has(outer.id)) this.#waiting--;
    if (!hook) this.#finished++;
    if (failure) this.#failed++;
    const line: TestLogLine = {
      kind: 'end',
      id,
      status,
      tookMs,
      ...(hook && { hook }),
      ...(failure && { error: failure }),
      ...(bundle !== undefined && { bundle }),
    };
    // The start of the next test implies the end of this one.
    this.#log(line, nextFollows && !failure);
    this.#options.betweenTests?.(this.#finished, this.#running.size > this.#waiting);
  }

  failedLater(key: object, error: unknown): void {
    const id = this.#ids.get(key);
    if (id === undefined || this.#running.has(id)) return;
    this.#failed++;
    this.#log({ kind: 'failed', id, error: describeFailure(error) });
  }

  settle(): void {
    this.#options.log?.flush();
  }

  describe(): TestPart | undefined {
    this.#lookForHook();
    const own = [...this.#running.values()]
      .filter(({ inner }) => inner === 0)
      .reverse()
      .map(asTold);
    const running = [...own, ...(this.#options.others?.() ?? [])].slice(0, mostRunning);
    const stop = this.#readNote<TestStop>(testStopName);
    const isSilent = this.#runner === undefined && running.length === 0 && this.#finished === 0;
    if (isSilent && !stop) return undefined;
    return {
      ...(this.#runner !== undefined && { runner: this.#runner }),
      ...(this.#file !== undefined && { file: this.#file }),
      running,
      finished: this.#finished,
      failed: this.#failed,
      ...(this.#failure && { failure: this.#failure }),
      ...(stop && { stop }),
    };
  }

  workerStacks(): WorkerStacksNote | undefined {
    return this.#readNote(workerStacksName(process.pid));
  }

  expectsExit(): boolean {
    if (this.startsOthersOnly) return true;
    this.#lookForHook();
    return this.#runner !== undefined && this.#running.size === 0;
  }

  isInTest(): boolean {
    return this.unfinished() > 0;
  }

  /** Without suites, and hooks that run after tests: programs may end their process there. */
  unfinished(): number {
    this.#lookForHook();
    let count = 0;
    for (const { hook, name } of this.#running.values())
      if (!hook || /\bbefore(?:All)?\b/.test(name.at(-1) ?? '')) count++;
    return count;
  }

  get causal(): CausalContext {
    return this.#options.causal;
  }

  get runFolder(): string | undefined {
    return this.#options.folder;
  }

  get isFollowed(): boolean {
    return this.#isFollowed;
  }

  contextOf(key: object, tell?: (atMs: number) => TestOrigin): Origin {
    this.#follow();
    return this.#keyed(key, tell);
  }

  enter(key: object | undefined, as: 'test' | 'hook' = 'test'): void {
    this.causal.enter(key && (as === 'hook' ? this.#aroundTest(key) : this.contextOf(key)));
  }

  #aroundTest(key: object): TestContext {
    this.#follow();
    const test = this.#keyed(key);
    return new TestContext((atMs) => {
      const origin = test.describe(atMs);
      return origin && { ...origin, hook: true };
    });
  }

  describeOrigin(origin: Origin, atMs?: number): TestOrigin | undefined {
    return this.#testOf(origin)?.describe(atMs);
  }

  #testOf(origin: Origin | undefined): TestContext | undefined {
    for (let one = origin; one; one = one.parent) if (one instanceof TestContext) return one;
    return undefined;
  }

  #follow(): void {
    if (this.#isFollowed) return;
    this.#isFollowed = true;
    const { senderOf, senderOn } = watchSentRequests(() => this.#testOf(this.causal.current));
    this.causal.senderOn = senderOn;
    this.causal.testOfRequest = (arrived, owner) =>
      (arrived && senderOf(arrived)) ?? (this.#isOnlyRunning(owner) ? owner : undefined);
  }

  /** A server may outlive the test that started it, and answer the requests of others. */
  #isOnlyRunning(owner: Origin | undefined): boolean {
    const running = [...this.#running.values()].filter(({ inner }) => inner === 0);
    const [only] = running;
    const owning = this.#testOf(owner)?.describe();
    return (
      running.length === 1 &&
      owning !== undefined &&
      !owning.ended &&
      owning.name.join('\n') === only?.name.join('\n') &&
      owning.file === only.file
    );
  }

  #keyed(key: object, tell?: (atMs: number) => TestOrigin): TestContext {
    const known = this.#contexts.get(key);
    if (known) return known;
    const made = new TestContext(tell);
    this.#contexts.set(key, made);
    return made;
  }

  noteBundle(path: string, trigger: string, handled: boolean): void {
    this.#log({ kind: 'bundle', path, trigger, handled, ...this.#ownerOf(trigger) });
  }

  noteRepeat(shortId: string, trigger: string): void {
    this.#log({ kind: 'repeat', of: shortId, ...this.#ownerOf(trigger) });
  }

  #ownerOf(trigger: string): { isFollowed?: true; origin?: TestOrigin } {
    if (!this.#isFollowed || !/exception|rejection|stall|^exit/.test(trigger)) return {};
    const { current } = this.causal;
    const origin = current && this.describeOrigin(current);
    return { isFollowed: true, ...(origin && { origin }) };
  }

  close(): void {
    this.#options.log?.close();
  }

  /** The lines that a restarted log must contain. */
  restate(): TestLogLine[] {
    const lines: TestLogLine[] = [{ kind: 'counts', finished: this.#finished, failed: this.#failed }];
    if (this.#runner !== undefined)
      lines.push({
        kind: 'runner',
        runner: this.#runner,
        ...(this.#file !== undefined && { file: this.#file }),
      });
    for (const [id, { file, name, startedMs, hook }] of this.#running)
      lines.push({
        kind: 'start',
        id,
        ...(file !== undefined && { file }),
        name,
        startedMs,
        ...(hook && { hook }),
      });
    return lines;
  }

  #snapshotOf(test: RunningTest, error: TestFailure): string | undefined {
    const { snapshot, snapshots } = this.#options;
    if (!snapshot || this.#snapshots >= mostSnapshots) return undefined;
    // Only the process itself can tell what the test waited for, and only now.
    if (!snapshots && (this.#snapshots >= mostOfLimits || !reachedLimit.test(error.message)))
      return undefined;
    this.#snapshots++;
    this.#failure = { ...test, error };
    try {
      return snapshot(`the test failed: ${error.message.split('\n')[0]}`);
    } finally {
      this.#failure = undefined;
    }
  }

  #log(line: TestLogLine, waits = false): void {
    this.#options.log?.write(line, waits);
  }

  #readNote<Note>(name: string): Note | undefined {
    if (this.#options.folder === undefined) return undefined;
    try {
      return JSON.parse(readFileSync(join(this.#options.folder, name), 'utf8')) as Note;
    } catch {
      return undefined;
    }
  }
}

function asTold({ file, name, startedMs }: OpenTest): RunningTest {
  return { ...(file !== undefined && { file }), name, startedAt: new Date(startedMs).toISOString() };
}

function clockMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
