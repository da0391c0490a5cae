/** A private folder for blobs that are not complete yet. Sender processes share it; each draft has a name of its own. */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureDumpFolder } from '../../bundle/write/safe-folder.ts';

/** Drafts older than this were left behind by killed senders. */
const draftLifeMs = 24 * 60 * 60_000;

/** Removes old drafts, and returns a function that names a new one. Throws `unwritable`. */
export function openDrafts(path: string): (name: string) => string {
  const folder = ensureDumpFolder(path);
  for (const name of readdirSync(folder)) removeOld(join(folder, name));
  return (name) => join(folder, `${name}.${process.pid}-${randomBytes(4).toString('hex')}`);
}

function removeOld(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat && Date.now() - stat.mtimeMs > draftLifeMs) rmSync(path, { force: true });
}
