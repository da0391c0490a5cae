/**
 * The memory controller of a process: where its files are and what they say now. cgroup v2, and v1 where the machine
 * still has it; see the kernel's admin-guide/cgroup-v2 and cgroup-v1/memory. What can't be read is absent.
 */
import fs from 'node:fs';
import { dirname } from 'node:path';
import { platform } from './index.ts';

const { readFileSync, existsSync } = fs;

export interface CgroupMemory {
  currentBytes?: number;
  /** Absent where there is no limit. */
  maxBytes?: number;
  peakBytes?: number;
  /** Processes that the kernel killed for want of memory, ever. */
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
/** v1 says "no limit" with the largest page-aligned number, v2 with the word max. */
const noLimit = 2 ** 60;

/** Folder of the process's memory controller; undefined without one. */
export function findMemoryCgroup(pid: number | 'self' = 'self'): string | undefined {
  const lines = platform.processFile(pid, 'cgroup')?.split('\n') ?? [];
  const v1 = lines.find((line) => line.split(':')[1]?.split(',').includes('memory'));
  const v2 = lines.find((line) => line.startsWith('0::'));
  const [root, line, names] = v1 ? [`${mount}/memory`, v1, ofV1] : [mount, v2, ofV2];
  const path = line?.split(':').slice(2).join(':');
  if (path === undefined) return undefined;
  // In a container without a cgroup namespace the path is the host's, and only its end is mounted: at the root.
  return [root + path, root].find((folder) => existsSync(`${folder}/${names.current}`));
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
 * Limit and use of the group and of every group around it, where there is a limit: the nearest to its limit decides. What the
 * kernel only keeps of files not looked at lately it would give up first, so it does not count as used.
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

/** `total_` is v1's word for the group with those in it. */
function reclaimableBytes(folder: string): number {
  const text = readText(`${folder}/memory.stat`) ?? '';
  return Number((/^total_inactive_file (\d+)$/m.exec(text) ?? /^inactive_file (\d+)$/m.exec(text))?.[1] ?? 0);
}

/** Kills for want of memory on this machine since its start, whichever cgroup; undefined where /proc hides it. */
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
