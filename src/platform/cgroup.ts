/**
 * The memory controller of a process: the location of its files and their current contents. cgroup v2, and v1 on machines
 * that still use it; see the kernel's admin-guide/cgroup-v2 and cgroup-v1/memory. Unreadable values are absent.
 */
import fs from 'node:fs';
import { dirname } from 'node:path';
import { platform } from './index.ts';
import { findGroupPath } from './systems/proc-files.ts';

const { readFileSync, existsSync } = fs;

export interface CgroupMemory {
  currentBytes?: number;
  /** Absent if there is no limit. */
  maxBytes?: number;
  peakBytes?: number;
  /** Total number of processes that the kernel killed because of insufficient memory. */
  oomKills?: number;
}

interface FileNames {
  current: string;
  max: string;
  peak: string;
  events: string;
}

const ofV2: FileNames = {
  current: 'memory.current',
  max: 'memory.max',
  peak: 'memory.peak',
  events: 'memory.events',
};
const ofV1: FileNames = {
  current: 'memory.usage_in_bytes',
  max: 'memory.limit_in_bytes',
  peak: 'memory.max_usage_in_bytes',
  events: 'memory.oom_control',
};
const mount = platform.groupMount ?? '';
/** "No limit" is the largest page-aligned number in v1, and the word max in v2. */
const noLimit = 2 ** 60;

/** Folder of the process's memory controller; undefined without one. */
export function findMemoryCgroup(pid: number | 'self' = 'self'): string | undefined {
  const group = findGroupPath(platform.processFile(pid, 'cgroup'), 'memory', mount);
  if (!group) return undefined;
  const { root, path, isV1 } = group;
  const { current } = isV1 ? ofV1 : ofV2;
  // In a container without a cgroup namespace the path is that of the host, but only the container's own group is mounted, at
  // the root.
  return [root + path, root].find((folder) => existsSync(`${folder}/${current}`));
}

export function readCgroupMemory(folder: string): CgroupMemory {
  const names = existsSync(`${folder}/${ofV2.events}`) ? ofV2 : ofV1;
  const events = readText(`${folder}/${names.events}`);
  return withoutAbsent({
    currentBytes: asNumber(readText(`${folder}/${names.current}`)),
    maxBytes: asLimit(readText(`${folder}/${names.max}`)),
    peakBytes: asNumber(readText(`${folder}/${names.peak}`)),
    oomKills: asNumber(events && /^oom_kill (\d+)$/m.exec(events)?.[1]),
  });
}

/**
 * Limit and usage of the group and of each of its ancestors that has a limit; the one nearest to its limit is decisive.
 * Cached data of files that were not accessed recently does not count as used, because the kernel reclaims it first.
 */
export function readGroupLimits(folder: string): { max: number; used: number }[] {
  const limits: { max: number; used: number }[] = [];
  for (let at = folder; mount !== '' && at.startsWith(mount); at = dirname(at)) {
    const { currentBytes, maxBytes } = readCgroupMemory(at);
    if (currentBytes === undefined) break;
    if (maxBytes === undefined) continue;
    limits.push({ max: maxBytes, used: Math.max(0, currentBytes - reclaimableBytes(at)) });
  }
  return limits;
}

/** In v1 the prefix `total_` marks values that include descendants. */
function reclaimableBytes(folder: string): number {
  const text = readText(`${folder}/memory.stat`) ?? '';
  return Number((/^total_inactive_file (\d+)$/m.exec(text) ?? /^inactive_file (\d+)$/m.exec(text))?.[1] ?? 0);
}

/**
 * Number of kills because of insufficient memory on this machine since its start, in any cgroup; undefined if /proc is
 * hidden.
 */
export function readHostOomKills(): number | undefined {
  const text = platform.kernelFile('vmstat');
  return asNumber(text && /^oom_kill (\d+)$/m.exec(text)?.[1]);
}

function asLimit(text: string | undefined): number | undefined {
  const value = asNumber(text);
  return value !== undefined && value < noLimit ? value : undefined;
}

function asNumber(text: string | undefined): number | undefined {
  const trimmed = text?.trim();
  return trimmed && /^\d+$/.test(trimmed) ? Number(trimmed) : undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function withoutAbsent(memory: { [K in keyof CgroupMemory]: CgroupMemory[K] | undefined }): CgroupMemory {
  return Object.fromEntries(Object.entries(memory).filter(([, value]) => value !== undefined));
}
