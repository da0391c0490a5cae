/**
 * Which functions of the program allocated what is alive, from a snapshot with allocation tracking or from a sampled profile.
 * Allocations of Node or a package are attributed to the program's function that called it.
 */
import { AgentdumpError } from '../../../errors.ts';
import type { HeapProfile, ProfiledCall } from '../../../formats/heap-profile/heap-profile.ts';
import { tracedFunction } from '../../../formats/heapsnapshot/index.ts';
import type { HeapAllocationRow } from '../../../model/heap.ts';
import { isInApp } from '../../stacks/in-app.ts';
import type { Heap } from '../heap.ts';
import { addRetained } from './class-aggregates.ts';
import type { FlameFrame } from './flame.ts';

export interface Allocations {
  /** `tracked`: every allocation since tracking began; `sampled`: an estimate from samples. */
  kind: 'tracked' | 'sampled';
  /** Live bytes of known origin. */
  attributedBytes: number;
  /** Of the whole heap, if known. */
  totalBytes?: number;
  /** Most bytes first. */
  rows: HeapAllocationRow[];
}

/** A node of the call tree; callers come before callees. */
interface Call {
  function: string;
  script: string;
  line: number;
  column: number;
  parent: number;
  bytes: number;
  count: number;
  allocatedBytes: number;
  allocatedCount: number;
}

const mostStackFrames = 30;

/** @throws AgentdumpError `not-found` if the snapshot has no allocation tracking. */
export function trackedAllocations(heap: Heap): Allocations {
  const { calls, callOf } = trackedCalls(heap);
  const { rows, rowOf } = groupCalls(calls);
  // Group 0 contains the nodes of unknown origin.
  const groups = new Uint32Array(heap.nodeCount);
  for (let node = 0; node < groups.length; node++) {
    const call = callOf(node);
    if (call !== undefined) groups[node] = rowOf[call]! + 1;
  }
  const retained = new Float64Array(rows.length + 1);
  addRetained(retained, groups, heap.selfSize, heap.retained, heap.dominated, heap.root, undefined);
  for (const [at, row] of rows.entries()) row.retainedSizeBytes = retained[at + 1]!;
  return { kind: 'tracked', totalBytes: heap.totalBytes, ...ranked(rows) };
}

export function sampledAllocations(profile: HeapProfile): Allocations {
  const rows = groupCalls(profile.calls.map(sampledCall)).rows.map(
    ({ count: _, allocatedBytes: __, allocatedCount: ___, ...row }) => row,
  );
  return { kind: 'sampled', ...ranked(rows) };
}

/** @param rows stacks, innermost frame first, with the bytes allocated there, as stored in a bundle. */
export function allocationsOfStacks(
  rows: readonly { bytes: number; stack: readonly string[] }[],
): Allocations {
  const root: ProfiledCall = { function: '(root)', script: '', line: 0, column: 0, bytes: 0, parent: -1 };
  const calls = [root];
  for (const { bytes, stack } of rows)
    for (const [at, text] of [...stack].reverse().entries())
      calls.push({
        ...readFrame(text),
        bytes: at === stack.length - 1 ? bytes : 0,
        parent: at === 0 ? 0 : calls.length - 1,
      });
  return sampledAllocations({ calls, sampledBytes: 0 });
}

/** `function (url:line:column)`. */
function readFrame(text: string): Pick<ProfiledCall, 'function' | 'script' | 'line' | 'column'> {
  const [, name = text, script = '', line = '0', column = '0'] =
    /^(.*) \((.*):(\d+):(\d+)\)$/.exec(text) ?? [];
  return { function: name, script, line: Number(line), column: Number(column) };
}

/** The call tree as a flame graph: each frame is a function, weighted by its own live allocations. */
export function allocationFlame(source: Heap | HeapProfile): FlameFrame[] {
  const calls = 'calls' in source ? source.calls.map(sampledCall) : trackedCalls(source).calls;
  return calls.map(({ parent, bytes, count, ...call }) => ({
    name: parent < 0 ? '(allocations)' : frameText(call),
    parent,
    bytes,
    count,
  }));
}

const sampledCall = (call: ProfiledCall): Call => ({
  ...call,
  count: 0,
  allocatedBytes: 0,
  allocatedCount: 0,
});

function trackedCalls({ snapshot, selfSize, nodeCount }: Heap): {
  calls: Call[];
  callOf(node: number): number | undefined;
} {
  const { traceNodeId } = snapshot.nodes;
  const trace = snapshot.traceTree.rows;
  if (!traceNodeId || !trace.length)
    throw new AgentdumpError(
      'not-found',
      'the snapshot does not say where its objects were allocated: it was taken without allocation tracking',
      { name: 'trace_tree' },
    );
  const rowById = new Map(trace.map(({ id }, row) => [id, row]));
  const calls = trace.map(({ functionIndex, count, sizeBytes, parent }): Call => {
    const {
      function: name = '',
      script = '',
      line = 0,
      column = 0,
    } = tracedFunction(snapshot, functionIndex) ?? {};
    return {
      ...{ function: name, script, line, column, parent, bytes: 0, count: 0 },
      ...{ allocatedBytes: sizeBytes, allocatedCount: count },
    };
  });
  const callOf = (node: number): number | undefined =>
    traceNodeId[node] === 0 ? undefined : rowById.get(traceNodeId[node]!);
  for (let node = 0; node < nodeCount; node++) {
    const call = callOf(node);
    if (call === undefined) continue;
    calls[call]!.count++;
    calls[call]!.bytes += selfSize.get(node);
  }
  return { calls, callOf };
}

type FullRow = HeapAllocationRow &
  Required<Pick<HeapAllocationRow, 'count' | 'allocatedBytes' | 'allocatedCount'>>;

/** Merges calls that belong to the same function of the program. */
function groupCalls(calls: readonly Call[]): { rows: FullRow[]; rowOf: Uint32Array } {
  const owners = ownersOf(calls);
  const rows: FullRow[] = [];
  const rowByPlace = new Map<string, number>();
  const rowOf = new Uint32Array(calls.length);
  const largest: number[] = [];
  for (const [at, call] of calls.entries()) {
    const { function: name, script, line, column } = calls[owners[at]!]!;
    const key = JSON.stringify([name, script, line, column]);
    let row = rowByPlace.get(key);
    if (row === undefined) {
      const place = { function: name, script, line, column };
      row =
        rows.push({
          ...place,
          ...{ bytes: 0, share: 0, count: 0, allocatedBytes: 0, allocatedCount: 0, stack: [] },
        }) - 1;
      rowByPlace.set(key, row);
      largest.push(at);
    }
    rowOf[at] = row;
    const sum = rows[row]!;
    sum.bytes += call.bytes;
    sum.count += call.count;
    sum.allocatedBytes += call.allocatedBytes;
    sum.allocatedCount += call.allocatedCount;
    if (call.bytes > calls[largest[row]!]!.bytes) largest[row] = at;
  }
  for (const [row, at] of largest.entries()) rows[row]!.stack = stackOf(calls, at);
  return { rows, rowOf };
}

/** By call: the innermost enclosing call of the program, otherwise of a package, otherwise itself. */
function ownersOf(calls: readonly Call[]): Int32Array {
  const inApp = new Int32Array(calls.length).fill(-1);
  const ofPackage = new Int32Array(calls.length).fill(-1);
  const owners = new Int32Array(calls.length);
  for (const [at, { script, parent }] of calls.entries()) {
    inApp[at] = isInApp(script) ? at : parent < 0 ? -1 : inApp[parent]!;
    ofPackage[at] = script && !script.startsWith('node:') ? at : parent < 0 ? -1 : ofPackage[parent]!;
    owners[at] = inApp[at]! >= 0 ? inApp[at]! : ofPackage[at]! >= 0 ? ofPackage[at]! : at;
  }
  return owners;
}

function stackOf(calls: readonly Call[], at: number): string[] {
  const stack: string[] = [];
  for (let call = calls[at]!; call.parent >= 0 && stack.length < mostStackFrames; call = calls[call.parent]!)
    stack.push(frameText(call));
  return stack;
}

/** In V8's format of a frame. */
function frameText(call: Pick<Call, 'function' | 'script' | 'line' | 'column'>): string {
  const name = call.function || '(anonymous)';
  return call.script ? `${name} (${call.script}:${call.line}:${call.column})` : name;
}

function ranked<Row extends HeapAllocationRow>(
  rows: Row[],
): { attributedBytes: number; rows: HeapAllocationRow[] } {
  const attributedBytes = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const row of rows) row.share = attributedBytes > 0 ? row.bytes / attributedBytes : 0;
  const shown = rows.filter(({ bytes, allocatedBytes = 0 }) => bytes > 0 || allocatedBytes > 0);
  return {
    attributedBytes,
    rows: shown.sort((a, b) => b.bytes - a.bytes || (b.allocatedBytes ?? 0) - (a.allocatedBytes ?? 0)),
  };
}
