/**
 * V8's code of the halves that a death compiles, kept by an earlier process beside this file's folder: half of a death's time is
 * spent on compiling. It is taken only from the package's own folder, since whoever can write there can replace the preload itself,
 * and only if it is a file of the preload's owner, of this user or of root that no one else can change. V8 checks its version, flags
 * and the length of the text, but neither the text nor the bytes: so the name has a checksum of the text, and the file one of itself.
 * The path of this file is in the name's checksum too: on Node 20 the code has the path at which it was compiled, by which our
 * frames are recognized, and images are often built in another folder.
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
type Crc32 = (bytes: string | Uint8Array, begun?: number) => number;

/** For the cold half, which writes it. */
export const uncached: UncachedCode[] = [];

/** `carried`: the text of the half as it is embedded. Undefined if this file is not in its own package (bundled), or the system can't tell owners. */
export function codeCacheOf(half: string, carried: string): CodeCache | undefined {
  try {
    const { crc32 } = loadZlib() as { crc32?: Crc32 };
    // The declarations of the preload are beside it only in the package.
    if (!crc32 || !platform.files.knowsOwners || !existsSync(`${__dirname}/register.d.cts`)) return undefined;
    const tag = getBuiltinModule('node:v8').cachedDataVersionTag();
    const path = `${codeFolder()}/${half}-${crc32(__filename, crc32(carried))}-${tag}`;
    return {
      code: readCode(path, crc32),
      compiled(script) {
        if (script.cachedDataRejected === false) return;
        uncached[uncached.length] = { path, code: () => Reflect.apply(createCachedData, script, []) };
      },
    };
  } catch {
    return undefined;
  }
}

const codeFolder = (): string => `${__dirname}/../.cache`;

function readCode(path: string, crc32: Crc32): Buffer | undefined {
  const folder = lstatSync(codeFolder(), { throwIfNoEntry: false });
  // Who can write to the folder could move a trusted user's file there, with contents that are not that user's.
  if (!folder?.isDirectory() || !isTrusted(folder)) return undefined;
  let fd: number | undefined;
  try {
    fd = openRegularFile(path);
    const file = fstatSync(fd);
    if (!isTrusted(file) || file.nlink !== 1) return undefined;
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

function isTrusted({ uid, mode }: { uid: number; mode: number }): boolean {
  const isKnown = platform.files.isTrustedOwner(uid) || uid === lstatSync(__filename).uid;
  return isKnown && (mode & writableByOthers) === 0;
}
