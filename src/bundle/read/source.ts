/**
 * Where a reader finds its bytes: names and sizes, whatever holds them. A folder is read here, a packed bundle in
 * zip-source.ts. A source follows no link, waits for no pipe, and tells nothing of what is outside the bundle.
 */
import { join } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import { unfinishedSuffix } from '../layout/bundle.ts';
import { openRegularFile } from '../write/open-regular-file.ts';
import { closeSync, failureCode, fstatSync, lstatSync, readdirSync, readSync } from '../write/system.ts';

/** The bytes of a part, for one that is too big to be held. */
export interface PartFile {
  bytes: number;
  /** Fills `target` from `position` of the part on; how many bytes there were, 0 at the end. */
  read(target: Uint8Array, position: number): number;
  /** All of it in order, in chunks of `size` bytes. The chunk's memory is used again for the next. */
  chunks(size?: number): Generator<Uint8Array>;
  /** Where the bytes stand as they are in a file that is open, for readers that want a descriptor. */
  file?: { fd: number; start: number };
  close(): void;
}

export interface BundleSource {
  /** Files by name, with their sizes; those that are being written or that no part may be named are not among them. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Names of parts whose writing began and did not end. */
  readonly unfinished: readonly string[];
  /** What was there and cannot be read as a part, by name. */
  readonly refused: ReadonlyMap<string, string>;
  /** Throws AgentdumpError, or what the system throws. */
  read(name: string, limit: number): Buffer;
  open(name: string): PartFile;
  close(): void;
}

export const mostFiles = 10_000;
const partName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/;

export function isPartName(name: string): boolean {
  return partName.test(name);
}

/** Part of a file that is open, as a PartFile. `close` is the caller's own. */
export function windowOf(fd: number, start: number, bytes: number, close: () => void): PartFile {
  const read = (target: Uint8Array, position: number) => {
    const wanted = Math.min(target.length, bytes - position);
    return wanted > 0 ? readSync(fd, target, 0, wanted, start + position) : 0;
  };
  return { bytes, read, chunks: (size) => chunksOf(read, size), file: { fd, start }, close };
}

export function* chunksOf(read: PartFile['read'], size = 256 * 1024): Generator<Uint8Array> {
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

  /** Throws what the system throws for a folder that can't be listed. */
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
