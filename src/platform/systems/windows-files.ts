/**
 * Files on Windows: access lists inherited from the parent folder instead of permission bits, no open folders, no links
 * without a privilege, and reserved device names. Another process that has a file open (virus scanner, indexer) may block
 * renaming it for a moment. Sources: Microsoft's "Naming Files, Paths, and Namespaces"; libuv's fs.c.
 */
import type { FileRules } from '../interface.ts';
import { unlessRefused } from '../node-permission.ts';

const { fdatasyncSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } =
  process.getBuiltinModule('node:fs');

const inUse = new Set(['EPERM', 'EACCES', 'EBUSY']);
const attempts = 6;
const firstPauseMs = 2;

export const windowsFiles: FileRules = {
  memoryFolders: [],
  canRenameAroundOpenFiles: false,
  restrictFile: () => {},
  restrictFilePath: () => {},
  restrictFolder: () => {},
  openFolder: () => undefined,
  throughDescriptor: () => undefined,
  knowsOwners: false,
  isTrustedOwner: () => true,
  isOwn: () => true,
  rename: renamePatiently,
  makeMark(text, path) {
    const draft = `${path}.${process.pid}.${process.hrtime.bigint()}`;
    writeFileSync(draft, text, { flag: 'wx' });
    try {
      linkSync(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  },
  readMark: (path) => readFileSync(path, 'utf8'),
  syncFile: (fd) => unlessRefused(() => fdatasyncSync(fd)),
  syncFolder: () => {},
  isUsableName,
};

function renamePatiently(from: string, to: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      if (attempt === attempts || !inUse.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, firstPauseMs * 2 ** attempt);
    }
  }
}

const device = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

function isUsableName(name: string): boolean {
  return name !== '' && !/[<>:"/\\|?*\u0000-\u001f]/.test(name) && !/[. ]$/.test(name) && !device.test(name);
}
