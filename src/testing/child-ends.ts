/**
 * Writes into the log which of this thread's child processes died of a signal: whoever started a process is the only one
 * who is told. No listener is added: ends are looked for at the next start of one, and at the end. Children of spawnSync
 * and its kin are not seen.
 */
import type { ChildProcess } from 'node:child_process';
import type { TestLog } from './log.ts';

export class ChildEnds {
  readonly #log: TestLog;
  readonly #alive = new Set<ChildProcess>();

  constructor(log: TestLog) {
    this.#log = log;
    process.getBuiltinModule('node:diagnostics_channel').subscribe('child_process', (message) => {
      this.look();
      const { process: child } = message as { process?: ChildProcess };
      if (child) this.#alive.add(child);
    });
  }

  look(): void {
    for (const child of this.#alive) {
      const { pid, exitCode, signalCode, killed } = child;
      if (exitCode === null && signalCode === null) continue;
      this.#alive.delete(child);
      if (pid !== undefined && signalCode !== null)
        this.#log.write({ kind: 'child', pid, signal: signalCode, byParent: killed });
    }
  }
}
