/**
 * The first trace of a bundle, left within a millisecond of the death and before its writer is compiled: a folder whose
 * `begin` line says what ended, when and of which program, which readers take for a torn bundle. The writer takes the folder
 * over under the name that the bundle has when more is known.
 */
import { join } from 'node:path';
import { progressName, startingSuffix } from '../layout/bundle.ts';
import { bundleStem } from './bundle-name.ts';
import { type HeadFields, manifestHead } from './manifest-head.ts';
import { createPrivateFile, ensureDumpFolder, makeClosedFolder } from './safe-folder.ts';
import { closeSync, failureCode, rmdirSync, unlinkSync, writeAll } from './system.ts';

/** The path of the folder. Throws what the system throws, and `unwritable`; an empty folder may be there then, not more. */
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

/** Takes a folder away that no writer has taken over. Never throws. */
export function withdrawBegun(path: string): void {
  for (const remove of [() => unlinkSync(join(path, progressName)), () => rmdirSync(path)])
    try {
      remove();
    } catch (error) {
      if (failureCode(error) !== 'ENOENT') return;
    }
}
