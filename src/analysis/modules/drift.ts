/** Describes one difference between a lock file and what is installed, as part of a sentence. */
import type { DriftPart } from '../../bundle/layout/bundle.ts';
import { lastName } from '../../platform/paths.ts';

export type Difference = DriftPart['differences'][number];

/** `package-lock.json pins 1.2.3, installed is 1.4.0 (asked for: ^1.2.0)`. */
export function describeDrift(difference: Difference, lockFile: string): string {
  const lock = lastName(lockFile) || 'the lock file';
  const asked = difference.requested === undefined ? '' : ` (asked for: ${difference.requested})`;
  const { locked, installed, problem } = difference;
  if (locked !== undefined && installed !== undefined)
    return `${lock} pins ${locked}, installed is ${installed}${asked}`;
  if (locked !== undefined) return `${lock} pins ${locked}, none is installed${asked}`;
  if (installed !== undefined) return `${lock} does not name it, installed is ${installed}${asked}`;
  return `${problem}${asked}`;
}
