/**
 * Watches how near the program's memory cgroups are to their limits. The kernel kills without a warning, and leaves nothing
 * to read. So the program's memory is copied once when a limit is near, and its heap is read from the copy if the program is
 * killed. What only such a program needs is imported on demand (near-limit.ts).
 */
import { findMemoryCgroup, readCgroupMemory, readGroupLimits } from '../../platform/cgroup.ts';
import { platform } from '../../platform/index.ts';
import type { FullHeap } from './full-heap.ts';
import type { NearLimitCopy, NearLimitOptions } from './near-limit.ts';

/** Memory may grow by 1 GB a second: from half of the threshold on, it is looked at more often. */
const farMs = 250;
const nearMs = 50;
/** While there is no limit. */
const unlimitedMs = 2000;
const defaultPercent = 70;

/** Undefined if the heap is not wanted or can't be read. */
export function watchNearLimit(
  pid: number,
  variables: Readonly<Record<string, string | undefined>>,
  options: Omit<NearLimitOptions, 'percent'>,
): NearLimitWatch | undefined {
  const isWanted = variables['AGENTDUMP_HEAP']?.trim().toLowerCase() !== 'off';
  const percent = Number(variables['AGENTDUMP_MEMORY_PERCENT']?.trim() || defaultPercent);
  const isPossible = platform.hasProcessFiles && process.arch === 'x64';
  if (!isWanted || !isPossible || !(percent > 0 && percent <= 100)) return undefined;
  return new NearLimitWatch(pid, { ...options, percent });
}

export class NearLimitWatch {
  readonly #pid: number;
  readonly #options: NearLimitOptions;
  readonly #killsBefore: number;
  #timer: NodeJS.Timeout | undefined;
  #group: string | undefined;
  #copy: Promise<NearLimitCopy> | undefined;

  constructor(pid: number, options: NearLimitOptions) {
    this.#pid = pid;
    this.#options = options;
    this.#group = findMemoryCgroup(pid);
    this.#killsBefore = this.#kills();
    this.#later(nearMs);
  }

  /** Call it when the program has ended. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** For a program that was killed. Undefined if no limit was near before. */
  async read(): Promise<FullHeap | undefined> {
    return (await this.#copy)?.read();
  }

  /** For a program that was not killed. */
  async discard(): Promise<void> {
    (await this.#copy)?.close();
  }

  /** Whether the kernel has killed a process in its cgroup. */
  get hasKilled(): boolean {
    return this.#kills() > this.#killsBefore;
  }

  #kills(): number {
    return (this.#group === undefined ? undefined : readCgroupMemory(this.#group).oomKills) ?? 0;
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    // A shell may move itself to another group before it becomes the program.
    this.#group = findMemoryCgroup(this.#pid) ?? this.#group;
    const limits = this.#group === undefined ? [] : readGroupLimits(this.#group);
    const share = Math.max(0, ...limits.map(({ max, used }) => used / max));
    const threshold = this.#options.percent / 100;
    if (share < threshold) {
      this.#later(limits.length === 0 ? unlimitedMs : share < threshold / 2 ? farMs : nearMs);
      return;
    }
    this.#copy = import('./near-limit.ts').then(({ NearLimitCopy }) =>
      NearLimitCopy.of(this.#pid, share, this.#options),
    );
  }
}
