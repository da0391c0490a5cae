/** Where a node was allocated, when the snapshot was taken with allocation tracking: its stack from the trace tree. */
import type { HeapSnapshot } from '../snapshot.ts';

export interface AllocationFrame {
  function: string;
  script: string;
  /** 1-based, as V8 writes them here. */
  line: number;
  column: number;
}

const maxFrames = 100;

/** The innermost frame first; empty when it is not known. */
export function allocationStack(snapshot: HeapSnapshot, node: number): AllocationFrame[] {
  const id = snapshot.nodes.traceNodeId?.[node] ?? 0;
  const { rows } = snapshot.traceTree;
  const frames: AllocationFrame[] = [];
  let row = id === 0 ? -1 : rows.findIndex((candidate) => candidate.id === id);
  // The tree's root stands for no function.
  for (; row >= 0 && rows[row]!.parent >= 0 && frames.length < maxFrames; row = rows[row]!.parent) {
    const frame = tracedFunction(snapshot, rows[row]!.functionIndex);
    if (frame && (frame.function || frame.script)) frames.push(frame);
  }
  return frames;
}

/** The function in that row of trace_function_infos. */
export function tracedFunction(snapshot: HeapSnapshot, index: number): AllocationFrame | undefined {
  const { traceFunctionFields: fields } = snapshot.header;
  const value = (name: string): number =>
    snapshot.traceFunctions[index * fields.length + fields.indexOf(name)] ?? -1;
  if (!fields.length || value('name') < 0) return undefined;
  return {
    function: snapshot.strings.get(value('name')),
    script: snapshot.strings.get(value('script_name')),
    line: value('line'),
    column: value('column'),
  };
}
