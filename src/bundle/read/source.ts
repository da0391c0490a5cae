/**
 * The files of a bundle as names, sizes and bytes, however they are stored. A folder is read here, a packed bundle in
 * zip-source.ts. A source follows no link, does not block on a pipe, and exposes nothing outside of the bundle.
 */
import { join } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import { unfinishedSuffix } from '../layout/bundle.ts';
import { openRegularFile } from '../write/open-regular-file.ts';
import { closeSync, failureCode, fstatSync, lstatSync, readdirSync, readSync } from '../write/system.ts';

/** The bytes of a part that is too large for memory. */
export interface PartFile {
  bytes: number;
  /** Fills `target` from `position` of the part; returns the number of bytes read, 0 at the end. */
  read(target: Uint8Array, position: number): number;
  /** The whole part in chunks of `size` bytes. The memory of a chunk is reused for the next one. */
  chunks(size?: number): Generator<Uint8Array>;
  /** An open file that contains the bytes unchanged, for readers that need a descriptor. */
  file?: { fd: number; start: number };
  close(): void;
}

export interface BundleSource {
  /** Files by name with their sizes, without those that are being written or have a name that no part may have. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Names of parts that were begun and not finished. */
  readonly unfinished: readonly string[];
  /** Files that can't be read as a part, by name, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
  /** Throws AgentdumpError, or a system error. */
  read(name: string, limit: number): Buffer;
  open(name: string): PartFile;
  /** Of the bytes that `read` returned, if this is known without reading them again. */
  sha256?(name: string): string | undefined;
  close(): void;
}

export const mostFiles = 10_000;
const usualChunkBytes = 256 * 1024;
const partName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/;

export function isPartName(name: string): boolean {
  return partName.test(name);
}

/** A range of an open file as a PartFile. `close` is supplied by the caller. */
function windowOf(fd: number, start: number, bytes: number, close: () => void): PartFile {
  const read = (target: Uint8Array, position: number) => {
    const wanted = Math.min(target.length, bytes - position);
    return wanted > 0 ? readSync(fd, target, 0, wanted, start + position) : 0;
  };
  return { bytes, read, chunks: chunksIn(bytes, read), file: { fd, start }, close };
}

/** `PartFile.chunks`: a small part needs no large chunk, and a bundle has many of them. */
export function chunksIn(bytes: number, read: PartFile['read']): PartFile['chunks'] {
  return (size = usualChunkBytes) => chunksOf(read, Math.min(size, bytes));
}

export function* chunksOf(read: PartFile['read'], size = usualChunkBytes): Generator<Uint8Array> {
  const chunk = Buffer.allocUnsafeSlow(size);
  let position = 0;
  for (let count = read(chunk, position); count > 0; count = read(chunk, position)) {
    position += count;
    yield chunk.subarray(0, count);
  }
}

/** Throws `over-limit`. */
export function requireWithin(name: string, bytes: number, limit: number): void {
  if (bytes <= limit) return;
  const details = { limit: 'part bytes', wanted: bytes, allowed: limit };
  throw new AgentdumpError('over-limit', `${name} has ${bytes} bytes, more than ${limit}`, details);
}

export class FolderSource implements BundleSource {
  readonly sizes = new Map<string, number>();
  readonly unfinished: string[] = [];
  readonly refused = new Map<string, string>();
  readonly #path: string;

  /** Throws a system error if the folder can't be listed. */
  constructor(path: string) {
    this.#path = path;
    for (const name of readdirSync(path).sort()) this.#look(name, true);
  }

  read(name: string, limit: number): Buffer {
    const file = this.open(name);
    try {
      requireWithin(name, file.bytes, limit);
      const bytes = Buffer.allocUnsafeSlow(file.bytes);
      let done = 0;
      for (let count = 1; count > 0 && done < bytes.length; done += count)
        count = file.read(bytes.subarray(done), done);
      return bytes.subarray(0, done);
    } finally {
      file.close();
    }
  }

  open(name: string): PartFile {
    const fd = openRegularFile(join(this.#path, name));
    return windowOf(fd, 0, fstatSync(fd).size, () => closeSync(fd));
  }

  close(): void {}

  #look(name: string, atTop: boolean): void {
    if (this.sizes.size + this.refused.size >= mostFiles) return;
    const stat = lstatSync(join(this.#path, name), { throwIfNoEntry: false });
    if (!stat) return;
    if (name.endsWith(unfinishedSuffix)) this.unfinished.push(name.slice(0, -unfinishedSuffix.length));
    else if (!isPartName(name)) this.refused.set(name, 'no part has such a name');
    else if (stat.isFile()) this.sizes.set(name, stat.size);
    else if (stat.isSymbolicLink()) this.refused.set(name, 'it is a symbolic link');
    else if (stat.isDirectory() && atTop) this.#lookInto(name);
    else this.refused.set(name, 'it is not a regular file');
  }

  #lookInto(name: string): void {
    try {
      for (const below of readdirSync(join(this.#path, name)).sort()) this.#look(`${name}/${below}`, false);
    } catch (error) {
      this.refused.set(name, `it cannot be listed: ${failureCode(error)}`);
    }
  }
}
