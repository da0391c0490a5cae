/** What whoever knows of tests (a runner's hook, an explicit reporter) tells the watch, and what the watch can say. */
import type { TestOrigin, TestPart, TestStatus, WorkerStacksNote } from '../../bundle/layout/tests.ts';
import type { CausalContext, Origin } from '../record/causal-context.ts';

export interface StartedTest {
  file?: string | undefined;
  name: readonly string[];
  /** Not a test but what runs around tests: it may hang or die too, and is not counted among them. */
  isHook?: boolean;
  /** The runner's object for what this one belongs to, which waits for it meanwhile. */
  within?: object | undefined;
}

export interface TestPort {
  /** The runner's name, once it is known, with the file that it runs here. */
  runnerIs(runner: string, file?: string): void;
  /** Returns the number by which it ends; 0 when it was not taken. `key` is the runner's own object for the test. */
  begin(test: StartedTest, key?: object): number;
  /** Before its end: it was a suite all along, and is no more counted than a hook. */
  wasSuite(key: object): void;
  /** `nextFollows`: the runner tells at once of what runs next, or calls `settle`; nothing of the program's runs before. */
  end(test: number | object, status: TestStatus, error?: unknown, nextFollows?: boolean): void;
  /** A test that had passed: an error that came after its end made the runner count it as failed. */
  failedLater(key: object, error: unknown): void;
  /** After all, nothing follows at once. */
  settle(): void;
  /** The context of the test that this object of its runner's stands for; `tell` where nobody calls `begin` with it. */
  contextOf(key: object, tell?: () => TestOrigin): Origin;
  /** From here on, in this asynchronous flow, all belongs to that test; to none without a key. */
  enter(key: object | undefined): void;
  /** Where contexts are kept, for what enters them by itself. */
  readonly causal: CausalContext;
  /** Whether tests have contexts here. */
  readonly isFollowed: boolean;
  /** The test, or hook, whose context this is; undefined for another. */
  describeOrigin(origin: Origin): TestOrigin | undefined;
  /** undefined while nothing is known of tests here. */
  describe(): TestPart | undefined;
  /** What `agentdump ci` saw of this process's worker threads when it stopped the run. */
  workerStacks(): WorkerStacksNote | undefined;
  /** A runner of tests, between its tests or at its end: a failing exit code only counts what failed. */
  expectsExit(): boolean;
  /** npm, or `node --test`: the processes that it starts run the tests, and tell of themselves. */
  readonly startsOthersOnly: boolean;
  /** A bundle was written in this thread, now. */
  noteBundle(path: string, trigger: string, handled: boolean): void;
  /** The thread ends by itself. */
  close(exitCode: number): void;
}
