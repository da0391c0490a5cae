/**
 * How much of a process's memory may be copied: two fifths of what the machine and all memory limits around the process have
 * left, but no more than fits where the copy is stored (/dev/shm of a container is usually 64 MB).
 */
import { statfsSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { findMemoryCgroup, readGroupLimits } from '../../platform/cgroup.ts';
import { readOwnBytes } from './live-process.ts';

/** Measured: reading a copied heap takes 1.6 times a copy of 1 GB, and 2.0 times one of 300 MB, which needs less. */
const roomShare = 0.4;
/** Once the process is dead, its own memory is free again, so that reading may take more. */
const readableShare = 0.5;
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
  const share = Math.max(leftFor(pid) * roomShare, leastBytes);
  return folder === undefined ? share : Math.min(share, freeBytes(folder) * (1 - besideShare));
}

/** Size of the largest copy that this process may read, in bytes. */
export const mayRead = (): number => leftFor(process.pid) * readableShare;

/** The same for when nothing else takes memory on this machine and in our own cgroups. */
export function mostReadable(): number {
  const group = findMemoryCgroup();
  const limits = group === undefined ? [] : readGroupLimits(group);
  return Math.min(totalmem(), ...limits.map(({ max }) => max)) * readableShare;
}

function leftFor(pid: number): number {
  const group = findMemoryCgroup(pid);
  const limits = group === undefined ? [] : readGroupLimits(group);
  return Math.min(freemem(), ...limits.map(({ max, used }) => max - used));
}

/** Available to us on the file system of the folder. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
