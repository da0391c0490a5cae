/** The asynchronous context of one test: its identity, as far as the runner has reported it so far. */
import type { Origin } from '../agent/record/causal-context.ts';
import type { RunningTest, TestOrigin, TestStatus } from '../bundle/layout/tests.ts';

const { now } = Date;

/** A test that has started, as stored by the watch. */
export interface OpenTest extends Omit<RunningTest, 'startedAt'> {
  id: number;
  fullName: string;
  startedMs: number;
  /** From the monotonic clock. */
  sinceMs: number;
  hook?: true;
  outer?: OpenTest;
  /** The number of running tests inside of it, for which it waits. */
  inner: number;
  ended?: { status: TestStatus; atMs: number };
}

export class TestContext implements Origin {
  readonly kind = 'test';
  readonly #tell: ((atMs: number) => TestOrigin | undefined) | undefined;
  /** The newest attempt. */
  #test: OpenTest | undefined;

  constructor(tell?: (atMs: number) => TestOrigin | undefined) {
    this.#tell = tell;
  }

  began(test: OpenTest): void {
    this.#test = test;
  }

  describe(atMs = now()): TestOrigin | undefined {
    const test = this.#test;
    if (!test) return this.#tell?.(atMs);
    const { file, name, startedMs, hook, ended } = test;
    return {
      ...(file !== undefined && { file }),
      name,
      startedAt: new Date(startedMs).toISOString(),
      ...(hook && { hook }),
      ...(ended && { ended: { status: ended.status, beforeMs: Math.max(0, atMs - ended.atMs) } }),
    };
  }
}
