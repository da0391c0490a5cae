/**
 * The layout of threads on disk: `<dir>/<name>-<hash>/` is a journal. Next to it, with the same name, are `.lock` while a
 * process writes, `.new` during a compaction, and `.old` between the two renames that replace the journal by the compacted
 * one.
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

/** 16 hexadecimal digits. Also the id of the thread's journal. */
export function threadKey(threadId: string): string {
  return createHash('sha256').update(threadId).digest('hex').slice(0, 16);
}

export const lockOf = (folder: string): string => `${folder}.lock`;

/** Folders of all threads, sorted by name. */
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

/** The folder to read from. A compaction may have been interrupted, or be in progress, between its renames. */
export function findReadable(folder: string): string | undefined {
  return [folder, `${folder}.old`].find((path) => existsSync(path));
}

/** Cleans up after an interrupted compaction. The caller must hold the lock. */
export function settleCompaction(folder: string): void {
  rmSync(`${folder}.new`, { recursive: true, force: true });
  if (!existsSync(`${folder}.old`)) return;
  if (existsSync(folder)) rmSync(`${folder}.old`, { recursive: true });
  else platform.files.rename(`${folder}.old`, folder);
}

/** Replaces the journal by the compacted one. The caller must hold the lock. */
export function swapIn(folder: string): void {
  platform.files.rename(folder, `${folder}.old`);
  platform.files.rename(`${folder}.new`, folder);
  rmSync(`${folder}.old`, { recursive: true });
}

/** Removes a thread atomically. The caller must hold the lock. */
export function removeThread(folder: string): void {
  for (const path of [folder, `${folder}.old`]) {
    if (!existsSync(path)) continue;
    const grave = `${folder}.removed.${process.pid}`;
    rmSync(grave, { recursive: true, force: true });
    platform.files.rename(path, grave);
    rmSync(grave, { recursive: true });
  }
}

/** A value that changes when another process writes to, compacts or removes the thread. Empty if there is no thread. */
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
