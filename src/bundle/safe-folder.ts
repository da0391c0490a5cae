/**
 * Folders and files that only this process's user can read and that nobody can have put in our way: 0700 and 0600
 * whatever the umask, exclusive creation, links refused, foreign owners refused. Below a folder that is open, names
 * are resolved through its descriptor, so that a folder swapped for a link afterwards changes nothing. Knows nothing
 * of bundles. Linux: /proc/self/fd stands in for openat(2), which Node does not have.
 */
import { dirname, resolve } from 'node:path';
import { AgentdumpError } from '../errors.ts';
import {
  chmodSync,
  closeSync,
  constants,
  failureCode,
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from './system.ts';

const folderMode = 0o700;
const fileMode = 0o600;
const root = 0;

export function unwritable(path: string, reason: string, cause?: unknown): AgentdumpError {
  return new AgentdumpError('unwritable', `cannot write to ${path}: ${reason}`, { path, reason }, cause);
}

/** An open folder: `base` leads to it for as long as `fd` is open, wherever its name leads meanwhile. */
export interface OpenFolder {
  fd: number;
  base: string;
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
    if (!isTrustedOwner(stat.uid)) throw unwritable(path, `it belongs to another user, uid ${stat.uid}`);
    return path;
  } catch (error) {
    if (error instanceof AgentdumpError) throw error;
    throw unwritable(path, failureCode(error), error);
  }
}

/** Root may do anything to us anyway, and container platforms mount volumes that root owns. */
function isTrustedOwner(uid: number): boolean {
  return uid === root || uid === process.geteuid?.();
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
    chmodSync(at, folderMode);
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
    const folder = openFolder(path);
    fchmodSync(folder.fd, folderMode);
    return folder;
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
}

function openFolder(path: string): OpenFolder {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  let fd: number;
  try {
    fd = openSync(path, flags);
  } catch (error) {
    // A umask of 0777 took our own right to open it.
    if (failureCode(error) !== 'EACCES') throw error;
    chmodSync(path, folderMode);
    fd = openSync(path, flags);
  }
  return { fd, base: baseOf(fd, path) };
}

function baseOf(fd: number, path: string): string {
  const own = fstatSync(fd);
  const base = `/proc/self/fd/${fd}`;
  const seen = statSync(base, { throwIfNoEntry: false });
  return seen?.ino === own.ino && seen.dev === own.dev ? base : path;
}

/** Creates a file that was not there, open for reading and writing. Throws what the system throws. */
export function createPrivateFile(path: string): number {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, fileMode);
  try {
    fchmodSync(fd, fileMode);
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
    if (!isTrustedOwner(stat.uid)) throw unwritable(path, `it belongs to another user, uid ${stat.uid}`);
    if (stat.nlink > 1) throw unwritable(path, 'it is a hard link to another file');
    if (isNew) fchmodSync(fd, fileMode);
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
    renameSync(from, to);
  }
}

/** Opens an existing regular file for reading: no link is followed, no pipe waited for. Throws what the system throws. */
export function openRegularFile(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw Object.assign(new Error('not a regular file'), { code: 'EFTYPE' });
}
