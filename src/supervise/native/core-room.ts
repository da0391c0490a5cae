/**
 * How much of a process's memory may be copied beside it: a share of what the machine, and every memory limit around
 * the process, has left, and no more than fits where the copy is put (a container's /dev/shm has 64 MB, mostly).
 */
import { statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { findMemoryCgroup, readGroupLimits } from '../../platform/cgroup.ts';
import { readOwnBytes } from './live-process.ts';

const roomShare = 0.25;
/** The analysis takes as much by itself, so a machine that cannot give this has no account at all. */
const leastBytes = 32 << 20;
/** Beside what only the process holds: pages of files that it changed, headers, the mini core. */
const besideBytes = 16 << 20;
const besideShare = 0.1;

/** What a copy of its memory needs, about. Throws what /proc throws. */
export function bytesFor(pid: number): number {
  return Math.ceil(readOwnBytes(pid) * (1 + besideShare)) + besideBytes;
}

/** `folder`: where the copy is put; without it, our own memory. */
export function mayCopy(pid: number, folder?: string): number {
  const group = findMemoryCgroup(pid);
  const limits = group === undefined ? [] : readGroupLimits(group);
  const left = Math.min(freemem(), ...limits.map(({ max, used }) => max - used));
  const share = Math.max(left * roomShare, leastBytes);
  return folder === undefined ? share : Math.min(share, freeBytes(folder) * (1 - besideShare));
}

/** Of the file system that the folder lies on, for us. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
