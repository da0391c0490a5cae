/**
 * Where journal bytes come from: a file, a folder's segments in their order, or bytes at hand. Opens nothing but
 * regular files (a FIFO with a segment's name must not hang a reader) and reads through one window of 1 MB a source.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import { segmentSuffix } from '../layout/journal.ts';

/** One file's bytes. A journal is one or several of them; one may hold several segments, end to end. */
export interface JournalSource {
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  /** Bytes [offset, offset + length), fewer where the source ends or can't be read. They stay valid. */
  read(offset: number, length: number): Uint8Array;
  close?(): void;
}

/** A source, or why the file of this name is none. */
export type MaybeSource = JournalSource | { name: string; reason: string };

const windowBytes = 1024 * 1024;
const segmentFileName = /^\d{8,}\.journal$/;

/** The sources below `path`, opened one after the other, each closed before the next is opened. */
export function* openSources(path: string): Generator<MaybeSource> {
  for (const file of listFiles(path)) {
    const source = tryOpen(file);
    yield source;
    if ('close' in source) source.close?.();
  }
}

export function sourceOfBytes(name: string, bytes: Uint8Array): JournalSource {
  return { name, size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

function listFiles(path: string): string[] {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (cause) {
    throw new AgentdumpError('not-found', `no journal at ${path}`, { path, lookedFor: segmentSuffix }, cause);
  }
  if (!isFolder) return [path];
  const names = readdirSync(path).filter((name) => segmentFileName.test(name));
  return names
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => join(path, name));
}

function tryOpen(path: string): MaybeSource {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    return { name: path, reason: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return windowOver(path, fd, stat.size);
  closeSync(fd);
  return { name: path, reason: 'not a regular file' };
}

function windowOver(name: string, fd: number, size: number): JournalSource {
  let window = Buffer.alloc(0);
  let windowStart = 0;
  const read = (offset: number, length: number): Uint8Array => {
    const end = Math.min(offset + length, size);
    if (offset < windowStart || end > windowStart + window.length) {
      const wanted = Math.min(Math.max(end - offset, windowBytes), size - offset);
      window = Buffer.allocUnsafeSlow(Math.max(wanted, 0));
      windowStart = offset;
      window = window.subarray(0, readFully(fd, window, offset));
    }
    return window.subarray(offset - windowStart, Math.max(end - windowStart, offset - windowStart));
  };
  return { name, size, read, close: () => closeSync(fd) };
}

/** Number of bytes read: fewer than the buffer holds when the file was cut meanwhile or the disk fails. */
function readFully(fd: number, buffer: Buffer, position: number): number {
  let done = 0;
  try {
    while (done < buffer.length) {
      const count = readSync(fd, buffer, done, buffer.length - done, position + done);
      if (count === 0) break;
      done += count;
    }
  } catch {
    // What could be read is what the source holds.
  }
  return done;
}
