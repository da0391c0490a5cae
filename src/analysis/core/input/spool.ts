/**
 * Random access to a stream, for a core from a pipe or a compressed file. Bytes that aren't zero are kept in memory up to a
 * limit, then in an unlinked temporary file, so that nothing remains if the process is killed.
 */
import { closeSync, constants, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ByteSource, FileSource } from '../../../bytes/byte-source.ts';
import { AgentdumpError } from '../../../errors.ts';

/** Beyond this size a file is used. The core of a small process has about 9 MB of non-zero bytes. */
const mostInMemory = 32 << 20;
/** A few hundred times the size of the largest cores; anything larger was crafted. */
const mostBytes = 2 ** 40;
const pageSize = 4096;
const zeros = Buffer.alloc(pageSize);

interface Run {
  start: number;
  bytes: Buffer;
}

export class Spool {
  #runs: Run[] = [];
  #kept = 0;
  #size = 0;
  #file: number | undefined;
  readonly #folder: string;

  constructor(folder = tmpdir()) {
    this.#folder = folder;
  }

  /** Throws `unwritable` if the folder for temporary files is full. */
  write(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    if (this.#size + bytes.length > mostBytes)
      throw new AgentdumpError('over-limit', 'the core unpacks to more than 1 TB', {
        limit: 'unpacked size',
        wanted: this.#size + bytes.length,
        allowed: mostBytes,
      });
    let start = -1;
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + pageSize - ((this.#size + at) % pageSize));
      const isZero = bytes.subarray(at, end).equals(zeros.subarray(0, end - at));
      if (isZero && start >= 0) this.#keep(this.#size + start, bytes.subarray(start, at));
      if (isZero) start = -1;
      else if (start < 0) start = at;
      at = end;
    }
    if (start >= 0) this.#keep(this.#size + start, bytes.subarray(start));
    this.#size += bytes.length;
  }

  /** A source of all written bytes. The caller closes it. */
  end(): { source: ByteSource; close(): void } {
    if (this.#file === undefined) return { source: new SparseSource(this.#runs, this.#size), close() {} };
    ftruncateSync(this.#file, this.#size);
    const source = new FileSource('', this.#file);
    return { source, close: () => source.close() };
  }

  /** Releases everything; called instead of `end`. */
  drop(): void {
    this.#runs = [];
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #keep(start: number, bytes: Buffer): void {
    this.#kept += bytes.length;
    if (this.#file === undefined && this.#kept <= mostInMemory) {
      this.#runs.push({ start, bytes: Buffer.from(bytes) });
      return;
    }
    try {
      this.#file ??= openNameless(this.#folder);
      for (const run of this.#runs) writeAll(this.#file, run);
      this.#runs = [];
      writeAll(this.#file, { start, bytes });
    } catch (error) {
      throw new AgentdumpError(
        'unwritable',
        `the core cannot be unpacked into ${this.#folder} (TMPDIR): ${(error as Error).message}`,
        { path: this.#folder, reason: 'temporary' },
        error,
      );
    }
  }
}

function openNameless(folder: string): number {
  const path = join(folder, `agentdump-core-${process.pid}-${process.hrtime.bigint().toString(36)}`);
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
  const file = openSync(path, flags, 0o600);
  rmSync(path);
  return file;
}

function writeAll(file: number, { start, bytes }: Run): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(file, bytes, done, bytes.length - done, start + done);
}

/** The bytes between the runs are zero. */
class SparseSource implements ByteSource {
  readonly size: number;
  readonly #runs: readonly Run[];

  /** `runs`: sorted and not overlapping. */
  constructor(runs: readonly Run[], size: number) {
    this.#runs = runs;
    this.size = size;
  }

  readInto(target: Uint8Array, offset: number): number {
    if (offset < 0 || offset >= this.size) return 0;
    const length = Math.min(target.length, this.size - offset);
    target.fill(0, 0, length);
    for (let i = this.#firstEndingAfter(offset); i < this.#runs.length; i++) {
      const { start, bytes } = this.#runs[i]!;
      if (start >= offset + length) break;
      const from = Math.max(0, offset - start);
      target.set(
        bytes.subarray(from, Math.min(bytes.length, offset + length - start)),
        Math.max(0, start - offset),
      );
    }
    return length;
  }

  #firstEndingAfter(offset: number): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { start, bytes } = this.#runs[middle]!;
      if (start + bytes.length > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
