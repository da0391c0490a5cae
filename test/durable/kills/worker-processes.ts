/** Processes of test/durable/programs that a test starts and kills. They print a line when they are at work. */
import { type ChildProcess, spawn } from 'node:child_process';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

export class WorkerProcesses {
  readonly #program: string;
  readonly #living = new Set<ChildProcess>();

  /** `program`: its file name. Processes that are left are killed when the tests of the file have ended. */
  constructor(program: string) {
    this.#program = fileURLToPath(new URL(`../programs/${program}`, import.meta.url));
    after(() => {
      for (const child of this.#living) child.kill('SIGKILL');
    });
  }

  /** Resolves when the process has started its work. */
  async begin(...words: string[]): Promise<ChildProcess> {
    const child = spawn(process.execPath, [this.#program, ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#living.add(child);
    child.once('exit', () => this.#living.delete(child));
    await new Promise((resolve, reject) => {
      child.stdout?.once('data', resolve);
      child.once('exit', (code) => reject(new Error(`${words[0]} ended at once: ${code}`)));
    });
    return child;
  }

  async kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#living].map((child) => this.kill(child)));
  }
}
