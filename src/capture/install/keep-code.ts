/** Writes V8's code of the halves, which this process had to compile, for the next death (code-cache.ts). */
import { dirname, join } from 'node:path';
import { nameWithoutReplacing } from '../../bundle/write/safe-folder.ts';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  loadZlib,
  lstatSync,
  mkdirSync,
  nowMs,
  openSync,
  readdirSync,
  unlinkSync,
  writeAll,
} from '../../bundle/write/system.ts';
import { platform } from '../../platform/index.ts';
import { requireAddressRoom } from '../host/address-room.ts';
import type { UncachedCode } from './code-cache.ts';

/** Two halves for four versions of Node, or sets of flags. */
const mostFiles = 8;
/** Programs with many sets of flags must not remove each other's at each death, nor what one of them can't use. */
const leastAgeMs = 24 * 60 * 60_000;

/** There is nothing private in it, and who builds an image is often not who runs it. */
const folderMode = 0o755;
const fileMode = 0o644;

/** Throws if it can't be written, which is usual: in an image the package belongs to root, or is read-only. */
export function keepCode(uncached: readonly UncachedCode[]): void {
  const [first] = uncached;
  const { crc32 } = loadZlib() as { crc32?: (bytes: Uint8Array) => number };
  if (!first || !crc32) return;
  requireAddressRoom();
  const folder = dirname(first.path);
  // What root leaves in a user's package keeps that user from removing or replacing the package.
  if (!isOwnFolder(dirname(folder))) return;
  if (!existsSync(folder)) mkdirSync(folder, folderMode);
  if (!isOwnFolder(folder)) return;
  accessSync(folder, constants.W_OK);
  for (const { path, code: codeOf } of uncached) {
    // This process did not take it: it has just been written, or it is damaged.
    if (existsSync(path) && !isRemoved(path)) continue;
    if (!hasRoom(folder)) continue;
    const code = codeOf();
    const end = Buffer.alloc(4);
    end.writeUInt32LE(crc32(code));
    write(path, [code, end]);
  }
}

function isOwnFolder(path: string): boolean {
  const found = lstatSync(path);
  return found.isDirectory() && platform.files.isOwn(found.uid);
}

/** Complete or not at all; another process may be writing the same. */
function write(path: string, pieces: readonly Uint8Array[]): void {
  // In containers all processes have the same few numbers, and one that was killed here has left its file.
  const unfinished = `${path}.${process.pid}.${Math.trunc(nowMs())}`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const fd = openSync(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, fileMode);
  try {
    try {
      for (const bytes of pieces) writeAll(fd, bytes);
    } finally {
      closeSync(fd);
    }
    nameWithoutReplacing(unfinished, path);
  } catch (error) {
    unlinkSync(unfinished);
    throw error;
  }
}

/** Removes the oldest file if there are too many. What others have put there stays. */
function hasRoom(folder: string): boolean {
  const names = readdirSync(folder).filter((name) => /^(?:cold|redaction)-half-/.test(name));
  if (names.length < mostFiles) return true;
  const times = names.map((name) => ({
    path: join(folder, name),
    at: lstatSync(join(folder, name)).mtimeMs,
  }));
  const [oldest] = times.sort((a, b) => a.at - b.at);
  return oldest !== undefined && isRemoved(oldest.path);
}

function isRemoved(path: string): boolean {
  if (nowMs() - lstatSync(path).mtimeMs < leastAgeMs) return false;
  unlinkSync(path);
  return true;
}
