/** Parses the `nodes` section into columns. Field positions and type numbers come from the header. */
import { type Allocator, createNodeColumns, type NodeColumns } from '../columns.ts';
import { type ScanKernel, Slot } from '../scan/scan-kernel.ts';
import type { SnapshotHeader } from './header.ts';
import { RecordReader } from './record-reader.ts';

/** The file's numbers of node types in the kernel's table. */
const tableSize = 256;
const noType = 255;
const mostEdges = 0xffffffff;

export class NodeRecords extends RecordReader {
  readonly columns: NodeColumns;
  /** Highest index into the strings. */
  maxName = 0;
  readonly #header: SnapshotHeader;
  readonly #memory: Allocator;
  readonly #typeAt: number;
  readonly #nameAt: number;
  readonly #idAt: number;
  readonly #sizeAt: number;
  readonly #edgesAt: number;
  readonly #detachedAt: number;
  readonly #traceAt: number;
  /** By field: the slot in which the kernel stores its number. */
  readonly #slots: Uint8Array;
  readonly #oneId = new Uint32Array(1);
  /** Number of edges of all rows so far. */
  #edges = 0;

  constructor(header: SnapshotHeader, memory: Allocator) {
    super('nodes', header.node.fieldCount, header.nodeCount);
    const { position } = header.node;
    this.#header = header;
    this.#memory = memory;
    this.columns = createNodeColumns(header.nodeCount, memory);
    this.#typeAt = position.get('type')!;
    this.#nameAt = position.get('name')!;
    this.#idAt = position.get('id')!;
    this.#sizeAt = position.get('self_size')!;
    this.#edgesAt = position.get('edge_count')!;
    this.#detachedAt = position.get('detachedness') ?? -1;
    this.#traceAt = position.get('trace_node_id') ?? -1;
    this.#slots = new Uint8Array(header.node.fieldCount).fill(Slot.other);
    this.#slots[this.#typeAt] = Slot.type;
    this.#slots[this.#nameAt] = Slot.name;
    this.#slots[this.#idAt] = Slot.id;
    this.#slots[this.#sizeAt] = Slot.selfSize;
    this.#slots[this.#edgesAt] = Slot.edgeCount;
    if (this.#traceAt >= 0) this.#slots[this.#traceAt] = Slot.traceNodeId;
    if (this.#detachedAt >= 0) this.#slots[this.#detachedAt] = Slot.detachedness;
  }

  protected override takeMany(kernel: ScanKernel, start: number): number {
    if (this.#edges > mostEdges) return start;
    const { code } = kernel;
    const { columns, row } = this;
    kernel.table(code.nodeCodesAt, tableSize).fill(noType).set(this.#header.nodeTypeCodes);
    kernel.table(code.fieldSlotsAt, this.#slots.length).set(this.#slots);
    code.edgeSum.value = this.#edges;
    const room = code.nodeRows.value;
    const rows = code.scanNodes(start, Math.min(room, columns.count - row), this.#slots.length);
    columns.type.set(kernel.bytes(0, rows), row);
    columns.name.set(kernel.words(room, rows), row);
    columns.id.fill(row, kernel.words(5 * room, rows));
    columns.selfSize.narrow.set(kernel.words(9 * room, rows), row);
    columns.firstEdge.set(kernel.words(13 * room, rows), row);
    this.row += rows;
    this.#edges = code.edgeSum.value >>> 0;
    this.maxName = Math.max(this.maxName, code.maxName.value);
    return code.position.value;
  }

  protected override take(record: Float64Array): void {
    const row = this.row;
    const columns = this.columns;
    const code = this.#header.nodeTypeCodes[record[this.#typeAt]!];
    if (code === undefined) throw this.malformed(`a node is of type ${record[this.#typeAt]}`, 'type');
    columns.type[row] = code;
    const name = record[this.#nameAt]!;
    if (name > this.maxName) this.maxName = name;
    columns.name[row] = name;
    const id = record[this.#idAt]!;
    if (id > 0xffffffff) throw this.malformed(`a node's id is ${id}`, 'id');
    this.#oneId[0] = id;
    columns.id.fill(row, this.#oneId);
    const size = record[this.#sizeAt]!;
    if (size < 0xffffffff) columns.selfSize.narrow[row] = size;
    else columns.selfSize.set(row, size);
    columns.firstEdge[row] = this.#edges;
    this.#edges += record[this.#edgesAt]!;
    if (this.#detachedAt >= 0 && record[this.#detachedAt] !== 0) this.#setDetachedness(record);
    if (this.#traceAt >= 0 && record[this.#traceAt] !== 0) this.#setTraceNode(record);
  }

  protected override finish(): void {
    if (this.#edges !== this.#header.edgeCount)
      throw this.malformed(
        `edge_count adds up to ${this.#edges}, not ${this.#header.edgeCount}`,
        'edge_count',
      );
    this.columns.firstEdge[this.columns.count] = this.#edges;
  }

  #setDetachedness(record: Float64Array): void {
    this.columns.detachedness ??= this.#memory.bytes(this.columns.count, 'detachedness');
    this.columns.detachedness[this.row] = record[this.#detachedAt]!;
  }

  #setTraceNode(record: Float64Array): void {
    this.columns.traceNodeId ??= this.#memory.words(this.columns.count, 'traceNodeId');
    this.columns.traceNodeId[this.row] = record[this.#traceAt]!;
  }
}
