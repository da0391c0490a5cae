/** Heap snapshots of V8 (Node 18 to 26, Chrome): `readHeapSnapshot`, the columns that it fills, and a drop-in `parse`. */

export {
  type Allocator,
  type EdgeColumns,
  forEachRowWith,
  type NodeColumns,
  privateMemory,
  SizeColumn,
} from './columns.ts';
export { Detachedness, EdgeType, edgeTargetMask, edgeTypeShift, NodeType } from './layout.ts';
export {
  type ParsedEdge,
  type ParsedNode,
  ParsedSnapshot,
  type ParseOptions,
  parse,
  parseFile,
} from './parse.ts';
export {
  type ReadOptions,
  readHeapSnapshot,
  readHeapSnapshotSync,
  type SnapshotInput,
} from './read.ts';
export type { EdgeRecords, NodeRecords, SnapshotRecords } from './records.ts';
export { RetainerIndex, sourceOfEdge } from './retainer-index.ts';
export { type AllocationFrame, allocationStack, tracedFunction } from './sections/allocations.ts';
export type { SnapshotHeader } from './sections/header.ts';
export type { Locations, SourcePlace } from './sections/locations.ts';
export { lostString, StringTable } from './sections/string-table.ts';
export { openShared, type SharedSnapshot, shareSnapshot } from './sharing.ts';
export { HeapSnapshot, type SnapshotGap } from './snapshot.ts';
export { startThread } from './thread.ts';
