/**
 * Self sizes as in DevTools: an internal part (hidden and array nodes, and the data of external strings) with only one owner
 * is counted with that owner, so that an Array includes the bytes of its elements. Follows
 * JSHeapSnapshot.calculateShallowSizes of chrome-devtools-frontend 1.0.1705227.
 */
import {
  EdgeType,
  edgeTargetMask,
  edgeTypeShift,
  type HeapSnapshot,
  NodeType,
  SizeColumn,
} from '../../../formats/heapsnapshot/index.ts';
import { GraphKernel } from '../kernel/graph-kernel.ts';

const unowned = 0xffffffff;
const shared = 0xfffffffe;

/** Nodes per call of the kernel: code that V8 has optimised in the meantime is only used from the next call on. */
const nodesAtOnce = 16_384;

/** A new column with the same sum over all nodes. @param room memory for the column, one word per node. */
export function computeShallowSizes(snapshot: HeapSnapshot, room?: Uint32Array): SizeColumn {
  if (!hasUserRoots(snapshot)) return snapshot.nodes.selfSize;
  const { count } = snapshot.nodes;
  const kernel = GraphKernel.of(snapshot);
  if (!kernel) return transfer(snapshot, findOwners(snapshot, room ?? new Uint32Array(count)));
  return transferInKernel(snapshot, kernel) ?? transfer(snapshot, kernel.words('owner', count).slice());
}

/**
 * The owner of each internal part, in the order of the parts, from which another thread computes the sizes: a fraction of the
 * memory of the sizes. Undefined if sizes are not moved. @param room working memory, one word per node.
 */
export function findOwnersOfParts(snapshot: HeapSnapshot, room: Uint32Array): Uint32Array | undefined {
  if (!hasUserRoots(snapshot)) return undefined;
  const owners = findOwners(snapshot, room);
  const isPart = partsOf(snapshot);
  let parts = 0;
  for (let node = 0; node < owners.length; node++) if (isPart(node)) owners[parts++] = owners[node]!;
  return owners.slice(0, parts);
}

/** The result of computeShallowSizes, from known owners. @param room memory for the column, one word per node. */
export function giveToOwners(
  snapshot: HeapSnapshot,
  ownerOfPart: Uint32Array,
  room?: Uint32Array,
): SizeColumn {
  const { count, selfSize } = snapshot.nodes;
  const sizes = new SizeColumn((room ?? new Uint32Array(count)).subarray(0, count));
  sizes.narrow.set(selfSize.narrow);
  for (const [node, bytes] of selfSize.wideRows()) sizes.set(node, bytes);
  const isPart = partsOf(snapshot);
  const isGiven = givenTo(snapshot);
  for (let node = 0, at = 0; at < ownerOfPart.length; node++) {
    if (!isPart(node)) continue;
    const owner = ownerOfPart[at++]!;
    if (!isGiven(owner)) continue;
    sizes.set(owner, sizes.get(owner) + selfSize.get(node));
    sizes.set(node, 0);
  }
  return sizes;
}

/** Undefined if a size needs more than 32 bits; the kernel contains the owners in any case. */
function transferInKernel(snapshot: HeapSnapshot, kernel: GraphKernel): SizeColumn | undefined {
  const { code } = kernel;
  const { count, selfSize } = snapshot.nodes;
  code.startOwners(unowned);
  for (let node = 0; node < count; node += nodesAtOnce)
    code.findOwners(node, Math.min(count, node + nodesAtOnce), unowned, shared);
  if (selfSize.hasWide || !code.transferSizes(snapshot.header.rootOrdinal, NodeType.synthetic, shared))
    return undefined;
  return new SizeColumn(kernel.words('shallow', count));
}

/** Without a user root, the snapshot was taken with `exposeInternals`, and its sizes are not moved. */
function hasUserRoots(snapshot: HeapSnapshot): boolean {
  const { firstEdge, type } = snapshot.nodes;
  const root = snapshot.header.rootOrdinal;
  for (let edge = firstEdge[root]!; edge < firstEdge[root + 1]!; edge++) {
    const target = snapshot.edgeTarget(edge);
    if (type[target] !== NodeType.synthetic || snapshot.nodeName(target) === '(Document DOM trees)')
      return true;
  }
  return false;
}

/** By ordinal: the only owner of a node (itself, if it isn't an internal part), `unowned` or `shared`. */
function findOwners(snapshot: HeapSnapshot, room: Uint32Array): Uint32Array {
  const { count, firstEdge } = snapshot.nodes;
  const packed = snapshot.edges.packed;
  const owners = initialOwners(snapshot, room);
  const queue: number[] = [];
  const visit = (node: number): void => {
    const owner = owners[node]!;
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
      const value = packed[edge]!;
      const target = value & edgeTargetMask;
      const known = owners[target]!;
      if (known === target || known === owner || known === shared) continue;
      if (value >>> edgeTypeShift === EdgeType.weak) continue;
      // At most twice per node: for its first owner, and when a second one is found.
      owners[target] = known === unowned ? owner : shared;
      queue.push(target);
    }
  };
  for (let node = 0; node < count; node++) {
    if (owners[node] === node) visit(node);
    while (queue.length) visit(queue.pop()!);
  }
  return owners;
}

function initialOwners(snapshot: HeapSnapshot, room: Uint32Array): Uint32Array {
  const { count } = snapshot.nodes;
  const owners = room.subarray(0, count);
  const isPart = partsOf(snapshot);
  for (let node = 0; node < count; node++) owners[node] = isPart(node) ? unowned : node;
  return owners;
}

function partsOf({ nodes, strings }: HeapSnapshot): (node: number) => boolean {
  const { type, name } = nodes;
  const externalData = strings.findAscii('system / ExternalStringData');
  return (node) =>
    type[node] === NodeType.hidden ||
    type[node] === NodeType.array ||
    (type[node] === NodeType.native && name[node] === externalData);
}

/** Whether parts are counted with an owner of this kind. */
function givenTo(snapshot: HeapSnapshot): (owner: number) => boolean {
  const { type } = snapshot.nodes;
  const root = snapshot.header.rootOrdinal;
  return (owner) => owner < shared && type[owner] !== NodeType.synthetic && owner !== root;
}

/**
 * Each node's size overwrites its owner in the same column: first the nodes that aren't parts, since only they receive more.
 */
function transfer(snapshot: HeapSnapshot, owners: Uint32Array): SizeColumn {
  const { count, selfSize } = snapshot.nodes;
  const isPart = partsOf(snapshot);
  const isGiven = givenTo(snapshot);
  const sizes = new SizeColumn(owners);
  for (let node = 0; node < count; node++) if (!isPart(node)) sizes.set(node, selfSize.get(node));
  for (let node = 0; node < count; node++) {
    if (!isPart(node)) continue;
    const owner = owners[node]!;
    if (isGiven(owner)) sizes.set(owner, sizes.get(owner) + selfSize.get(node));
    sizes.set(node, isGiven(owner) ? 0 : selfSize.get(node));
  }
  return sizes;
}
