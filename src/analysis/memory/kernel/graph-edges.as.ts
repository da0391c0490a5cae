/** Passes over all edges: the counterpart of retainer-index.ts and marked-objects.ts. */
import {
  edgeNameAt,
  edgeNameHighAt,
  firstEdgeAt,
  markedAt,
  markOfNameAt,
  marksAt,
  nodes,
  packedAt,
  retainerFirstAt,
  retainersAt,
  targetMask,
  typeAt,
  typeShift,
} from './graph-columns';

/** RetainerIndex: edges by target, in order. */
export function indexRetainers(edges: u32): void {
  memory.fill(retainerFirstAt, 0, (<usize>nodes + 2) << 2);
  for (let edge: u32 = 0; edge < edges; edge++) {
    const target = load<u32>(packedAt + ((<usize>edge) << 2)) & targetMask;
    const count = retainerFirstAt + ((<usize>target) << 2) + 8;
    store<u32>(count, load<u32>(count) + 1);
  }
  for (let node: u32 = 2; node <= nodes; node++) {
    const at = retainerFirstAt + ((<usize>node) << 2);
    store<u32>(at, load<u32>(at) + load<u32>(at - 4));
  }
  // The counter of each node is in the next element; once filled, it equals the start of the next node.
  for (let edge: u32 = 0; edge < edges; edge++) {
    const target = load<u32>(packedAt + ((<usize>edge) << 2)) & targetMask;
    const next = retainerFirstAt + ((<usize>target) << 2) + 4;
    const row = load<u32>(next);
    store<u32>(retainersAt + ((<usize>row) << 2), edge);
    store<u32>(next, row + 1);
  }
}

/** Lists the objects with properties of a marked name, with all marks of each; returns their number. */
export function findMarked(object: u32, property: u32): u32 {
  let found: usize = 0;
  for (let node: u32 = 0; node < nodes; node++) {
    if (<u32>load<u8>(typeAt + node) !== object) continue;
    const end = load<u32>(firstEdgeAt + ((<usize>node) << 2), 4);
    let marks: u32 = 0;
    for (let edge = load<u32>(firstEdgeAt + ((<usize>node) << 2)); edge < end; edge++) {
      if (load<u32>(packedAt + ((<usize>edge) << 2)) >>> typeShift !== property) continue;
      const name =
        <u32>load<u16>(edgeNameAt + ((<usize>edge) << 1)) | ((<u32>load<u8>(edgeNameHighAt + edge)) << 16);
      marks |= load<u32>(markOfNameAt + ((<usize>name) << 2));
    }
    if (marks === 0) continue;
    store<u32>(markedAt + (found << 2), node);
    store<u32>(marksAt + (found << 2), marks);
    found++;
  }
  return <u32>found;
}
