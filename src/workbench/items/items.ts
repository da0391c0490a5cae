/** What can be opened: a bundle, a heap snapshot or a core, with the row that a page shows of it. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { headBytes, isPacked } from '../../analysis/core/input/packing.ts';
import type { ListedBundle } from '../../bundle/finished/list.ts';
import { escapeLine } from '../../report/escape-terminal.ts';
import type { ItemRow } from '../protocol.ts';

export interface Item {
  row: ItemRow;
  path: string;
}

export const snapshotName = /\.heapsnapshot(\.gz)?$/;

export function coreItem(path: string, id: string): Item {
  const { size, mtime } = statSync(path);
  return { row: { id, kind: 'core', name: nameOf(path), at: mtime.toISOString(), bytes: size }, path };
}

export function heapItem(path: string, name: string, id: string): Item {
  const { size, mtime } = statSync(path);
  return { row: { id, kind: 'heap', name, at: mtime.toISOString(), bytes: size }, path };
}

export const bundleItem = (path: string): Item => ({
  row: { id: 'bundle', kind: 'bundle', name: nameOf(path) },
  path,
});

export const nameOf = (path: string): string => escapeLine(basename(resolve(path)));

/**
 * The id is derived from the name, so that it does not change when bundles are added. Names may contain characters with a
 * meaning in URLs.
 */
export function listedItem({
  name,
  path,
  at,
  state,
  program,
  verdictKind,
  error,
  bytes,
  gaps,
  problem,
}: ListedBundle): Item {
  const row: ItemRow = {
    id: encodeURIComponent(name),
    kind: 'bundle',
    name: escapeLine(name),
    at,
    state,
    bytes,
    gaps,
  };
  if (program !== undefined) row.program = escapeLine(program);
  if (verdictKind !== undefined) row.verdictKind = escapeLine(verdictKind);
  if (error !== undefined) row.error = escapeLine(error);
  if (problem !== undefined) row.problem = escapeLine(problem);
  return { row, path };
}

/**
 * Compressed, a report of apport, or an ELF file of type core:
 * https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html.
 */
export function isCore(path: string): boolean {
  const head = headOf(path, headBytes);
  if (isPacked(head)) return true;
  return head.length >= 18 && head.readUInt32BE(0) === 0x7f454c46 && head.readUInt16LE(16) === 4;
}

/** By its name, or by its first bytes. */
export const isSnapshot = (path: string): boolean =>
  snapshotName.test(path) || /^\s*\{\s*"snapshot"/.test(headOf(path, 64).toString('latin1'));

/** Empty if it is no file. */
function headOf(path: string, bytes: number): Buffer {
  const head = Buffer.alloc(bytes);
  if (!statSync(path).isFile()) return head.subarray(0, 0);
  const file = openSync(path, 'r');
  try {
    return head.subarray(0, readSync(file, head, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}
