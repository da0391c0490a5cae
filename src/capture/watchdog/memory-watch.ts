/**
 * Memory near its limit: looked at whenever the watchdog asks for a sign of life, so without a timer of its own. Half way
 * to the threshold the profile of allocations is armed; at the threshold one light snapshot is taken, once; from then on
 * the profile goes into the journal each time that memory has grown by a twentieth of its limit, because a heap that
 * runs out of memory lets nobody write. Measured on a busy machine of two cores: 10 µs a look on Node 22 to 26, 17 on 20;
 * the profile 3 to 9 % of the CPU time of a program that only allocates.
 */
import type { HeapProfilePart } from '../../bundle/layout.ts';
import { findMemoryCgroup, readCgroupMemory } from '../../journal/cgroup.ts';
import { AllocationProfile } from './allocation-profile.ts';

export interface MemoryWatchOptions {
  /** Share of the limit, in percent. */
  percent: number;
  /** Has a journal opened if there is none, and the profile written to it. */
  note(profile: HeapProfilePart): void;
  /** Takes the one snapshot. */
  snapshot(reason: string): void;
}

interface Reading {
  name: string;
  used: number;
  limit: number;
}

/** The largest that is known. */
const youngBytes = 192 * 1024 * 1024;
const stepShare = 0.05;
/** Files of the cgroup are read at every so-many-th look. */
const groupEvery = 5;

export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #profile = new AllocationProfile();
  readonly #cgroup = findMemoryCgroup();
  #looks = 0;
  #hasSnapshot = false;
  #notedShare = 0;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  look(): void {
    const tightest = this.#readings().sort((a, b) => b.used / b.limit - a.used / a.limit)[0];
    if (!tightest) return;
    const share = tightest.used / tightest.limit;
    const threshold = this.#options.percent / 100;
    if (share >= threshold / 2 && !this.#profile.isArmed) this.#profile.arm(tightest.limit);
    if (share >= threshold && share >= this.#notedShare + stepShare) this.#report(tightest, share);
  }

  stop(): void {
    this.#profile.disarm();
  }

  #report({ name, used, limit }: Reading, share: number): void {
    this.#notedShare = share;
    const profile = this.#profile.read(used, limit);
    if (profile) this.#options.note(profile);
    if (this.#hasSnapshot) return;
    this.#hasSnapshot = true;
    this.#options.snapshot(`memory is at ${Math.round(share * 100)} % of ${name}`);
  }

  #readings(): Reading[] {
    const heap = { name: "V8's heap limit", ...readOldSpace() };
    if (this.#cgroup === undefined || this.#looks++ % groupEvery !== 0) return [heap];
    const { currentBytes, maxBytes } = readCgroupMemory(this.#cgroup);
    if (currentBytes === undefined || maxBytes === undefined) return [heap];
    return [heap, { name: "the cgroup's limit", used: currentBytes, limit: maxBytes }];
  }
}

/**
 * V8 dies of its old generation; the limit that it tells counts the young one too (48 MiB of it on Node 20 and 22, 192 on
 * 24, 96 on 26), so what was asked for on the command line comes first.
 */
function readOldSpace(): { used: number; limit: number } {
  const v8 = process.getBuiltinModule('node:v8');
  const { heap_size_limit: limit } = v8.getHeapStatistics();
  const old = v8
    .getHeapSpaceStatistics()
    .filter(({ space_name }) => !/^(?:new|read_only|shared)/.test(space_name));
  const used = old.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
  return { used, limit: askedLimit() ?? Math.max(limit - youngBytes, limit / 2) };
}

function askedLimit(): number | undefined {
  const words = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  const asked = [...words.matchAll(/--max[-_]old[-_]space[-_]size[= ](\d{1,9})(?!\S)/g)].pop()?.[1];
  return asked === undefined || Number(asked) === 0 ? undefined : Number(asked) * 1024 ** 2;
}
