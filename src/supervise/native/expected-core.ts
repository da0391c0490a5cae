/**
 * The kernel's core between the death and its digest is unencrypted memory on the disk. If it exists only because we asked
 * for it, that is noted in the session's folder, so that a sweep removes the core if the supervisor is killed. Before a core
 * is read it is moved into the session's folder, which only its owner can access.
 */
import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { type DeadProcess, findCore } from './core-file.ts';

const noteName = 'core.expected';
const takenName = 'core.unscrubbed';
/** The notes come first in a core; the process note follows the first thread's. */
const searchedBytes = 1 << 16;
const NT_PRPSINFO = 3;
const infoSize = 136;
const pidOffset = 24;

/** Throws system errors. */
export function noteExpectedCore(folder: string, process: DeadProcess): void {
  writeFileSync(join(folder, noteName), JSON.stringify(process), { mode: 0o600, flag: 'wx' });
}

/**
 * Moves the core into the session's folder and restricts it to its owner. Returns the new path, or the old one if the folder
 * is on another file system.
 */
export function takeCore(folder: string, path: string): string {
  const taken = join(folder, takenName);
  try {
    platform.files.restrictFilePath(path);
    platform.files.rename(path, taken);
    return taken;
  } catch {
    return path;
  }
}

/**
 * For an abandoned session: removes the core that the kernel wrote, without reading its memory. Returns whether there was
 * one.
 */
export function removeExpectedCore(folder: string): boolean {
  const process = readNote(join(folder, noteName));
  const path = process && findCore(process).path;
  if (path === undefined || readPid(path) !== process?.pid) return false;
  rmSync(path, { force: true });
  return true;
}

function readNote(path: string): DeadProcess | undefined {
  try {
    const note = JSON.parse(readFileSync(path, 'utf8')) as DeadProcess;
    const isWhole =
      typeof note.pid === 'number' &&
      typeof note.cwd === 'string' &&
      typeof note.executable === 'string' &&
      typeof note.startedAtMs === 'number';
    return isWhole ? note : undefined;
  } catch {
    return undefined;
  }
}

/** Process id in the core: a file called `core` may belong to any program. */
function readPid(path: string): number | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const head = Buffer.alloc(searchedBytes);
    const length = readSync(file, head, 0, searchedBytes, 0);
    const name = Buffer.alloc(20);
    name.writeUInt32LE(5, 0);
    name.writeUInt32LE(infoSize, 4);
    name.writeUInt32LE(NT_PRPSINFO, 8);
    name.write('CORE\0', 12);
    const at = head.subarray(0, length).indexOf(name);
    return at < 0 ? undefined : head.readUInt32LE(at + name.length + pidOffset);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
