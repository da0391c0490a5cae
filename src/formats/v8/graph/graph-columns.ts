/** Nodes and edges of a graph in growable columns: first all nodes, then the edges of each node in the same order. */

/** Capacity beyond the expected number. */
const spare = 1 << 14;

/** The id of a node. V8 assigns odd ids. */
export const idOfNode = (node: number) => 2 * node + 1;

/** The address of a node's object; undefined for an id without object. */
export function addressOfNode({ nodeCount, address }: GraphColumns, id: number): number | undefined {
  const node = (id - 1) / 2;
  return Number.isInteger(node) && node >= 0 && node < nodeCount ? address[node] || undefined : undefined;
}

export class GraphColumns {
  readonly texts: readonly string[];
  nodeCount = 0;
  type: Uint8Array;
  /** Text number. */
  name: Uint32Array;
  size: Float64Array;
  /** Address in memory; 0 for a node that is not an object. */
  address: Float64Array;
  /** By node: index of its first edge; one more element at the end. */
  firstEdge = new Uint32Array(0);
  edgeCount = 0;
  edgeType: Uint8Array;
  /** Text number; for elements and hidden edges, an index. */
  edgeName: Uint32Array;
  edgeTarget: Uint32Array;
  #ended = 0;

  /** `nodes`, `edges`: expected numbers. */
  constructor(texts: readonly string[], nodes = 0, edges = 0) {
    this.texts = texts;
    const [forNodes, forEdges] = [nodes + spare, edges + spare];
    this.type = new Uint8Array(forNodes);
    this.name = new Uint32Array(forNodes);
    this.size = new Float64Array(forNodes);
    this.address = new Float64Array(forNodes);
    this.edgeType = new Uint8Array(forEdges);
    this.edgeName = new Uint32Array(forEdges);
    this.edgeTarget = new Uint32Array(forEdges);
  }

  addNode(type: number, name: number, size: number, address = 0): void {
    if (this.nodeCount === this.type.length) {
      this.type = grown(this.type);
      this.name = grown(this.name);
      this.size = grown(this.size);
      this.address = grown(this.address);
    }
    const node = this.nodeCount++;
    this.type[node] = type;
    this.name[node] = name;
    this.size[node] = size;
    this.address[node] = address;
  }

  beginEdges(): void {
    this.firstEdge = new Uint32Array(this.nodeCount + 1);
  }

  /** Adds an edge of the current node. */
  addEdge(type: number, name: number, target: number): void {
    if (this.edgeCount === this.edgeType.length) {
      this.edgeType = grown(this.edgeType);
      this.edgeName = grown(this.edgeName);
      this.edgeTarget = grown(this.edgeTarget);
    }
    const edge = this.edgeCount++;
    this.edgeType[edge] = type;
    this.edgeName[edge] = name;
    this.edgeTarget[edge] = target;
  }

  endNode(): void {
    this.firstEdge[++this.#ended] = this.edgeCount;
  }
}

function grown<Column extends Uint8Array | Uint32Array | Float64Array>(column: Column): Column {
  const larger = new (column.constructor as new (length: number) => Column)(Math.ceil(column.length * 1.25));
  larger.set(column);
  return larger;
}
