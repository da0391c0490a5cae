/**
 * Names for sessions and supervisors: 16 lower-case hexadecimal digits of the kernel's randomness. Not of Math.random, which
 * the program may seed (--random-seed) or replace: its sessions would bear one name.
 */
import { readKernelRandom } from '../../platform/kernel-random.ts';

const bytes = 8;

export function newId(): string {
  return (readKernelRandom(bytes) ?? process.getBuiltinModule('node:crypto').randomBytes(bytes)).toString(
    'hex',
  );
}
