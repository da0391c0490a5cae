/** Files with POSIX permission bits, symbolic links and renames. */
import type { FileRules } from '../interface.ts';
import { mayWrite, unlessRefused } from '../node-permission.ts';

const fs = process.getBuiltinModule('node:fs');
const {
  chmodSync,
  closeSync,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
} = fs;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants;

const folderMode = 0o700;
const fileMode = 0o600;
const allBits = 0o777;
const root = 0;

export const posixFiles: FileRules = {
  memoryFolders: [],
  canRenameAroundOpenFiles: true,
  restrictFile: (fd) => restrict(fd, fileMode),
  restrictFilePath: (path) => chmodSync(path, fileMode),
  restrictFolder: (path, fd) => (fd === undefined ? chmodSync(path, folderMode) : restrict(fd, folderMode)),
  openFolder(path) {
    const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    try {
      return openSync(path, flags);
    } catch (error) {
      // A umask of 0777 removed our own permission to open it.
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
      chmodSync(path, folderMode);
      return openSync(path, flags);
    }
  },
  throughDescriptor: () => undefined,
  knowsOwners: true,
  isTrustedOwner: (uid) => uid === root || uid === process.geteuid?.(),
  isOwn: (uid) => uid === process.geteuid?.(),
  rename: renameSync,
  makeMark: (text, path) => symlinkSync(text, path),
  readMark: (path) => readlinkSync(path),
  syncFile: (fd) => unlessRefused(() => fdatasyncSync(fd)),
  syncFolder(path) {
    const folder = openSync(path, 'r');
    try {
      unlessRefused(() => fsyncSync(folder));
    } finally {
      closeSync(folder);
    }
  },
  isUsableName: (name) => name !== '.' && name !== '..' && !/[\0/]/.test(name),
};

/**
 * Files created with these bits usually have them already, unless the umask is unusual; and Node refuses fchmod under
 * `--permission`.
 */
function restrict(fd: number, mode: number): void {
  if ((fstatSync(fd).mode & allBits) !== mode) fchmodSync(fd, mode);
}

/**
 * Linux exposes open files as links. A name that is resolved through such a link behaves as with openat(2), which Node lacks.
 */
export function throughLink(link: string, fd: number): string | undefined {
  if (!mayWrite(link)) return undefined;
  const own = fstatSync(fd);
  const seen = statSync(link, { throwIfNoEntry: false });
  return seen?.ino === own.ino && seen.dev === own.dev ? link : undefined;
}
