/** Bounded reads of small files, folders and links; undefined if they can't be read. Never throws. */
import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';

const mostBytes = 64 * 1024;
/**
 * Files in /proc report size 0, and only reading tells how long they are: mostly a few lines. Memory for the longest would be outside of
 * the heap, and in a waiting program nothing collects it for minutes.
 */
const firstBytes = 2048;

/** The first `maxBytes` of a file as text; undefined if it can't be read. */
export function readSmallFile(path: string, maxBytes = mostBytes): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    const size = fstatSync(fd).size;
    let buffer: Buffer = Buffer.allocUnsafe(Math.min(maxBytes, size || firstBytes));
    let filled = 0;
    for (let got = -1; got !== 0 && filled < buffer.length; filled += got) {
      got = readSync(fd, buffer, filled, buffer.length - filled, null);
      if (size === 0 && filled + got === buffer.length) buffer = grown(buffer, maxBytes);
    }
    return buffer.toString('utf8', 0, filled);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function grown(buffer: Buffer, maxBytes: number): Buffer {
  if (buffer.length >= maxBytes) return buffer;
  const larger = Buffer.allocUnsafe(Math.min(maxBytes, 2 * buffer.length));
  buffer.copy(larger);
  return larger;
}

/** Names in a folder; empty if it can't be read. */
export function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** The target of a link; undefined if it can't be read. */
export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
