/** The heap of a core as the text of a heap snapshot, redacted as a snapshot is on its way to the disk. */
import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { gunzipSync, constants as zlib } from 'node:zlib';
import type { Gap } from '../../../model/verdict.ts';
import { openNew } from '../../output.ts';

const headBytes = 1 << 16;
const [elfMagic, gzipMagic] = [0x7f454c46, 0x1f8b];
const elfTypeOffset = 16;
const coreType = 4;

/** By its first bytes; gzip is looked into. A pipe is no core: who looks into it has taken its bytes. */
export function isCoreFile(path: string): boolean {
  if (!(statSync(path, { throwIfNoEntry: false })?.isFile() ?? false)) return false;
  const head = Buffer.alloc(headBytes);
  const fd = openSync(path, 'r');
  let got = 0;
  try {
    got = readSync(fd, head, 0, headBytes, 0);
  } finally {
    closeSync(fd);
  }
  return isCore(
    got > 2 && head.readUInt16BE(0) === gzipMagic ? inflated(head.subarray(0, got)) : head.subarray(0, got),
  );
}

function isCore(head: Buffer): boolean {
  return (
    head.length >= elfTypeOffset + 2 &&
    head.readUInt32BE(0) === elfMagic &&
    head.readUInt16LE(elfTypeOffset) === coreType
  );
}

function inflated(head: Buffer): Buffer {
  try {
    return gunzipSync(head, { finishFlush: zlib.Z_SYNC_FLUSH });
  } catch {
    return Buffer.alloc(0);
  }
}

/** @throws as readCoreGraph. */
export async function readCore(
  path: string,
  executable?: string,
): Promise<{ input: AsyncIterable<Uint8Array>; gaps: Gap[] }> {
  const [{ readCoreGraph }, { snapshotText }, { createSnapshotRedactor }] = await Promise.all([
    import('../../../analysis/core/graph/core-graph.ts'),
    import('../../../analysis/core/graph/snapshot-text.ts'),
    import('../../../redaction/snapshot/redactor.ts'),
  ]);
  const { columns, gaps } = readCoreGraph(path, executable === undefined ? {} : { executable });
  const strings = process.env['AGENTDUMP_HEAP_STRINGS'] === 'clean' ? 'clean' : 'names';
  const redactor = createSnapshotRedactor({ strings });
  async function* clean() {
    for await (const piece of snapshotText(columns)) yield redactor.write(piece);
    yield redactor.end();
  }
  return { input: clean(), gaps };
}

/** Writes the heap of a core as a `.heapsnapshot` that is not there yet, for its owner's eyes only. */
export async function exportCore(path: string, target: string, executable?: string): Promise<Gap[]> {
  const { input, gaps } = await readCore(path, executable);
  const fd = openNew(target);
  try {
    for await (const piece of input) for (let at = 0; at < piece.length; ) at += writeSync(fd, piece, at);
  } finally {
    closeSync(fd);
  }
  return gaps;
}
