/**
 * How much of a process's memory may be copied: a quarter of what the machine and all memory limits around the process have
 * left, but no more than fits where the copy is stored (/dev/shm of a container is usually 64 MB).
 */
import { statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { findMemoryCgroup, readGroupLimits } from '../../platform/cgroup.ts';
import { readOwnBytes } from './live-process.ts';

const roomShare = 0.25;
/** The analysis itself needs that much, so a machine with less can't analyse a core anyway. */
const leastBytes = 32 << 20;
/** Needed beyond the private memory of the process: modified pages of mapped files, headers, the mini core. */
const besideBytes = 16 << 20;
const besideShare = 0.1;

/** Estimated size of a copy of its memory. Throws errors of /proc. */
export function bytesFor(pid: number): number {
  return Math.ceil(readOwnBytes(pid) * (1 + besideShare)) + besideBytes;
}

/** In bytes. `folder`: where the copy is stored; without it, our own memory. */
export function mayCopy(pid: number, folder?: string): number {
  const group = findMemoryCgroup(pid);
  const limits = group === undefined ? [] : readGroupLimits(group);
  const left = Math.min(freemem(), ...limits.map(({ max, used }) => max - used));
  const share = Math.max(left * roomShare, leastBytes);
  return folder === undefined ? share : Math.min(share, freeBytes(folder) * (1 - besideShare));
}

/** Available to us on the file system of the folder. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
