/**
 * The one place that reads the memory of a running program: the journal's samples and the memory watch share a reading that
 * is less than a second old.
 */

import type { MemorySamplePayload } from '../../journal/layout/records.ts';
import { findMemoryCgroup, readCgroupMemory } from '../../platform/cgroup.ts';
import { platform } from '../../platform/index.ts';

export interface MemoryReading extends MemorySamplePayload {
  /** The old generation, in bytes: V8 aborts when it reaches its limit. */
  oldSpace: { used: number; limit: number };
}

/** Two timers with a period of a second share the reading of the first one. */
const freshMs = 900;
/** The largest known size of the young generation. */
const youngBytes = 192 * 1024 * 1024;
/** As it was before the host, or one of its tests, replaced it. */
const { now } = Date;

export class MemorySampler {
  readonly #cgroup = findMemoryCgroup();
  readonly #asked = askedLimit([process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' '));
  #reading: MemoryReading | undefined;
  #readAt = 0;

  /** At most `freshMs` old, unless `mustBeNew`. */
  read(mustBeNew = false): MemoryReading {
    const at = now();
    if (!this.#reading || mustBeNew || Math.abs(at - this.#readAt) >= freshMs) {
      this.#reading = this.#readNow();
      this.#readAt = at;
    }
    return this.#reading;
  }

  #readNow(): MemoryReading {
    const { rss, heapUsed, heapTotal, external, arrayBuffers } = platform.memoryUsage();
    const oldSpace = this.#readOldSpace();
    const reading: MemoryReading = {
      rss,
      heapUsed,
      heapTotal,
      heapLimit: oldSpace.limit,
      external,
      arrayBuffers,
      oldSpace,
    };
    const cgroup = this.#cgroup === undefined ? {} : readCgroupMemory(this.#cgroup);
    if (cgroup.currentBytes !== undefined) reading.cgroupCurrent = cgroup.currentBytes;
    if (cgroup.maxBytes !== undefined) reading.cgroupMax = cgroup.maxBytes;
    return reading;
  }

  #readOldSpace(): MemoryReading['oldSpace'] {
    const v8 = process.getBuiltinModule('node:v8');
    return oldSpaceOf(v8.getHeapStatistics().heap_size_limit, v8.getHeapSpaceStatistics(), this.#asked);
  }
}

/**
 * The limit that V8 reports includes the young generation (48 MiB on Node 20 and 22, 192 on 24, 96 on 26), so the value from
 * the command line takes precedence.
 */
export function oldSpaceOf(
  limit: number,
  spaces: readonly { space_name?: string | number; space_used_size?: string | number }[],
  asked: number | undefined,
): MemoryReading['oldSpace'] {
  const used = spaces
    .filter(({ space_name }) => !/^(?:new|read_only|shared)/.test(String(space_name)))
    .reduce((sum, { space_used_size }) => sum + Number(space_used_size ?? 0), 0);
  return { used, limit: asked ?? Math.max(limit - youngBytes, limit / 2) };
}

/** The last value in the arguments, in bytes. */
export function askedLimit(words: string): number | undefined {
  const asked = [...words.matchAll(/--max[-_]old[-_]space[-_]size[= ](\d{1,9})(?!\S)/g)].pop()?.[1];
  return asked === undefined || Number(asked) === 0 ? undefined : Number(asked) * 1024 ** 2;
}
