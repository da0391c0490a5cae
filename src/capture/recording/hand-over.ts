/**
 * Hands the values that the program withholds to the supervisor above it, which may have to write of a death that nobody in here can
 * tell: a core, a SIGKILL, the end of the memory. At once and synchronously, as the next line may be the last.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { sessionsFolder, withheldName, withheldVariable } from '../../journal/layout/session.ts';
import { sealWithheld } from '../../journal/write/withheld-values.ts';
import { withOwnModules } from '../host/own-realm.ts';

/** What is longer is not looked for whole, but by its rule if it has one. */
const longestValue = 16_384;
const mostValues = 2000;

/** The function takes one value. Never throws: without a supervisor, or where the folder can't be written, nothing is handed over. */
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
      withOwnModules(() => appendFileSync(path, sealWithheld(value, key), { mode: 0o600 }));
      given.add(value);
    } catch {
      // The session is over, the disk is full, or Node's permissions forbid it.
    }
  };
}
