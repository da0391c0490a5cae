/**
 * A copy of a process's memory that is kept for as long as the process lives, in case that it is killed. It is in a file, so
 * that it takes nobody's memory. The file has no name, so that it disappears with this process however that ends, and is
 * encrypted with a key that only this process has, so that nothing readable is ever on the disk.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, statfsSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CoreInMemory } from './copied-memory.ts';
import { freeBytes } from './core-room.ts';
import { Arena, copyMemory, keep, type MemoryCopy, writeWhole } from './live-core.ts';

export interface SealedCopy {
  file: number;
  key: Uint8Array;
  /** The pieces of the core in the order in which they are in the file. */
  sealed: { offset: number; length: number }[];
  size: number;
}

/** The key encrypts one file only, so that the counter may begin at zero. */
const cipherName = 'aes-256-ctr';
const counter = Buffer.alloc(16);
const keyBytes = 32;
const chunkBytes = 4 << 20;
/** File systems in memory: tmpfs, ramfs (statfs(2)). */
const inMemory = new Set([0x0102_1994, 0x8584_58f6]);
const spareShare = 0.1;

/** The first of the temporary folder and `dir` that is on a disk with room for that many bytes; undefined if neither is. */
export function findDisk(dir: string, bytes: number): string | undefined {
  return [tmpdir(), dir].find((folder) => {
    try {
      return !inMemory.has(statfsSync(folder).type) && freeBytes(folder) * (1 - spareShare) >= bytes;
    } catch {
      return false;
    }
  });
}

/**
 * Copies all of its memory. `bufferedBytes`: kept in memory during the pause, and written to the file when the process
 * continues. Throws like `copyMemory`, and errors of the file system.
 */
export function sealCopy(
  pid: number,
  folder: string,
  bufferedBytes: number,
): { copy: MemoryCopy; sealed: SealedCopy } {
  const file = openNameless(folder);
  try {
    const key = randomBytes(keyBytes);
    const cipher = createCipheriv(cipherName, key, counter);
    const sealed: SealedCopy['sealed'] = [];
    let end = 0;
    const write = (bytes: Uint8Array, offset: number): void => {
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        const piece = cipher.update(bytes.subarray(at, at + chunkBytes));
        writeWhole(file, piece, end);
        end += piece.length;
      }
      sealed.push({ offset, length: bytes.length });
    };
    const maxBytes = Number.MAX_SAFE_INTEGER;
    const { kept, size, ...copy } = copyMemory(pid, { maxBytes }, { bufferedBytes, write });
    for (const { bytes, offset } of kept) write(bytes, offset);
    return { copy, sealed: { file, key, sealed, size } };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

export function isSealed(source: SealedCopy | CoreInMemory): source is SealedCopy {
  return 'sealed' in source;
}

/** Reads it into memory. Throws errors of the file system. */
export function unseal({ file, key, sealed, size }: SealedCopy): CoreInMemory {
  const decipher = createDecipheriv(cipherName, key, counter);
  const kept: CoreInMemory['kept'] = [];
  const arena = new Arena(sealed.reduce((sum, { length }) => sum + length, 0));
  let position = 0;
  for (const { offset, length } of sealed)
    for (let at = 0; at < length; ) {
      const room = arena.take(Math.min(chunkBytes, length - at)) as Buffer;
      const got = readSync(file, room, 0, room.length, position);
      if (got === 0) throw new Error('the copy of its memory ends early');
      room.set(decipher.update(room.subarray(0, got)));
      keep(kept, room.subarray(0, got), offset + at);
      at += got;
      position += got;
    }
  kept.sort((a, b) => a.offset - b.offset);
  return { kept, size };
}

function openNameless(folder: string): number {
  const path = join(folder, `agentdump-copy-${process.pid}-${randomBytes(8).toString('hex')}`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}
