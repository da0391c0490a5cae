/**
 * The distance of each node from the program's own roots, breadth first, as DevTools computes it (calculateDistances,
 * chrome-devtools-frontend 1.0.1705227): 1 for the roots' own objects; `systemDistance` and more for what only V8's internals
 * reach; `noDistance` if unreachable. Ignored are weak edges, descriptor links of maps (which maps share), the sloppy
 * function map and, of the two edges of a WeakMap entry, the one that is visited first.
 */
import {
  EdgeType,
  edgeTargetMask,
  edgeTypeShift,
  type HeapSnapshot,
  NodeType,
} from '../../../formats/heapsnapshot/index.ts';
import { GraphKernel } from '../kernel/graph-kernel.ts';
import { type Ephemerons, markEphemerons } from './ephemerons.ts';

export const systemDistance = 100_000_000;
export const noDistance = -5;

/** Nodes per call of the kernel: code that V8 has optimised in the meantime is only used from the next call on. */
const nodesAtOnce = 16_384;

/** Once this many nodes are done, their part of the queue is reused: memory that is never written costs nothing. */
const leastTrimmed = 1 << 16;

/** By ordinal. @param room working memory, one word per node. @param into memory for the result, one word per node. */
export function computeDistances(snapshot: HeapSnapshot, room?: Uint32Array, into?: Uint32Array): Int32Array {
  return new BreadthFirst(snapshot, markEphemerons(snapshot), room, into).run();
}

class BreadthFirst {
  readonly #snapshot: HeapSnapshot;
  readonly #ephemerons: Ephemerons;
  readonly #kernel: GraphKernel | undefined;
  readonly #distances: Int32Array;
  readonly #queue: Uint32Array;
  #queued = 0;
  /** WeakMap entries of which one edge was visited. */
  readonly #halfSeen = new Set<number>();
  readonly #mapDescriptors: number;
  readonly #nativeContext: number;
  readonly #sloppyFunctionMap: number;

  constructor(snapshot: HeapSnapshot, ephemerons: Ephemerons, room?: Uint32Array, into?: Uint32Array) {
    this.#snapshot = snapshot;
    this.#ephemerons = ephemerons;
    const { count } = snapshot.nodes;
    this.#kernel = GraphKernel.of(snapshot);
    this.#kernel?.code.resetDistances(noDistance);
    this.#distances =
      this.#kernel?.numbers('distance', count) ??
      new Int32Array(into?.buffer ?? new ArrayBuffer(4 * count), into?.byteOffset, count).fill(noDistance);
    this.#queue = room ?? new Uint32Array(this.#kernel ? 0 : count);
    this.#mapDescriptors = snapshot.strings.findAscii('(map descriptors)');
    this.#nativeContext = snapshot.strings.findAscii('system / NativeContext');
    this.#sloppyFunctionMap = snapshot.strings.findAscii('sloppy_function_map');
  }

  run(): Int32Array {
    const { firstEdge, type } = this.#snapshot.nodes;
    const root = this.#snapshot.header.rootOrdinal;
    for (let edge = firstEdge[root]!; edge < firstEdge[root + 1]!; edge++) {
      const target = this.#snapshot.edgeTarget(edge);
      const isUserRoot =
        type[target] !== NodeType.synthetic || this.#snapshot.nodeName(target) === '(Document DOM trees)';
      if (isUserRoot && this.#distances[target] === noDistance) this.#reach(target, 1);
    }
    const anyUserRoot = this.#queued > 0;
    this.#visitQueue();
    this.#queued = 0;
    if (this.#distances[root] === noDistance || !anyUserRoot)
      this.#reach(root, anyUserRoot ? systemDistance : 0);
    this.#visitQueue();
    return this.#distances;
  }

  #reach(node: number, distance: number): void {
    this.#kernel?.code.reach(node, distance);
    this.#distances[node] = distance;
    this.#queue[this.#queued++] = node;
  }

  #visitInKernel(kernel: GraphKernel): void {
    const { type, name } = this.#snapshot.nodes;
    kernel.passes = (value, edge, node) =>
      (value >= 0 || this.#passes(value >>> edgeTypeShift, edge)) &&
      (!this.#isSpecial(type[node]!, name[node]!) || this.#passesFromSpecial(type[node]!, edge));
    while (kernel.code.visitQueue(noDistance, nodesAtOnce));
  }

  #visitQueue(): void {
    if (this.#kernel) this.#visitInKernel(this.#kernel);
    else this.#visitAll();
  }

  #visitAll(): void {
    const { firstEdge, type, name } = this.#snapshot.nodes;
    const { packed } = this.#snapshot.edges;
    const edges = new Int32Array(packed.buffer, packed.byteOffset, packed.length);
    const distances = this.#distances;
    const queue = this.#queue;
    let queued = this.#queued;
    const isReached = this.#reached();
    for (let at = 0; at < queued; at++) {
      if (at >= leastTrimmed && 4 * at >= queued) {
        queue.copyWithin(0, at, queued);
        queued -= at;
        at = 0;
      }
      const node = queue[at]!;
      const distance = distances[node]! + 1;
      const end = firstEdge[node + 1]!;
      const isSpecial = this.#isSpecial(type[node]!, name[node]!);
      for (let edge = firstEdge[node]!; edge < end; edge++) {
        const value = edges[edge]!;
        const target = value & edgeTargetMask;
        if ((isReached[target >>> 5]! & (1 << target)) !== 0) continue;
        if (value < 0 && !this.#passes(value >>> edgeTypeShift, edge)) continue;
        if (isSpecial && !this.#passesFromSpecial(type[node]!, edge)) continue;
        isReached[target >>> 5]! |= 1 << target;
        distances[target] = distance;
        queue[queued++] = target;
      }
    }
  }

  /** By ordinal, one bit each: for most edges the target has been reached, and the bits of all nodes fit in the cache. */
  #reached(): Int32Array {
    const distances = this.#distances;
    const bits = new Int32Array((distances.length >>> 5) + 1);
    for (let node = 0; node < distances.length; node++)
      if (distances[node] !== noDistance) bits[node >>> 5]! |= 1 << node;
    return bits;
  }

  #isSpecial(type: number, name: number): boolean {
    if (type === NodeType.array) return name === this.#mapDescriptors;
    return type === NodeType.hidden && name === this.#nativeContext;
  }

  #passesFromSpecial(type: number, edge: number): boolean {
    const { nameOrIndex } = this.#snapshot.edges;
    if (type === NodeType.hidden) return nameOrIndex.get(edge) !== this.#sloppyFunctionMap;
    // Slots 4, 7, 10, … of a descriptor array contain the descriptors (crbug.com/413608).
    const index = Number.parseInt(this.#snapshot.edgeName(edge), 10);
    return index < 2 || index % 3 !== 1;
  }

  #passes(type: number, edge: number): boolean {
    if (type === EdgeType.weak) return false;
    if (type !== EdgeType.ephemeron) return true;
    const entry = this.#ephemerons.entry.get(this.#snapshot.edges.nameOrIndex.get(edge))!;
    if (this.#halfSeen.delete(entry)) return true;
    this.#halfSeen.add(entry);
    return false;
  }
}
