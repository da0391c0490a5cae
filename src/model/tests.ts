/** What an account tells of the tests that ran when it happened. */

export interface RunningTestFacts {
  file?: string;
  /** From the outermost suite to the test. */
  name: string[];
  startedAt?: string;
}

export interface TestFacts {
  runner?: string;
  /** The file that was being run. */
  file?: string;
  /** Started and not finished, the newest first: the first is the one that ran. */
  running?: RunningTestFacts[];
  /** The one in whose asynchronous context it happened; `running` are then those that ran beside it. */
  origin?: RunningTestFacts & { hook?: true; ended?: { status?: string; beforeMs?: number } };
  /** Tests have contexts here: without an origin it is not known which one began it. */
  isFollowed?: true;
  finished?: number;
  failed?: number;
  /** The account is about this test, which had just failed. */
  failure?: RunningTestFacts & { errorName?: string; message?: string; stackText?: string };
  /** The process was started in this test of another process. */
  startedBy?: RunningTestFacts;
  /** The run was stopped before its end. */
  stop?: { why?: 'hang' | 'job-limit' | 'cancelled'; afterMs?: number; signal?: string; at?: string };
}

/**
 * The test that the account is about: the one that failed, the one in whose context it happened, the running one if tests
 * have no contexts, or the one that started the process.
 */
export function testOf(tests: TestFacts | undefined): RunningTestFacts | undefined {
  if (!tests) return undefined;
  const { failure, origin, isFollowed, running, startedBy } = tests;
  return failure ?? origin ?? (isFollowed ? undefined : running?.[0]) ?? startedBy;
}

/** The test that is known to have caused it: it failed, or it happened in its context. */
export function culpritTest({ failure, origin }: TestFacts = {}): string | undefined {
  const test = failure ?? origin;
  return test?.name.length ? testTitle(test) : undefined;
}

/** `suite › test`; undefined without a named test. */
export function testName(tests: TestFacts | undefined): string | undefined {
  const test = testOf(tests);
  return test?.name.length ? testTitle(test) : undefined;
}

export function testTitle({ name }: RunningTestFacts): string {
  return name.join(' › ');
}
