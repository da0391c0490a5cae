/**
 * Logs which of this thread's child processes died from a signal, because only the parent of a process learns that. No
 * listener is added: exits are checked when the next child is started, and at the end. Children of spawnSync and similar
 * functions are not seen.
 *
 * Also keeps what V8 prints when a heap is full: jest terminates a worker as soon as it reads that, before Node has written
 * its report.
 */
import type { ChildProcess } from 'node:child_process';
import { guarded } from '../agent/taps/guard.ts';
import { seePushed } from '../agent/taps/pushed.ts';
import { readLastGcs } from './last-gcs.ts';
import type { TestLog } from './log.ts';

/** Captured at load, because a test may replace it. */
const { nextTick } = process;

export class ChildEnds {
  readonly #log: TestLog;
  readonly #alive = new Set<ChildProcess>();
  readonly #lastGcs = new WeakMap<ChildProcess, string[]>();

  constructor(log: TestLog) {
    this.#log = log;
    const hear = guarded((message: unknown) => {
      this.look();
      const { process: child } = message as { process?: ChildProcess };
      if (!child) return;
      this.#alive.add(child);
      // The child has no streams before it is spawned, and nothing is read before the next tick.
      nextTick(guarded(() => this.#listen(child)));
    });
    process.getBuiltinModule('node:diagnostics_channel').subscribe('child_process', hear);
  }

  /** A data listener would start the flow of a stream that its owner may want to read later. */
  #listen(child: ChildProcess): void {
    if (!child.stderr) return;
    seePushed(child.stderr, (chunk) => {
      const lines = Buffer.isBuffer(chunk) ? readLastGcs(chunk) : undefined;
      if (lines) this.#lastGcs.set(child, lines);
    });
  }

  look(): void {
    for (const child of this.#alive) {
      const { pid, exitCode, signalCode, killed } = child;
      if (exitCode === null && signalCode === null) continue;
      this.#alive.delete(child);
      if (pid === undefined || signalCode === null) continue;
      const lastGcs = this.#lastGcs.get(child);
      const line = { kind: 'child', pid, signal: signalCode, byParent: killed } as const;
      this.#log.write({ ...line, ...(lastGcs && { lastGcs }) });
    }
  }
}
