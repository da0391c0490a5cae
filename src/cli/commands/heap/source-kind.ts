/** The type of a file that was passed to `heap`, by its first bytes; gzip is decompressed. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { gunzipSync, constants as zlib } from 'node:zlib';
import { isPacked } from '../../../analysis/core/input/packing.ts';
import { isHeapProfile } from '../../../formats/heap-profile/heap-profile.ts';

/** `javascriptcore`: a snapshot of Bun or Safari. `other` may be a snapshot of V8, or anything. */
export type SourceKind = 'core' | 'profile' | 'javascriptcore' | 'other';

const headBytes = 1 << 16;
const [elfMagic, gzipMagic] = [0x7f454c46, 0x1f8b];
const elfTypeOffset = 16;
const coreType = 4;

/** A pipe is `other`, because its bytes can only be read once. */
export function sourceKind(path: string): SourceKind {
  if (!(statSync(path, { throwIfNoEntry: false })?.isFile() ?? false)) return 'other';
  const head = Buffer.alloc(headBytes);
  const fd = openSync(path, 'r');
  let got = 0;
  try {
    got = readSync(fd, head, 0, headBytes, 0);
  } finally {
    closeSync(fd);
  }
  const bytes = head.subarray(0, got);
  // Snapshots are compressed with gzip or not at all.
  if (!isGzip(bytes) && isPacked(bytes)) return 'core';
  return kindOf(isGzip(bytes) ? inflated(bytes) : bytes);
}

export const isGzip = (bytes: Buffer): boolean => bytes.length > 2 && bytes.readUInt16BE(0) === gzipMagic;

function kindOf(head: Buffer): SourceKind {
  if (isCore(head)) return 'core';
  if (isHeapProfile(head)) return 'profile';
  return isJavaScriptCore(head) ? 'javascriptcore' : 'other';
}

function isCore(head: Buffer): boolean {
  return (
    head.length >= elfTypeOffset + 2 &&
    head.readUInt32BE(0) === elfMagic &&
    head.readUInt16LE(elfTypeOffset) === coreType
  );
}

/** The beginning that WebKit's HeapSnapshotBuilder::json writes. */
function isJavaScriptCore(head: Buffer): boolean {
  return /^\s*\{\s*"version"\s*:\s*\d+\s*,\s*"type"\s*:\s*"(?:Inspector|GCDebugging)"/.test(
    head.subarray(0, 200).toString(),
  );
}

function inflated(head: Buffer): Buffer {
  try {
    return gunzipSync(head, { finishFlush: zlib.Z_SYNC_FLUSH });
  } catch {
    return Buffer.alloc(0);
  }
}
