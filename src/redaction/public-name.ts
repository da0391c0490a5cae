/**
 * A name from a file system (of a script, a folder, a package) as it may stand in the name of a bundle or a session, where it
 * is read by the next start and by other processes: what is withheld of it gives way to its rule, without a tag, so that the same
 * program is called the same everywhere.
 */
import { mayBeToken } from './names/may-be-token.ts';
import { createPolicy, type Policy } from './policy.ts';

let policy: Policy | undefined;

export function publicName(name: string): string {
  if (!mayBeToken(name)) return name;
  policy ??= createPolicy();
  return policy.names(name).replace(/\[redacted:([a-z0-9-]+)#[0-9a-f]{8}\]/g, 'redacted-$1');
}
