/** The asynchronous context of one test: who it is, as far as its runner has told by then. */
import type { Origin } from '../agent/record/causal-context.ts';
import type { RunningTest, TestOrigin, TestStatus } from '../bundle/layout/tests.ts';

const { now } = Date;

/** A test that has begun, as the watch keeps it. */
export interface OpenTest extends Omit<RunningTest, 'startedAt'> {
  id: number;
  fullName: string;
  startedMs: number;
  /** By the clock that nobody sets. */
  sinceMs: number;
  hook?: true;
  outer?: OpenTest;
  /** Those within it that run: it waits for them. */
  inner: number;
  ended?: { status: TestStatus; atMs: number };
}

export class TestContext implements Origin {
  readonly kind = 'test';
  readonly #tell: (() => TestOrigin) | undefined;
  /** The newest of its tries. */
  #test: OpenTest | undefined;

  constructor(tell?: () => TestOrigin) {
    this.#tell = tell;
  }

  began(test: OpenTest): void {
    this.#test = test;
  }

  describe(): TestOrigin | undefined {
    const test = this.#test;
    if (!test) return this.#tell?.();
    const { file, name, startedMs, hook, ended } = test;
    return {
      ...(file !== undefined && { file }),
      name,
      startedAt: new Date(startedMs).toISOString(),
      ...(hook && { hook }),
      ...(ended && { ended: { status: ended.status, beforeMs: now() - ended.atMs } }),
    };
  }
}
