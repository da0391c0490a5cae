/**
 * Where threads lie: `<dir>/<name>-<hash>/` is a journal; beside it, with the same name, `.lock` while somebody writes,
 * `.new` while it is being compacted, and `.old` between the two renames that put the compacted one in its place.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from '../platform/index.ts';

const folderName = /^(.+-[0-9a-f]{16})(\.old)?$/;

export function threadFolder(dir: string, threadId: string): string {
  const readable = threadId.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40);
  return join(dir, `${readable || '_'}-${threadKey(threadId)}`);
}

/** 16 hexadecimal digits; the id of the thread's journal too. */
export function threadKey(threadId: string): string {
  return createHash('sha256').update(threadId).digest('hex').slice(0, 16);
}

export const lockOf = (folder: string): string => `${folder}.lock`;

/** Folders of all threads, in the order of their names. */
export function listThreadFolders(dir: string): string[] {
  let names: string[];
  try {
    names = readdirSync(dir);
  } catch {
    return [];
  }
  const folders = names.flatMap((name) => folderName.exec(name)?.[1] ?? []);
  return [...new Set(folders)].sort().map((name) => join(dir, name));
}

/** The folder to read from: a compaction may have been cut, or be just, between its renames. */
export function findReadable(folder: string): string | undefined {
  return [folder, `${folder}.old`].find((path) => existsSync(path));
}

/** Ends what a cut compaction left. Only for who has the lock. */
export function settleCompaction(folder: string): void {
  rmSync(`${folder}.new`, { recursive: true, force: true });
  if (!existsSync(`${folder}.old`)) return;
  if (existsSync(folder)) rmSync(`${folder}.old`, { recursive: true });
  else platform.files.rename(`${folder}.old`, folder);
}

/** Puts the compacted journal in the place of the other. Only for who has the lock. */
export function swapIn(folder: string): void {
  platform.files.rename(folder, `${folder}.old`);
  platform.files.rename(`${folder}.new`, folder);
  rmSync(`${folder}.old`, { recursive: true });
}

/** Removes a thread so that it is either whole or gone. Only for who has the lock. */
export function removeThread(folder: string): void {
  for (const path of [folder, `${folder}.old`]) {
    if (!existsSync(path)) continue;
    const grave = `${folder}.removed.${process.pid}`;
    rmSync(grave, { recursive: true, force: true });
    platform.files.rename(path, grave);
    rmSync(grave, { recursive: true });
  }
}

/** Changes when anybody else wrote to the thread, compacted or removed it; empty when there is none. */
export function readState(folder: string): string {
  const path = findReadable(folder);
  if (!path) return '';
  try {
    const names = readdirSync(path).sort();
    const last = names.at(-1);
    const size = last ? statSync(join(path, last)).size : 0;
    return `${statSync(path).ino}/${last}/${names.length}/${size}`;
  } catch {
    return '';
  }
}
