/**
 * The files of a journal that is being written: opens the next segment, writes all bytes of a call, and drops the oldest
 * segments once the size limit is reached. Segment 0 contains the facts of the start and is never dropped.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { segmentName } from '../layout/journal.ts';

// Captured before the host is loaded, so that a host that replaces functions of node:fs does not affect the journal.
const { closeSync, ftruncateSync, openSync, unlinkSync, writeSync } = fs;

export class SegmentFiles {
  readonly #dir: string;
  readonly #maxBytes: number;
  /** Finished segments that still exist, oldest first, without segment 0. */
  readonly #kept: { segment: number; bytes: number }[] = [];
  #keptBytes = 0;
  #fd = -1;
  #current = { segment: -1, bytes: 0 };
  #folderIsSynced = false;

  constructor(dir: string, maxBytes: number) {
    this.#dir = dir;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the current segment that are known to be in the file. */
  get written(): number {
    return this.#current.bytes;
  }

  /** Closes the current segment, makes room for `expectedBytes` more, and opens the segment with this number. */
  open(segment: number, expectedBytes: number): void {
    const fd = openSync(join(this.#dir, segmentName(segment)), 'wx', 0o600);
    if (this.#fd >= 0) this.#retire();
    this.#fd = fd;
    this.#current = { segment, bytes: 0 };
    this.#folderIsSynced = false;
    this.#makeRoom(expectedBytes);
  }

  /**
   * Writes all bytes or throws; after a failure none of them is left in the file. With length 0 it only makes the system
   * call.
   */
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
        // Another process has removed it, so the space is available.
      }
    }
  }

  #cutBackTo(bytes: number): void {
    try {
      ftruncateSync(this.#fd, bytes);
    } catch {
      // The torn bytes stay; the next write overwrites them, at the same offset.
    }
  }

  /** A new file survives a power loss only if the entry in its folder is on disk as well. */
  #syncFolder(): void {
    platform.files.syncFolder(this.#dir);
    this.#folderIsSynced = true;
  }
}
