/**
 * Counts repeated deaths: a death with the same signature within a time window is counted but not stored, so that a crash
 * loop costs lines, not bundles. `signatures.log` is append-only, one short line per write. A writer appends its line first
 * and then reads the lines before it, so that exactly one of two simultaneous deaths is stored. If anything fails, the
 * death is stored. The line of a stored death ends with the id of its bundle, so that retention knows the signature of each
 * bundle without opening any.
 */
import { dirname, join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { randomBytes } from '../../platform/kernel-random.ts';
import { startSha256 } from '../../platform/sha256.ts';
import { signatureLogName } from '../layout/bundle.ts';
import { readBundleName } from '../write/bundle-name.ts';
import { openRegularFile } from '../write/open-regular-file.ts';
import { createPrivateFile, ensureDumpFolder, openStateFile } from '../write/safe-folder.ts';
import {
  closeSync,
  constants,
  fstatSync,
  nowMs,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writeAll,
  writeSync,
} from '../write/system.ts';

export interface NoteOptions {
  dir: string;
  /** Any text that is equal for equal deaths. Only its hash is stored. */
  signature: string;
  /** Deaths within this many milliseconds of a stored one are only counted. */
  windowMs: number;
}

export interface SignatureNote {
  store: boolean;
  /** With `store`: how many were only counted since the previous bundle. Without: how many so far, including this one. */
  repeats: number;
  /** With `store`: the id for the bundle, absent if nothing could be written. Without: that of the bundle that was stored. */
  id?: string;
}

/** Above this size the older half of the file is removed. */
const longestLog = 64 * 1024;
const mostOlderKept = 300;
const lineOf = /^(\d{13}) ([0-9a-f]{16}) ([0-9a-f]{16})$/;

export function noteSignature(options: NoteOptions): SignatureNote {
  try {
    return note(options);
  } catch {
    return { store: true, repeats: 0 };
  }
}

function note({ dir, signature, windowMs }: NoteOptions): SignatureNote {
  const path = join(ensureDumpFolder(dir), signatureLogName);
  const fd = openStateFile(path);
  try {
    const hash = startSha256().update(signature).digest('hex').slice(0, 16);
    const token = randomBytes(8).toString('hex');
    const line = `\n${nowMs()} ${hash} ${token}`;
    if (writeSync(fd, line) !== line.length) return { store: true, repeats: 0 };
    const lines = readTail(fd);
    if (fstatSync(fd).size > longestLog) keepNewerHalf(path, lines);
    const answer = replay(lines, hash, token, windowMs);
    return answer.store ? { ...answer, id: token } : answer;
  } finally {
    closeSync(fd);
  }
}

/**
 * Marks the bundle `id` as not stored after all, because it could not be written, so that the next such death is stored.
 * Overwrites the line in place, because a full disk accepts no further line. Never throws.
 */
export function forgetStored(dir: string, id: string): void {
  try {
    const path = join(dir, signatureLogName);
    const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = fstatSync(fd);
      const start = Math.max(0, size - 2 * longestLog);
      const bytes = Buffer.alloc(size - start);
      readSync(fd, bytes, 0, bytes.length, start);
      const at = bytes.lastIndexOf(id);
      if (at >= 0) writeSync(fd, '-'.repeat(id.length), start + at);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Then the next such death within the window is only counted. A line on stderr has already said that there is no
    // bundle.
  }
}

/** The hash of the signature, by the first eight digits of the bundle's id. Never throws. */
export function readSignatures(dir: string): ReadonlyMap<string, string> {
  const signatures = new Map<string, string>();
  try {
    const fd = openRegularFile(join(dir, signatureLogName));
    try {
      for (const line of readTail(fd)) {
        const [, , hash, id] = lineOf.exec(line) ?? [];
        if (hash !== undefined && id !== undefined) signatures.set(id.slice(0, 8), hash);
      }
    } finally {
      closeSync(fd);
    }
  } catch {
    // Retention then decides by the names of the bundles.
  }
  return signatures;
}

/** Lines at the end of the file. A line that was cut off by the window or torn matches nothing. */
function readTail(fd: number): string[] {
  const { size } = fstatSync(fd);
  const start = Math.max(0, size - 2 * longestLog);
  const bytes = Buffer.alloc(size - start);
  const count = readSync(fd, bytes, 0, bytes.length, start);
  return bytes.toString('latin1', 0, count).split('\n');
}

/** Every process replays the same lines in the same order, and so reaches the same answer. */
function replay(lines: string[], hash: string, token: string, windowMs: number): SignatureNote {
  let storedAt = Number.NEGATIVE_INFINITY;
  let stored = '';
  let repeats = 0;
  for (const line of lines) {
    const [, time, lineHash, lineToken] = lineOf.exec(line) ?? [];
    if (lineHash !== hash) continue;
    const at = Number(time);
    // If the clock was set back, deaths must be stored again before it has caught up.
    const store = Math.abs(at - storedAt) > windowMs;
    if (!store) repeats++;
    if (lineToken === token) return { store, repeats, ...(!store && { id: stored }) };
    if (store) {
      storedAt = at;
      stored = lineToken ?? '';
      repeats = 0;
    }
  }
  return { store: true, repeats: 0 };
}

/** Of the older half, keeps the lines of bundles that still exist. */
function keepNewerHalf(path: string, lines: string[]): void {
  const cut = Math.max(0, lines.length - Math.floor(longestLog / 2 / 50));
  const ids = new Set(readdirSync(dirname(path)).map((name) => readBundleName(name)?.shortId));
  const ofBundles = lines.slice(0, cut).filter((line) => ids.has(lineOf.exec(line)?.[3]?.slice(0, 8)));
  const kept = [...ofBundles.slice(-mostOlderKept), ...lines.slice(cut)].join('\n');
  const next = `${path}.next`;
  try {
    const fd = createPrivateFile(next);
    try {
      writeAll(fd, Buffer.from(kept, 'latin1'));
    } finally {
      closeSync(fd);
    }
    platform.files.rename(next, path);
  } catch {
    // Another process is doing the same, or died doing it. The next one will find the path free.
    try {
      unlinkSync(next);
    } catch {}
  }
}
