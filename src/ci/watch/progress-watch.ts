/**
 * Detects whether tests or processes still start and end, from the growth of their logs. Until the first does, time counts
 * from the start of the command. Also checks the job's time limit.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { testLogName } from '../../bundle/layout/tests.ts';
import type { CiOptions } from '../options.ts';

type Stop = (why: 'hang' | 'job-limit', afterMs: number) => void;

const longestStepMs = 1_000;

export class ProgressWatch {
  readonly #folder: string;
  readonly #options: Pick<CiOptions, 'hangAfterMs' | 'stopAfterMs'>;
  readonly #stop: Stop;
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #movedMs = performance.now();

  constructor(folder: string, options: Pick<CiOptions, 'hangAfterMs' | 'stopAfterMs'>, stop: Stop) {
    this.#folder = folder;
    this.#options = options;
    this.#stop = stop;
    const shortest = Math.min(options.hangAfterMs ?? Infinity, options.stopAfterMs ?? Infinity);
    if (shortest === Infinity) return;
    this.#timer = setInterval(() => this.#look(), Math.min(longestStepMs, Math.max(50, shortest / 10)));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const { hangAfterMs = Infinity, stopAfterMs = Infinity } = this.#options;
    const sinceStartMs = now - this.#startedMs;
    const bytes = this.#measure();
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#movedMs = now;
    }
    const silentMs = now - this.#movedMs;
    if (sinceStartMs > stopAfterMs) this.#end('job-limit', sinceStartMs);
    else if (silentMs > hangAfterMs) this.#end('hang', silentMs);
  }

  #end(why: 'hang' | 'job-limit', afterMs: number): void {
    this.close();
    this.#stop(why, afterMs);
  }

  #measure(): number {
    let bytes = 0;
    for (const name of this.#names())
      if (testLogName.test(name))
        bytes += statSync(join(this.#folder, name), { throwIfNoEntry: false })?.size ?? 0;
    return bytes;
  }

  /** Empty if the folder was removed; then there is no more progress. */
  #names(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      return [];
    }
  }
}
