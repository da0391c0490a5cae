/** A program of the life benchmarks (work.cjs) that works on command, and the process that it talks to (server.mjs). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { preload } from '../../support/victims/run-victim.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const program = here('./work.cjs');
const agentsFolder = here('../../agents');

export interface Life {
  work: string;
  output?: 'pipe' | 'file' | '/dev/null';
  /** Environment variables beside the preload; undefined: no preload. */
  env: Record<string, string> | undefined;
}

/** The folder of the programs, and their peer. */
export interface Place {
  dir: string;
  /** The URL of the peer. */
  origin: string;
  close(): void;
}

export async function openPlace(): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-life-'));
  const server = spawn(process.execPath, [here('./server.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  return {
    dir,
    origin: `http://127.0.0.1:${String(port).trim()}`,
    close() {
      server.kill();
      // A program that has just been ended may still be writing.
      rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export class Subject {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  constructor(node: string, { work, output = '/dev/null', env }: Life, { dir, origin }: Place) {
    const words = [...(env ? ['--require', preload] : []), program, work, origin, agentsFolder];
    const stdout =
      output === 'pipe' ? 'pipe' : openSync(output === 'file' ? join(dir, 'out.log') : output, 'w');
    this.#child = spawn(node, words, {
      cwd: dir,
      stdio: ['pipe', stdout, 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: dir, ...env },
    });
    this.#child.stdout?.resume();
    this.#answers = createInterface({ input: this.#child.stdio[3] as Readable })[Symbol.asyncIterator]();
  }

  /** Milliseconds of CPU. */
  async work(count: number): Promise<number> {
    this.#child.stdin?.write(`${count}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error('the program ended by itself');
    return Number(value);
  }

  memory(): Record<'rss' | 'pss' | 'private', number> {
    const rollup = readFileSync(`/proc/${this.#child.pid}/smaps_rollup`, 'utf8');
    const mb = (name: string): number =>
      Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(rollup)?.[1]) / 1024;
    return { rss: mb('Rss'), pss: mb('Pss'), private: mb('Private_Dirty') + mb('Private_Clean') };
  }

  async end(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}
