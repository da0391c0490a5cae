/**
 * Notices that the program's heap is full. V8 can't write a snapshot then, and the process is about to abort. But before that
 * Node writes its report into our private folder (arm.ts). So the process is stopped as soon as the report's file appears;
 * full-heap.ts then copies its memory, resumes it, and has the heap read from the copy. Modules that only such a death needs
 * are imported on demand.
 */
import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { platform } from '../../platform/index.ts';
import { freeze } from '../../platform/signals.ts';
import type { FullHeap, FullHeapOptions } from './full-heap.ts';

/** Node's default name: report.<date>.<time>.<pid>.<thread>.<number>.json (process.report.filename). */
const reportName = /^report\.\d+\.\d+\.(\d+)\.\d+\.\d+\.json$/;

/** Undefined if the heap is not wanted or can't be read. `folder`: where Node will write its report. */
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
    // The limit on file watches is reached. The kernel's core is used instead, if there is one.
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

  /** Called when the process has ended. Resolves with what was read, or is being read; undefined if its heap was not full. */
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
    // The report may be that of a child process with the same options, which is handled elsewhere.
    if (this.#seen || pidOf(name) !== this.#pid) return;
    try {
      freeze(this.#pid);
    } catch {
      return;
    }
    this.#seen = import('./full-heap.ts').then(({ readFullHeap }) => readFullHeap(this.#pid, this.#options));
    // It was a report on request; the process continues.
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
