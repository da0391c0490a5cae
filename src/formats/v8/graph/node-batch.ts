/** Nodes in columns, many at once, on their way from memory to whoever needs them. */
import type { EdgeCounts } from './edges/edge-counts.ts';
import { type HeapKernel, NodeWay, unreadNode } from './kernel/heap-kernel.ts';
import type { NodeReader } from './node-facts.ts';
import type { HeapObjects } from './objects/heap-objects.ts';
import type { SlotSet } from './objects/slot-set.ts';
import type { Tagger } from './tags.ts';

const room = 1 << 12;

/** `types`: indexes in `nodeTypes`; `names`: text numbers; `sizes`: in bytes. Valid until the next batch. */
export interface NodeBatch {
  count: number;
  types: Uint8Array;
  names: Uint32Array;
  sizes: Float64Array;
  edgeCounts: Uint32Array;
}

export class NodeBuffer implements NodeBatch {
  count = 0;
  readonly types = new Uint8Array(room);
  readonly names = new Uint32Array(room);
  readonly sizes = new Float64Array(room);
  readonly edgeCounts = new Uint32Array(room);

  get isFull(): boolean {
    return this.count === room;
  }

  add(type: number, name: number, sizeBytes: number, edgeCount: number): void {
    const at = this.count++;
    this.types[at] = type;
    this.names[at] = name;
    this.sizes[at] = sizeBytes;
    this.edgeCounts[at] = edgeCount;
  }
}

export interface NodeSources {
  objects: HeapObjects;
  live: SlotSet;
  reader: NodeReader;
  tagger: Tagger;
  counts: EdgeCounts;
  /** Number of edges that an object has besides its references. */
  added(object: number): number;
}

/** The nodes of all live objects, in their order. */
export function* objectNodes(sources: NodeSources): Generator<NodeBatch> {
  const { objects, live } = sources;
  const buffer = new NodeBuffer();
  const { kernel } = objects.words;
  if (kernel) {
    yield* kernelNodes(kernel, sources, buffer);
    return;
  }
  let index = 0;
  for (let object = live.next(0); object >= 0; object = live.next(object + 1), index++) {
    const { type, name, sizeBytes } = sources.reader.of(object);
    addNode(sources, buffer, object, index, type, name, sizeBytes);
    if (!buffer.isFull) continue;
    yield buffer;
    buffer.count = 0;
  }
  if (buffer.count > 0) yield buffer;
}

function addNode(
  { tagger, counts, added }: NodeSources,
  buffer: NodeBuffer,
  object: number,
  index: number,
  type: number,
  name: number,
  sizeBytes: number,
): void {
  const edgeCount = counts.of(index) + added(object);
  if (tagger.isTagged(index))
    buffer.add(tagger.typeOf(index, type), tagger.nameOf(index, object, name), sizeBytes, edgeCount);
  else buffer.add(type, name, sizeBytes, edgeCount);
}

function* kernelNodes(kernel: HeapKernel, sources: NodeSources, buffer: NodeBuffer): Generator<NodeBatch> {
  const { code } = kernel;
  const [slots, types] = [kernel.words('nodeSlots', room), kernel.bytes('batchTypes', room)];
  const [names, sizes] = [kernel.words('batchNames', room), kernel.words('batchSizes', room)];
  let index = 0;
  sources.reader.startKernel(kernel);
  for (;;) {
    const count = code.readNodes(room);
    if (count === 0) return;
    buffer.count = 0;
    for (let row = 0; row < count; row++, index++) {
      const object = slots[row]!;
      if (types[row] !== unreadNode) {
        addNode(sources, buffer, object, index, types[row]!, names[row]!, sizes[row]!);
        continue;
      }
      const { type, name, sizeBytes } = sources.reader.of(object);
      addNode(sources, buffer, object, index, type, name, sizeBytes);
      learn(kernel, sources, object);
    }
    yield buffer;
  }
}

/** If all objects of the map have the same name, the kernel needs to know it only once. */
function learn(kernel: HeapKernel, { objects, reader }: NodeSources, object: number): void {
  const map = objects.mapOf(object);
  if (map >= kernel.code.mapRoom.value) return;
  const ways = kernel.bytes('nodeWays', 1, map);
  if (ways[0] !== NodeWay.unknown) return;
  const shared = reader.sharedFacts(map);
  ways[0] = shared ? NodeWay.same : NodeWay.reader;
  if (!shared) return;
  kernel.bytes('nodeTypes', 1, map)[0] = shared.type;
  kernel.words('nodeNames', 1, map * 4)[0] = shared.name;
}
