/**
 * Redacts a name from the file system (of a script, a folder, a package) for use in the name of a bundle or a session, where
 * the next start and other processes read it. A secret is replaced by its rule without a tag, so that the same program always
 * gets the same name.
 */
import { mayBeToken } from './names/may-be-token.ts';
import { createPolicy, type Policy } from './policy.ts';

let policy: Policy | undefined;

export function publicName(name: string): string {
  if (!mayBeToken(name)) return name;
  policy ??= createPolicy();
  return policy.names(name).replace(/\[redacted:([a-z0-9-]+)#[0-9a-f]{8}\]/g, 'redacted-$1');
}
