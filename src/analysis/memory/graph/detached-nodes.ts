/**
 * Whether native objects (DOM nodes in Chrome) still belong to a document. The state of nodes that have one is propagated to
 * the native nodes below them, as in DevTools (propagateDOMState, chrome-devtools-frontend 1.0.1705227).
 */
import {
  Detachedness,
  EdgeType,
  forEachRowWith,
  type HeapSnapshot,
  NodeType,
} from '../../../formats/heapsnapshot/index.ts';

const known = new WeakMap<HeapSnapshot, Uint8Array>();

/** By ordinal, a value of Detachedness; undefined if the snapshot doesn't have this field. Computed once. */
export function computeDetachedness(snapshot: HeapSnapshot): Uint8Array | undefined {
  const told = snapshot.nodes.detachedness;
  const state = told && (known.get(snapshot) ?? propagate(snapshot, told));
  if (state) known.set(snapshot, state);
  return state;
}

function propagate(snapshot: HeapSnapshot, told: Uint8Array): Uint8Array {
  // Without a DOM, as in Node, no node has a state to propagate.
  if (!told.includes(Detachedness.attached) && !told.includes(Detachedness.detached)) return told;
  const state = told.slice();
  const visited = new Uint8Array(state.length);
  const lists: Record<number, number[]> = { [Detachedness.attached]: [], [Detachedness.detached]: [] };
  const visit = (node: number, newState: number): void => {
    if (visited[node]) return;
    visited[node] = 1;
    if (snapshot.nodes.type[node] !== NodeType.native) return;
    state[node] = newState;
    lists[newState]?.push(node);
  };
  for (const newState of [Detachedness.attached, Detachedness.detached])
    forEachRowWith(told, snapshot.nodes.count, newState, (node) => visit(node, newState));
  for (const newState of [Detachedness.attached, Detachedness.detached]) {
    const list = lists[newState]!;
    for (let node = list.pop(); node !== undefined; node = list.pop())
      if (state[node] === newState) spread(snapshot, node, (child) => visit(child, newState));
  }
  return state;
}

function spread(snapshot: HeapSnapshot, node: number, visit: (child: number) => void): void {
  const { firstEdge } = snapshot.nodes;
  for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
    const type = snapshot.edgeType(edge);
    if (type !== EdgeType.hidden && type !== EdgeType.weak) visit(snapshot.edgeTarget(edge));
  }
}
