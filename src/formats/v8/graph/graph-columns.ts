/** Nodes and edges of a graph as columns that grow: first all nodes, then the edges of each in the same order. */

/** Room beyond what was expected. */
const spare = 1 << 14;

/** The number by which a node is called: V8 gives odd ones. */
export const idOfNode = (node: number) => 2 * node + 1;

/** Where the object of a node lay; undefined for an id of no object. */
export function addressOfNode({ nodeCount, address }: GraphColumns, id: number): number | undefined {
  const node = (id - 1) / 2;
  return Number.isInteger(node) && node >= 0 && node < nodeCount ? address[node] || undefined : undefined;
}

export class GraphColumns {
  readonly texts: readonly string[];
  nodeCount = 0;
  type: Uint8Array;
  /** Number of a text. */
  name: Uint32Array;
  size: Float64Array;
  /** Where it lay in memory; 0 for what is no object. */
  address: Float64Array;
  /** By node: where its edges start; one more at the end. */
  firstEdge = new Uint32Array(0);
  edgeCount = 0;
  edgeType: Uint8Array;
  /** Number of a text, or an index for elements and hidden edges. */
  edgeName: Uint32Array;
  edgeTarget: Uint32Array;
  #ended = 0;

  /** `nodes`, `edges`: about how many there will be. */
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

  /** Of the node whose turn it is. */
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
