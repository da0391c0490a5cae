/**
 * A bundle that is only ever written to disk encrypted: parts are kept in memory and packed, and the current state is written
 * as one age file at the first part, whenever the number of parts has doubled, and at the seal. Each file replaces the
 * previous one by a rename, so that after a kill the last one is whole, and plain text never reaches the disk (FORMAT.md,
 * "Encrypted").
 */
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import {
  bundleSuffix,
  encryptedSuffix,
  manifestName,
  partialSuffix,
  progressName,
  unfinishedSuffix,
} from '../layout/bundle.ts';
import { AgeStream } from './age-encrypt.ts';
import type { Lock } from './age-key.ts';
import { type PackedBytes, packBytes, storedBytes, ZipArchive } from './archive.ts';
import { withdrawBegun } from './begin-early.ts';
import { type BundleNameFields, bundleStem } from './bundle-name.ts';
import { createPrivateFile, ensureDumpFolder, nameWithoutReplacing, unwritable } from './safe-folder.ts';
import type { Sink, SinkFile } from './sink.ts';
import { closeSync, loadZlib, lstatSync, unlinkSync, writeAll } from './system.ts';

/** The limit for all parts, packed. A part beyond it fails as on a full disk. */
const memoryLimit = 256 * 1024 * 1024;
/** Speed matters more than size: the process is dying. */
const deflateLevel = 1;
/** Larger parts are stored, so that readers can stream them. */
const deflateLimit = 32 * 1024 * 1024;
const mostAttempts = 100;

type Held = PackedBytes & { chunks: Uint8Array[] };

export class EncryptedSink implements Sink {
  readonly path: string;
  readonly #folder: string;
  readonly #lock: Lock;
  readonly #atMs: number;
  readonly #parts = new Map<string, Held>();
  readonly #progress: Uint8Array[] = [];
  #heldBytes = 0;
  #nextCheckpoint = 1;
  #isOnDisk = false;
  #begun: string | undefined;

  /**
   * `begun`: a folder that says in the clear what the file's name says (begin-early.ts); removed once the file is there.
   * Throws `unwritable`. Writes nothing yet.
   */
  constructor(dir: string, fields: BundleNameFields, lock: Lock, begun?: string) {
    this.#begun = begun;
    const parent = ensureDumpFolder(dir);
    const stem = freeStem(parent, fields);
    this.#folder = stem + bundleSuffix;
    this.path = join(parent, stem + encryptedSuffix);
    this.#lock = lock;
    this.#atMs = fields.atMs;
  }

  create(name: string): SinkFile {
    const chunks: Uint8Array[] = [];
    let size = 0;
    return {
      write: (bytes) => {
        if (this.#heldBytes + size + bytes.length > memoryLimit) throw noMemory();
        // Copied, because the caller may reuse its chunk.
        chunks.push(Buffer.from(bytes));
        size += bytes.length;
      },
      close: () => {},
      name: () => this.#hold(name, packChunks(name, chunks, size)),
      cancel: () => {
        chunks.length = 0;
      },
    };
  }

  note(line: string): void {
    this.#progress.push(Buffer.from(line));
  }

  read(name: string, limit: number): Uint8Array | undefined {
    const part = this.#parts.get(name);
    if (!part || part.uncompressedSize > limit) return undefined;
    const data = Buffer.concat(part.chunks);
    return part.compressedSize < part.uncompressedSize ? loadZlib().inflateRawSync(data) : data;
  }

  remove(name: string): void {
    this.#heldBytes -= this.#parts.get(name)?.compressedSize ?? 0;
    this.#parts.delete(name);
    // The file on disk still contains it.
    if (this.#isOnDisk) this.#writeFile([progressName, this.#progress]);
  }

  release(): boolean {
    return false;
  }

  checkpoint(): void {
    this.#writeFile([progressName, this.#progress]);
  }

  seal(manifest: Uint8Array, placed: () => void): string {
    this.#writeFile([manifestName, [manifest]]);
    placed();
    return this.path;
  }

  discard(): void {
    this.#parts.clear();
    if (this.#isOnDisk) unlinkQuietly(this.path);
    this.#isOnDisk = false;
  }

  /** A failed checkpoint has no other consequence: the parts are in memory, and the seal may still succeed. */
  #hold(name: string, part: Held): void {
    this.#parts.set(name, part);
    this.#heldBytes += part.compressedSize;
    if (this.#parts.size < this.#nextCheckpoint) return;
    this.#nextCheckpoint = this.#parts.size * 2;
    try {
      this.#writeFile([progressName, this.#progress]);
    } catch (error) {
      if (!this.#isOnDisk && this.#parts.size === 1) throw error;
    }
  }

  #writeFile([lastName, lastBytes]: [string, Uint8Array[]]): void {
    const unfinished = this.path + unfinishedSuffix;
    const fd = createPrivateFile(unfinished);
    try {
      const stream = new AgeStream((bytes) => writeAll(fd, bytes), this.#lock);
      const archive = new ZipArchive((bytes) => stream.write(bytes), this.#atMs);
      for (const [name, part] of this.#parts) archive.add(`${this.#folder}/${name}`, part, part.chunks);
      const last = packBytes(Buffer.concat(lastBytes), deflateLevel);
      archive.add(`${this.#folder}/${lastName}`, last, [last.data]);
      archive.end();
      stream.end();
      if (this.#isOnDisk) platform.files.rename(unfinished, this.path);
      else nameWithoutReplacing(unfinished, this.path);
      this.#isOnDisk = true;
      if (this.#begun !== undefined) withdrawBegun(this.#begun);
      this.#begun = undefined;
    } catch (error) {
      unlinkQuietly(unfinished);
      throw error;
    } finally {
      closeSync(fd);
    }
  }
}

function packChunks(name: string, chunks: Uint8Array[], size: number): Held {
  if (size <= deflateLimit && !name.endsWith('.gz')) {
    const { data, ...packed } = packBytes(Buffer.concat(chunks), deflateLevel);
    return { ...packed, chunks: [data] };
  }
  const crc = chunks.reduce((sum, chunk) => loadZlib().crc32(chunk, sum), 0);
  return { ...storedBytes(size, crc), chunks };
}

function freeStem(parent: string, fields: BundleNameFields): string {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const stem = bundleStem(fields, attempt);
    const isTaken = [bundleSuffix, partialSuffix, encryptedSuffix].some((suffix) =>
      lstatSync(join(parent, stem + suffix), { throwIfNoEntry: false }),
    );
    if (!isTaken) return stem;
  }
  throw unwritable(parent, 'EEXIST');
}

function noMemory(): Error {
  return Object.assign(new Error('the bundle is too big to be kept in memory'), { code: 'ENOMEM' });
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Whatever is left of it is encrypted.
  }
}
