/**
 * Creates folders and files that only this user can read, and that nobody can have planted: 0700 and 0600 whatever the umask,
 * exclusive creation, no links, no foreign owners. If the system supports it, names below an open folder are resolved through
 * its descriptor, so that replacing the folder by a link later has no effect. Knows nothing about bundles; what permissions
 * mean on each system is up to the platform room.
 */
import { basename, dirname, join, resolve } from 'node:path';
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
  writeAll,
} from './system.ts';

const { files } = platform;
/** The dump folder's name where none is set. */
const usualName = '.agentdump';
const folderMode = 0o700;
const fileMode = 0o600;

export function unwritable(path: string, reason: string, cause?: unknown): AgentdumpError {
  return new AgentdumpError('unwritable', `cannot write to ${path}: ${reason}`, { path, reason }, cause);
}

/** A folder that is kept open, if the system allows it. */
export interface OpenFolder {
  /** Undefined if folders can't be opened, or must not be open while they are renamed. */
  fd: number | undefined;
  /** A path that leads to the folder while `fd` is open, even if it is renamed; undefined: use its name. */
  base: string | undefined;
}

/**
 * Creates the dump folder and its parents if necessary, and checks it: a folder and no link, owned by this user or by root.
 * Returns its absolute path. Throws `unwritable`.
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
    if (basename(path) === usualName) keepOutOfTools(path);
    return path;
  } catch (error) {
    if (error instanceof AgentdumpError) throw error;
    throw unwritable(path, failureCode(error), error);
  }
}

/**
 * In a project's folder, so that neither git nor npm takes what is in it, and no formatter complains of sealed parts or changes them.
 * Prettier has no list of its own here: a range that is empty leaves a file as it is. Without them, bundles are written all the same.
 */
function keepOutOfTools(path: string): void {
  for (const [name, text] of [
    ['.gitignore', '*\n'],
    ['.prettierrc', '{ "rangeEnd": 0 }\n'],
    ['biome.json', '{ "root": false, "files": { "includes": ["!**"] } }\n'],
  ] as const) {
    const file = join(path, name);
    if (exists(file)) continue;
    try {
      const fd = createPrivateFile(file);
      try {
        writeAll(fd, Buffer.from(text));
      } finally {
        closeSync(fd);
      }
    } catch {}
  }
}

function makeMissing(path: string): void {
  const missing: string[] = [];
  for (let at = path; !exists(at); at = dirname(at)) missing.push(at);
  for (const at of missing.reverse()) {
    try {
      mkdirSync(at, folderMode);
    } catch (error) {
      // Another process of the same program is dying too, and created it first.
      if (failureCode(error) !== 'EEXIST') throw error;
      continue;
    }
    files.restrictFolder(at);
  }
}

/** A dangling link exists too. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Creates and opens a new folder. Throws a system error, EEXIST if the name is taken. */
export function makePrivateFolder(path: string): OpenFolder {
  mkdirSync(path, folderMode);
  try {
    return openPrivateFolder(path);
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
}

/** Opens a folder that this process has just created. Throws a system error. */
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

/** For callers that only need its name. Throws like `makePrivateFolder`. */
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

/** Creates a new file, open for reading and writing. Throws a system error. */
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
 * Opens a state file of the dump folder for reading and appending, creating it if necessary. Throws a system error (ELOOP for
 * a link), and `unwritable` for anything but a regular file of this user.
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

/** Gives a finished file its name, which must be unused. Throws a system error, EEXIST if it is taken. */
export function nameWithoutReplacing(from: string, to: string): void {
  try {
    linkSync(from, to);
    unlinkSync(from);
  } catch (error) {
    // File systems without hard links (FAT, some network mounts): a race between two packers remains there.
    if (failureCode(error) === 'EEXIST' || exists(to)) throw error;
    files.rename(from, to);
  }
}
