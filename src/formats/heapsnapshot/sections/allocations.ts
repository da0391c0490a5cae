/** The stack with which a node was allocated, from the trace tree of a snapshot that was taken with allocation tracking. */
import type { HeapSnapshot } from '../snapshot.ts';

export interface AllocationFrame {
  function: string;
  script: string;
  /** 1-based, as V8 writes them here. */
  line: number;
  column: number;
}

const maxFrames = 100;

/** Innermost frame first; empty if unknown. */
export function allocationStack(snapshot: HeapSnapshot, node: number): AllocationFrame[] {
  const id = snapshot.nodes.traceNodeId?.[node] ?? 0;
  const { rows } = snapshot.traceTree;
  const frames: AllocationFrame[] = [];
  let row = id === 0 ? -1 : rows.findIndex((candidate) => candidate.id === id);
  // The root of the tree is not a function.
  for (; row >= 0 && rows[row]!.parent >= 0 && frames.length < maxFrames; row = rows[row]!.parent) {
    const frame = tracedFunction(snapshot, rows[row]!.functionIndex);
    if (frame && (frame.function || frame.script)) frames.push(frame);
  }
  return frames;
}

/** The function in this row of trace_function_infos. */
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
