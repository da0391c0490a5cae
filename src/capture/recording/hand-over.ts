/**
 * Passes the values that the program withholds to its supervisor, which may have to write about a death that the program
 * itself can't report: a core, a SIGKILL, out of memory. At once and synchronously, because the next line may be the last.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { sessionsFolder, withheldName, withheldVariable } from '../../journal/layout/session.ts';
import { sealWithheld } from '../../journal/write/withheld-values.ts';
import { withOwnWorld } from '../host/intrinsics/own-realm.ts';

/** Longer values are not searched for as a whole, only by the rule that they match, if any. */
const longestValue = 16_384;
const mostValues = 2000;

/**
 * Returns a function that takes one value and never throws. Without a supervisor, or if the folder can't be written, it does
 * nothing.
 */
export function handOverTo(
  dir: string,
  environment: Readonly<Record<string, string | undefined>>,
): (value: string) => void {
  const [, id, hex] = /^([0-9a-f]{16})\.([0-9a-f]{64})$/.exec(environment[withheldVariable] ?? '') ?? [];
  if (id === undefined || hex === undefined) return () => {};
  const path = join(dir, sessionsFolder, id, withheldName);
  const key = Buffer.from(hex, 'hex');
  const given = new Set<string>();
  return (value) => {
    if (typeof value !== 'string' || value.length > longestValue) return;
    if (given.has(value) || given.size >= mostValues) return;
    try {
      withOwnWorld(() => appendFileSync(path, sealWithheld(value, key), { mode: 0o600 }));
      given.add(value);
    } catch {
      // The session is over, the disk is full, or Node's permissions forbid it.
    }
  };
}
