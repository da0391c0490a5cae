/** The interface between sources of test events (a runner's hook, an explicit reporter) and the watch. */
import type { TestOrigin, TestPart, TestStatus, WorkerStacksNote } from '../../bundle/layout/tests.ts';
import type { CausalContext, Origin } from '../record/causal-context.ts';

export interface StartedTest {
  file?: string | undefined;
  name: readonly string[];
  /** Not a test, but code that runs around tests. It may hang or die as well, but is not counted as a test. */
  isHook?: boolean;
  /** Of a hook that `suiteStarting` tells: tests that have begun wait for it. */
  testsWait?: boolean;
  /** The runner's object for the parent, which waits for this one meanwhile. */
  within?: object | undefined;
}

export interface TestPort {
  /** Sets the runner's name once it is known, and the file that it runs here. */
  runnerIs(runner: string, file?: string): void;
  /** Set by a runner that reports no hooks around all tests: a hook that runs before the tests of a suite now. */
  suiteStarting?: (() => StartedTest | undefined) | undefined;
  /** Set by a runner that runs test files in contexts of `node:vm`: those that run now. */
  contextsOfTests?: (() => object[]) | undefined;
  /**
   * Returns the number to pass to `end`, or 0 if the test was not registered. `key` is the runner's own object for the test.
   */
  begin(test: StartedTest, key?: object): number;
  /** Must be called before its end: it turned out to be a suite, which like a hook is not counted as a test. */
  wasSuite(key: object): void;
  /**
   * `nextFollows`: the runner immediately reports what runs next, or calls `settle`; no code of the program runs in between.
   */
  end(test: number | object, status: TestStatus, error?: unknown, nextFollows?: boolean): void;
  /** For a test that had passed: an error after its end made the runner count it as failed. */
  failedLater(key: object, error: unknown): void;
  /** Revokes `nextFollows`: nothing follows immediately. */
  settle(): void;
  /** The context of the test with this object of the runner. `tell` describes it if nothing calls `begin` with the object. */
  contextOf(key: object, tell?: (atMs: number) => TestOrigin): Origin;
  /** Assigns the rest of this asynchronous flow to that test, or to a hook that runs around it, or to none without a key. */
  enter(key: object | undefined, as?: 'test' | 'hook'): void;
  /** Where contexts are stored, for code that enters them itself. */
  readonly causal: CausalContext;
  /** Whether contexts are tracked for tests here. */
  readonly isFollowed: boolean;
  /** The test or hook that this context belongs to, as of `atMs` (now without it). */
  describeOrigin(origin: Origin, atMs?: number): TestOrigin | undefined;
  /** Undefined while nothing is known about tests here. */
  describe(): TestPart | undefined;
  /** The stacks of this process's worker threads that `agentdump ci` captured when it stopped the run. */
  workerStacks(): WorkerStacksNote | undefined;
  /** True in a test runner between its tests or at its end: a failing exit code then only reports failed tests. */
  expectsExit(): boolean;
  /** A test, or a hook before one, has begun and not ended: an exit cuts it off. */
  isInTest(): boolean;
  /** Differs for each run of `agentdump ci`; undefined elsewhere. */
  readonly runFolder: string | undefined;
  /** True for npm or `node --test`: the processes that they start run the tests, and report them themselves. */
  readonly startsOthersOnly: boolean;
  /** Records that a bundle was just written in this thread. */
  noteBundle(path: string, trigger: string, handled: boolean): void;
  /** Records that the death of a bundle with this short id happened again, and was not stored. */
  noteRepeat(shortId: string, trigger: string): void;
  /** The thread exits by itself. */
  close(exitCode: number): void;
}
