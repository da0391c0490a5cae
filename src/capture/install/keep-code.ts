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
/** Programs with many sets of flags must not remove each other's at each death. */
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
  if (!existsSync(folder)) mkdirSync(folder, folderMode);
  const { uid } = lstatSync(folder);
  accessSync(folder, constants.W_OK);
  if (!platform.files.isTrustedOwner(uid)) return;
  for (const { path, code: codeOf } of uncached) {
    if (existsSync(path) || !hasRoom(folder)) continue;
    const code = codeOf();
    const end = Buffer.alloc(4);
    end.writeUInt32LE(crc32(code));
    write(path, [code, end]);
  }
}

/** Complete or not at all; another process may be writing the same. */
function write(path: string, pieces: readonly Uint8Array[]): void {
  const unfinished = `${path}.${process.pid}`;
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

/** Removes the oldest file if there are too many. */
function hasRoom(folder: string): boolean {
  const files = readdirSync(folder).map((name) => {
    const path = join(folder, name);
    return { path, at: lstatSync(path).mtimeMs };
  });
  if (files.length < mostFiles) return true;
  const [oldest] = files.sort((a, b) => a.at - b.at);
  if (!oldest || nowMs() - oldest.at < leastAgeMs) return false;
  unlinkSync(oldest.path);
  return true;
}
