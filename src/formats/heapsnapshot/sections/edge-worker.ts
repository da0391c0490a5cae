/**
 * The second thread of edge-helper.ts: finds the end of the edges, reads windows from there towards the start, and then finds
 * the shared targets.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { collectNow } from '../../../platform/pending-collection.ts';
import { NameColumn } from '../columns.ts';
import { Byte } from '../scan/numbers.ts';
import { ScanKernel, sentinelBytes, windowBytes } from '../scan/scan-kernel.ts';
import { Control, type EdgeHelperData, Progress } from './edge-helper.ts';
import { EdgeRecords } from './edge-records.ts';
import { findSharedTargets } from './shared-targets.ts';

const probeBytes = 4096;

const data = workerData as EdgeHelperData;
let outcome: number = Progress.givenUp;
try {
  say(Progress.reading);
  if (readBackward(data)) {
    say(Progress.counting);
    findSharedTargets(data.packed, data.count, data.header.nodeCount, data.isShared);
    outcome = Progress.found;
  }
} finally {
  say(outcome);
  collectNow();
}

function say(progress: number): void {
  Atomics.store(data.control, Control.progress, progress);
  Atomics.notify(data.control, Control.progress);
}

/** Returns when all rows have been read by this thread or the other; false if this thread can't continue. */
function readBackward(data: EdgeHelperData): boolean {
  const { path, header, count, packed, control, place } = data;
  const nameOrIndex = new NameColumn(data.nameLow, data.nameHigh);
  const fd = openSync(path, 'r');
  try {
    const closing = findClosingBracket(fd, fstatSync(fd).size);
    if (closing === undefined) return false;
    place[0] = closing + 1;
    const edges = new EdgeRecords(header, { count, packed, nameOrIndex });
    const kernel = new ScanKernel();
    const { window } = kernel;
    let end = closing;
    let row = count;
    while (row > Atomics.load(control, Control.forwardRow) && !Atomics.load(control, Control.stop)) {
      const from = Math.max(0, end - windowBytes);
      const length = readSync(fd, window, 0, end - from, from);
      // The bracket (or the end of this window's last record) is replaced with a comma, which ends a record as well.
      window[length] = Byte.comma;
      window.fill(0, length + 1, length + sentinelBytes);
      const start = firstRecord(window, length, header.edge.fieldCount, kernel);
      if (!start) return false;
      edges.row = row - start.rows;
      if (edges.row < 0 || edges.scan(window, start.at, length + 1) !== length + 1 || edges.row !== row)
        return false;
      // Only the main thread can store values that don't fit the shared arrays.
      if (nameOrIndex.hasWide) return false;
      row -= start.rows;
      Atomics.store(control, Control.maxName, edges.maxName | 0);
      Atomics.store(control, Control.backwardRow, row);
      end = from + start.at - 1;
    }
    return true;
  } finally {
    closeSync(fd);
  }
}

/**
 * Start of the first whole record in a window that ends with a whole record; undefined if the window reaches beyond the
 * section. Because the numbers are flat, without any mark between records, the phase is determined by counting numbers.
 */
function firstRecord(
  window: Buffer,
  length: number,
  fields: number,
  kernel: ScanKernel,
): { at: number; rows: number } | undefined {
  const start = kernel.code.windowAt.value;
  const numbers = kernel.code.countCommas(start, start + length);
  if (numbers < fields) return undefined;
  let at = 0;
  // The first number may be incomplete.
  for (let skip = 1 + (numbers % fields); skip > 0; at++) if (window[at] === Byte.comma) skip--;
  return { at, rows: Math.floor(numbers / fields) };
}

/**
 * Offset of the bracket that closes the edges: the first bracket after a place among numbers, if the section that V8 writes
 * next follows it. Places are probed backwards from the end, where the strings are.
 */
function findClosingBracket(fd: number, size: number): number | undefined {
  for (let share = 0.95; share > 0.3; share -= 0.05) {
    const probe = readAt(fd, Math.floor(size * share), probeBytes);
    if (!/^[\d,\s]*$/.test(probe.toString('latin1'))) continue;
    const bracket = findByte(fd, Math.floor(size * share), size, Byte.closeBracket);
    if (bracket < 0) return undefined;
    const next = readAt(fd, bracket, 64).toString('latin1');
    if (/^\]\s*,\s*"trace_function_infos"/.test(next)) return bracket;
  }
  return undefined;
}

function findByte(fd: number, from: number, to: number, byte: number): number {
  for (let at = from; at < to; at += windowBytes) {
    const found = readAt(fd, at, windowBytes).indexOf(byte);
    if (found >= 0) return at + found;
  }
  return -1;
}

function readAt(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, offset));
}
