/** Bounded reads of small files, folders and links; undefined if they can't be read. Never throws. */
import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';

/** The first `maxBytes` of a file as text; undefined if it can't be read. */
export function readSmallFile(path: string, maxBytes = 64 * 1024): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    // Files in /proc report size 0.
    const buffer = Buffer.allocUnsafe(Math.min(maxBytes, fstatSync(fd).size || 64 * 1024));
    let filled = 0;
    for (let got = -1; got !== 0 && filled < buffer.length; filled += got)
      got = readSync(fd, buffer, filled, buffer.length - filled, null);
    return buffer.toString('utf8', 0, filled);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
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
