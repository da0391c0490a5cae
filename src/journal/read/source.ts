/**
 * Sources of journal bytes: a file, the segments of a folder in order, or bytes in memory. Only regular files are opened (a
 * FIFO with the name of a segment must not block the reader). Reads through one window of 1 MB per source.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import { segmentSuffix } from '../layout/journal.ts';

/** The bytes of one file. A journal consists of one or more files; a file may contain several concatenated segments. */
export interface JournalSource {
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  /** Bytes [offset, offset + length), fewer if the source ends or can't be read. They stay valid. */
  read(offset: number, length: number): Uint8Array;
  close?(): void;
}

/** A source, or the reason why the file with this name can't be used. */
export type MaybeSource = JournalSource | { name: string; reason: string };

const windowBytes = 1024 * 1024;
const segmentFileName = /^\d{8,}\.journal$/;

/** The sources below `path`, one after the other. Each is closed before the next is opened. */
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

/** The number of bytes read: fewer than the buffer's size if the file was truncated meanwhile or the disk fails. */
function readFully(fd: number, buffer: Buffer, position: number): number {
  let done = 0;
  try {
    while (done < buffer.length) {
      const count = readSync(fd, buffer, done, buffer.length - done, position + done);
      if (count === 0) break;
      done += count;
    }
  } catch {
    // The source consists of what could be read.
  }
  return done;
}
