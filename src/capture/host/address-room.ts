/** Whether a limit on the process's addresses leaves room for what we are about to do. */
import { addressRoomBytes } from '../../platform/systems/proc-files.ts';

const mebibyte = 1024 ** 2;
/**
 * For a bundle, or for compiling a half of the preload: twice the memory that a death may take (docs/cost.md), because V8 and the
 * C library reserve more than they use, the latter 64 MB at once.
 */
const leastBytes = 128 * mebibyte;
/** A thread's stack, and what the C library reserves for its allocations. */
export const plainThreadBytes = 128 * mebibyte;
/** A thread with a heap of V8's reserves 780 to 900 MB on Node 20 to 26. */
export const heapThreadBytes = 1536 * mebibyte;

/** Throws an Error whose message is meant for the user. */
export function requireAddressRoom(wanted = leastBytes): void {
  const room = addressRoomBytes();
  if (room >= wanted) return;
  const left = Math.max(0, Math.floor(room / mebibyte));
  throw new Error(
    `the limit on addresses (ulimit -v) leaves ${left} MB of the ${wanted / mebibyte} MB that it takes`,
  );
}

export const hasAddressRoom = (wanted: number): boolean => addressRoomBytes() >= wanted;
