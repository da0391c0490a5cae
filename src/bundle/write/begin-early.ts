/**
 * The first trace of a bundle, written within a millisecond of the death, before the writer is compiled: a folder whose
 * `begin` line says what ended, when, and of which program. Readers treat it as a torn bundle. The writer later takes the
 * folder over and renames it when it knows more. A writer that encrypts removes it once its file is there, whose name
 * says the same in the clear.
 */
import { join } from 'node:path';
import { progressName, startingSuffix } from '../layout/bundle.ts';
import { bundleStem } from './bundle-name.ts';
import { type HeadFields, manifestHead } from './manifest-head.ts';
import { createPrivateFile, ensureDumpFolder, makeClosedFolder } from './safe-folder.ts';
import { closeSync, failureCode, rmdirSync, unlinkSync, writeAll } from './system.ts';

/** The path of the folder. Throws a system error or `unwritable`; at most an empty folder is left behind then. */
export function beginBundle(dir: string, fields: HeadFields): string {
  const head = manifestHead(fields);
  const stem = bundleStem({ ...head, atMs: Date.parse(head.createdAt) });
  const path = join(ensureDumpFolder(dir), stem + startingSuffix);
  makeClosedFolder(path);
  try {
    const fd = createPrivateFile(join(path, progressName));
    try {
      writeAll(fd, Buffer.from(`${JSON.stringify({ begin: head })}\n`));
    } finally {
      closeSync(fd);
    }
    return path;
  } catch (error) {
    withdrawBegun(path);
    throw error;
  }
}

/** Removes a folder that no writer has taken over. Never throws. */
export function withdrawBegun(path: string): void {
  for (const remove of [() => unlinkSync(join(path, progressName)), () => rmdirSync(path)])
    try {
      remove();
    } catch (error) {
      if (failureCode(error) !== 'ENOENT') return;
    }
}
