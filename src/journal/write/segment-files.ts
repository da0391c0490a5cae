/**
 * The files of one journal while it is written: opening the next segment, writing all bytes of a call, and dropping
 * the oldest segments once the bound is reached. Segment 0 holds the facts of the start and is never dropped.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { segmentName } from '../layout/journal.ts';

// As they were before the host was loaded: one that replaces functions of node:fs does not change what we write.
const { closeSync, ftruncateSync, openSync, unlinkSync, writeSync } = fs;

export class SegmentFiles {
  readonly #dir: string;
  readonly #maxBytes: number;
  /** Finished segments that are still there, oldest first, without segment 0. */
  readonly #kept: { segment: number; bytes: number }[] = [];
  #keptBytes = 0;
  #fd = -1;
  #current = { segment: -1, bytes: 0 };
  #folderIsSynced = false;

  constructor(dir: string, maxBytes: number) {
    this.#dir = dir;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the current segment that are surely in the file. */
  get written(): number {
    return this.#current.bytes;
  }

  /** Closes the current segment, makes room for `expectedBytes` more, and opens the segment of this number. */
  open(segment: number, expectedBytes: number): void {
    const fd = openSync(join(this.#dir, segmentName(segment)), 'wx', 0o600);
    if (this.#fd >= 0) this.#retire();
    this.#fd = fd;
    this.#current = { segment, bytes: 0 };
    this.#folderIsSynced = false;
    this.#makeRoom(expectedBytes);
  }

  /** Writes all of it or throws; after a failure nothing of it is left in the file. Of nothing, the call alone. */
  write(bytes: Uint8Array, length: number): void {
    const start = this.#current.bytes;
    let done = 0;
    try {
      do done += writeSync(this.#fd, bytes, done, length - done, start + done);
      while (done < length);
    } catch (error) {
      this.#cutBackTo(start);
      throw error;
    }
    this.#current.bytes = start + length;
  }

  sync(): void {
    if (this.#fd < 0) return;
    platform.files.syncFile(this.#fd);
    if (!this.#folderIsSynced) this.#syncFolder();
  }

  close(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
  }

  #retire(): void {
    closeSync(this.#fd);
    this.#keptBytes += this.#current.bytes;
    if (this.#current.segment !== 0) this.#kept.push(this.#current);
  }

  #makeRoom(expectedBytes: number): void {
    while (this.#keptBytes + expectedBytes > this.#maxBytes) {
      const oldest = this.#kept.shift();
      if (!oldest) return;
      this.#keptBytes -= oldest.bytes;
      try {
        unlinkSync(join(this.#dir, segmentName(oldest.segment)));
      } catch {
        // Somebody else removed it: the room is there.
      }
    }
  }

  #cutBackTo(bytes: number): void {
    try {
      ftruncateSync(this.#fd, bytes);
    } catch {
      // The torn bytes stay; the next write starts over them, at the same offset.
    }
  }

  /** A new file survives a power cut only when its folder's entry is on the disk too. */
  #syncFolder(): void {
    platform.files.syncFolder(this.#dir);
    this.#folderIsSynced = true;
  }
}
