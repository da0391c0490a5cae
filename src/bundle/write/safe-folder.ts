/**
 * Folders and files that only this process's user can read and that nobody can have put in our way: 0700 and 0600
 * whatever the umask, exclusive creation, links refused, foreign owners refused. Where the system has a way, names below
 * a folder that is open are resolved through its descriptor, so that a folder swapped for a link afterwards changes
 * nothing. Knows nothing of bundles; what permissions are on each system, the platform room knows.
 */
import { dirname, resolve } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import { platform } from '../../platform/index.ts';
import {
  closeSync,
  constants,
  failureCode,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmdirSync,
  unlinkSync,
} from './system.ts';

const { files } = platform;
const folderMode = 0o700;
const fileMode = 0o600;

export function unwritable(path: string, reason: string, cause?: unknown): AgentdumpError {
  return new AgentdumpError('unwritable', `cannot write to ${path}: ${reason}`, { path, reason }, cause);
}

/** A folder that is held open, where that can be. */
export interface OpenFolder {
  /** Undefined where folders can't be opened, or must not be while they are renamed. */
  fd: number | undefined;
  /** Leads to the folder for as long as `fd` is open, wherever its name leads meanwhile; undefined: go by its name. */
  base: string | undefined;
}

/**
 * Makes the dump folder where it is missing, its parents too, and proves it fit: a folder and no link, owned by this
 * user or by root. Returns its absolute path. Throws `unwritable`.
 */
export function ensureDumpFolder(dir: string): string {
  let path = dir;
  try {
    path = resolve(dir);
    makeMissing(path);
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) throw unwritable(path, 'it is a symbolic link');
    if (!stat.isDirectory()) throw unwritable(path, 'ENOTDIR, a file is in its place');
    if (!files.isTrustedOwner(stat.uid))
      throw unwritable(path, `it belongs to another user, uid ${stat.uid}`);
    return path;
  } catch (error) {
    if (error instanceof AgentdumpError) throw error;
    throw unwritable(path, failureCode(error), error);
  }
}

function makeMissing(path: string): void {
  const missing: string[] = [];
  for (let at = path; !exists(at); at = dirname(at)) missing.push(at);
  for (const at of missing.reverse()) {
    try {
      mkdirSync(at, folderMode);
    } catch (error) {
      // Another process of the same program dies at the same time and made it first.
      if (failureCode(error) !== 'EEXIST') throw error;
      continue;
    }
    files.restrictFolder(at);
  }
}

/** A link that leads nowhere exists too. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Makes a folder that was not there and opens it. Throws what the system throws, EEXIST where the name is taken. */
export function makePrivateFolder(path: string): OpenFolder {
  mkdirSync(path, folderMode);
  try {
    return openPrivateFolder(path);
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
}

/** Opens a folder that this process has just made. Throws what the system throws. */
export function openPrivateFolder(path: string): OpenFolder {
  const folder = openFolder(path);
  try {
    files.restrictFolder(path, folder.fd);
    return folder;
  } catch (error) {
    closeFolder(folder);
    throw error;
  }
}

/** Its name is all that the caller needs. Throws what `makePrivateFolder` throws. */
export function makeClosedFolder(path: string): void {
  closeFolder(makePrivateFolder(path));
}

export function closeFolder({ fd }: OpenFolder): void {
  if (fd !== undefined) closeSync(fd);
}

function openFolder(path: string): OpenFolder {
  const fd = files.openFolder(path);
  return { fd, base: fd === undefined ? undefined : files.throughDescriptor(fd) };
}

/** Creates a file that was not there, open for reading and writing. Throws what the system throws. */
export function createPrivateFile(path: string): number {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, fileMode);
  try {
    files.restrictFile(fd);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return fd;
}

/**
 * Opens a state file of the dump folder for reading and appending, making it where it is missing. Throws what the
 * system throws (ELOOP for a link), and `unwritable` for anything but a regular file of this user.
 */
export function openStateFile(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const isNew = !exists(path);
  const fd = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, fileMode);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw unwritable(path, 'it is not a regular file');
    if (!files.isTrustedOwner(stat.uid))
      throw unwritable(path, `it belongs to another user, uid ${stat.uid}`);
    if (stat.nlink > 1) throw unwritable(path, 'it is a hard link to another file');
    if (isNew) files.restrictFile(fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Gives a finished file its name, which must be free. Throws what the system throws, EEXIST where it is taken. */
export function nameWithoutReplacing(from: string, to: string): void {
  try {
    linkSync(from, to);
    unlinkSync(from);
  } catch (error) {
    // File systems without hard links (FAT, some network mounts): a race is left there, between two packers.
    if (failureCode(error) === 'EEXIST' || exists(to)) throw error;
    files.rename(from, to);
  }
}
