/**
 * V8's code of the halves that a death compiles, kept by an earlier process beside this file's folder: half of a death's time is
 * spent on compiling. It is taken only from the package's own folder, since whoever can write there can replace the preload itself,
 * and only if it is a file of the preload's owner, of this user or of root that no one else can change. V8 checks its version, flags
 * and the length of the text, but neither the text nor the bytes: so the name has a checksum of the text, and the file one of itself.
 */
import { openRegularFile } from '../../bundle/write/open-regular-file.ts';
import {
  closeSync,
  existsSync,
  fstatSync,
  loadZlib,
  lstatSync,
  readWhole,
} from '../../bundle/write/system.ts';
import { platform } from '../../platform/index.ts';
import { getBuiltinModule } from '../host/intrinsics/intrinsics.ts';
import type { CodeCache } from '../host/intrinsics/own-realm.ts';

/** Taken before the program can replace it. */
const { createCachedData } = getBuiltinModule('node:vm').Script.prototype;

export interface UncachedCode {
  readonly path: string;
  code(): Buffer;
}

const longestCode = 16 * 1024 ** 2;
const writableByOthers = 0o022;
/** For the cold half, which writes it. */
export const uncached: UncachedCode[] = [];

/** `carried`: the text of the half as it is embedded. Undefined if this file is not in its own package (bundled), or the system can't tell owners. */
export function codeCacheOf(half: string, carried: string): CodeCache | undefined {
  try {
    const { crc32 } = loadZlib() as { crc32?: (bytes: string | Uint8Array) => number };
    // The declarations of the preload are beside it only in the package.
    if (!crc32 || !platform.files.knowsOwners || !existsSync(`${__dirname}/register.d.cts`)) return undefined;
    const tag = getBuiltinModule('node:v8').cachedDataVersionTag();
    const path = `${codeFolder()}/${half}-${crc32(carried)}-${tag}`;
    return {
      code: readCode(path, crc32),
      compiled(script) {
        if (script.cachedDataRejected !== undefined) return;
        uncached[uncached.length] = { path, code: () => Reflect.apply(createCachedData, script, []) };
      },
    };
  } catch {
    return undefined;
  }
}

export const codeFolder = (): string => `${__dirname}/../.cache`;

function readCode(path: string, crc32: (bytes: Uint8Array) => number): Buffer | undefined {
  if (!lstatSync(codeFolder(), { throwIfNoEntry: false })?.isDirectory()) return undefined;
  let fd: number | undefined;
  try {
    fd = openRegularFile(path);
    const { uid, mode, nlink } = fstatSync(fd);
    const isTrusted = platform.files.isTrustedOwner(uid) || uid === lstatSync(__filename).uid;
    if (!isTrusted || (mode & writableByOthers) !== 0 || nlink !== 1) return undefined;
    const bytes = readWhole(fd, longestCode);
    const length = (bytes?.length ?? 0) - 4;
    if (!bytes || length <= 0) return undefined;
    const code = bytes.subarray(0, length);
    return crc32(code) === bytes.readUInt32LE(length) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
