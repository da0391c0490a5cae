/**
 * The objects that have a property of one of the names by which the rules recognise what they look for (messages of an agent,
 * emitters), from one pass over the edges that all of them share. Names are compared as indexes, which V8 gives each text once.
 */
import { EdgeType, edgeTypeShift, type HeapSnapshot, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { GraphKernel } from '../kernel/graph-kernel.ts';

const names = [
  'role',
  'content',
  'parts',
  'tool_calls',
  'tool_call_id',
  'tool_use_id',
  'toolCallId',
  'toolName',
  'output',
  'result',
  'functionResponse',
  'pageContent',
  'page_content',
  'metadata',
  'id',
  'name',
  'input',
  'function',
  'lc_kwargs',
  '_events',
  '<symbol kEvents>',
] as const;
export type MarkedName = (typeof names)[number];

/** One bit per name. */
export const markOf = (...some: MarkedName[]): number =>
  some.reduce((bits, name) => bits | (1 << names.indexOf(name)), 0);

/** Nearly any object may have a name, an id or a result; alone they say nothing. */
const telling = ~markOf(
  'parts',
  'output',
  'result',
  'metadata',
  'id',
  'name',
  'input',
  'function',
  'toolName',
);
const id = markOf('id');
const ofCall = markOf('function', 'input');

const isTelling = (bits: number): boolean =>
  (bits & telling) !== 0 || ((bits & id) !== 0 && (bits & ofCall) !== 0);

export interface MarkedObjects {
  /** Ordinals, ascending. */
  nodes: number[];
  /** By row of `nodes`: which names it has. */
  bits: number[];
}

const known = new WeakMap<Heap, MarkedObjects>();

export function markedObjects(heap: Heap): MarkedObjects {
  const found = known.get(heap) ?? findMarked(heap);
  known.set(heap, found);
  return found;
}

/** The objects that have a property of this name. */
export function objectsWith(heap: Heap, name: MarkedName): number[] {
  const { nodes, bits } = markedObjects(heap);
  const mark = markOf(name);
  return nodes.filter((_, at) => (bits[at]! & mark) !== 0);
}

function findMarked({ snapshot }: Heap): MarkedObjects {
  const isWhole = !snapshot.edges.nameOrIndex.hasWide && snapshot.gaps.length === 0;
  const kernel = isWhole ? GraphKernel.of(snapshot) : undefined;
  const { count } = snapshot.strings;
  const marks = kernel?.words('markOfName', count).fill(0) ?? new Uint32Array(count);
  for (const name of names) {
    const index = snapshot.strings.findAscii(name);
    if (index >= 0) marks[index] = markOf(name);
  }
  return kernel ? findInKernel(kernel) : findOneByOne(snapshot, marks);
}

function findInKernel(kernel: GraphKernel): MarkedObjects {
  const count = kernel.code.findMarked(NodeType.object, EdgeType.property);
  const [marked, marks] = [kernel.words('marked', count), kernel.words('marks', count)];
  const found: MarkedObjects = { nodes: [], bits: [] };
  for (let at = 0; at < count; at++) {
    if (!isTelling(marks[at]!)) continue;
    found.nodes.push(marked[at]!);
    found.bits.push(marks[at]!);
  }
  return found;
}

function findOneByOne(snapshot: HeapSnapshot, marks: Uint32Array): MarkedObjects {
  const { firstEdge, type } = snapshot.nodes;
  const { packed, nameOrIndex, count } = snapshot.edges;
  const found: MarkedObjects = { nodes: [], bits: [] };
  let node = 0;
  let bits = 0;
  const keep = (): void => {
    if (type[node] !== NodeType.object || !isTelling(bits)) return;
    found.nodes.push(node);
    found.bits.push(bits);
  };
  for (let edge = 0; edge < count; edge++) {
    if (packed[edge]! >>> edgeTypeShift !== EdgeType.property) continue;
    const mark = marks[nameOrIndex.get(edge)]!;
    if (mark === 0) continue;
    if (firstEdge[node + 1]! <= edge) {
      keep();
      bits = 0;
      while (firstEdge[node + 1]! <= edge) node++;
    }
    bits |= mark;
  }
  keep();
  return found;
}
