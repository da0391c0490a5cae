/**
 * Ids of sessions and supervisors: 16 lower-case hexadecimal digits from the kernel's random source. Math.random is not used,
 * because the program may seed (--random-seed) or replace it, and all its sessions would get the same id.
 */
import { randomBytes } from '../../platform/kernel-random.ts';

const bytes = 8;

export function newId(): string {
  return randomBytes(bytes).toString('hex');
}
