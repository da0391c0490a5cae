/**
 * A heap that has run out of memory: V8 can't write a snapshot of it any more, and it is gone in a moment. But Node writes
 * its report first, into our private folder (arm.ts), and does not end before that is written. So the process is stopped as
 * soon as the report's file appears; full-heap.ts copies its memory, lets it go, and has the heap read out of the copy.
 * Lean: what is needed at such a death only is imported then.
 */
import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { platform } from '../../platform/index.ts';
import { freeze } from '../../platform/signals.ts';
import type { FullHeap, FullHeapOptions } from './full-heap.ts';

/** Node's default name: report.<date>.<time>.<pid>.<thread>.<number>.json (process.report.filename). */
const reportName = /^report\.\d+\.\d+\.(\d+)\.\d+\.\d+\.json$/;

/** Undefined where nothing is to be read, or nothing can be. `folder`: where Node's report will be. */
export function watchFullHeap(
  pid: number,
  folder: string | undefined,
  options: FullHeapOptions,
): FullHeapWatch | undefined {
  const isWanted = process.env['AGENTDUMP_HEAP']?.trim().toLowerCase() !== 'off';
  if (!isWanted || folder === undefined || !platform.hasProcessFiles || process.arch !== 'x64')
    return undefined;
  try {
    return new FullHeapWatch(pid, folder, options);
  } catch {
    // No more watches are to be had: what the kernel leaves of it is read then.
    return undefined;
  }
}

export class FullHeapWatch {
  readonly #pid: number;
  readonly #folder: string;
  readonly #options: FullHeapOptions;
  readonly #watcher: FSWatcher;
  #seen: Promise<FullHeap | undefined> | undefined;

  constructor(pid: number, folder: string, options: FullHeapOptions) {
    this.#pid = pid;
    this.#folder = folder;
    this.#options = options;
    this.#watcher = watch(folder, { persistent: false }, (_, name) => this.#see(name ?? ''));
    this.#watcher.on('error', () => {});
  }

  /** The process is no more. What was read of it, or is being read; undefined where its heap was not full. */
  end(): Promise<FullHeap | undefined> {
    this.#watcher.close();
    if (!this.#seen && namesIn(this.#folder).some((name) => pidOf(name) === this.#pid))
      this.#seen = Promise.resolve({
        pid: this.#pid,
        gap: 'the process had ended before its memory could be copied',
      });
    return this.#seen ?? Promise.resolve(undefined);
  }

  #see(name: string): void {
    // A child of its own may have been started with the same options; it is told of elsewhere.
    if (this.#seen || pidOf(name) !== this.#pid) return;
    try {
      freeze(this.#pid);
    } catch {
      return;
    }
    this.#seen = import('./full-heap.ts').then(({ readFullHeap }) => readFullHeap(this.#pid, this.#options));
    // A report that was asked for; the process lives on.
    this.#seen.then((heap) => {
      if (!heap) this.#seen = undefined;
    });
  }
}

const pidOf = (name: string): number => Number(reportName.exec(name)?.[1] ?? 0);

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
