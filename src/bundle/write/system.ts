/**
 * The system calls that the writer uses, as they were when this file was loaded. The preload is loaded before the host, so a
 * host that replaces functions of node:fs or the global Date later (as test doubles do) does not change how its death is
 * written. node:crypto takes milliseconds to load, and is loaded at the first hash.
 */
/** Not imported: for a default import, the preload's bundler would copy the module property by property at each start. */
const fs = process.getBuiltinModule('node:fs');

export const {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeSync,
} = fs;

const HostDate = Date;

export function nowMs(): number {
  return HostDate.now();
}

/** ISO 8601 in UTC with milliseconds; the current time if `ms` is no valid time. */
export function isoTime(ms: number): string {
  return new HostDate(Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? ms : nowMs()).toISOString();
}

type Crypto = typeof import('node:crypto');
let crypto: Crypto | undefined;

/** node:crypto, loaded at the first call. */
export function loadCrypto(): Crypto {
  crypto ??= process.getBuiltinModule('node:crypto') as Crypto;
  return crypto;
}

type Zlib = typeof import('node:zlib');
let zlib: Zlib | undefined;

/** node:zlib, loaded at the first call. */
export function loadZlib(): Zlib {
  zlib ??= process.getBuiltinModule('node:zlib') as Zlib;
  return zlib;
}

/** The system's error code (`ENOSPC`), or the text of any other thrown value. */
export function failureCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.message : String(error);
}

/** Writes all of `bytes`, even if the system accepts only a part at a time. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
}

/** The contents of a regular file of at most `limit` bytes; undefined if it is larger or another kind of file. */
export function readWhole(fd: number, limit: number): Buffer | undefined {
  const { size } = fstatSync(fd);
  if (!fstatSync(fd).isFile() || size > limit) return undefined;
  const bytes = Buffer.allocUnsafeSlow(size);
  let done = 0;
  while (done < size) {
    const count = readSync(fd, bytes, done, size - done, done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}
