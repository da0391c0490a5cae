/**
 * Parses the `edges` section into columns, and converts the target's index to its ordinal. Most bytes of a snapshot are
 * edges. Records in the form in which V8 writes them (three short numbers, type first) are parsed in bulk by the kernel; if
 * meta or the bytes have another form, the general reader parses record by record.
 */
import type { EdgeColumns } from '../columns.ts';
import { EdgeType, edgeTypeShift } from '../layout.ts';
import { Byte } from '../scan/numbers.ts';
import type { ScanKernel } from '../scan/scan-kernel.ts';
import type { SnapshotHeader } from './header.ts';
import { RecordReader } from './record-reader.ts';

/** By the byte of a type's single digit (V8 has seven types), as scan.as.ts expects it. */
const tableSize = 256;
const noKind = 1 << 28;
const isNamed = 0xffffff;

export class EdgeRecords extends RecordReader {
  readonly columns: EdgeColumns;
  /** Highest index into the strings. */
  maxName = 0;
  readonly #header: SnapshotHeader;
  readonly #typeAt: number;
  readonly #nameAt: number;
  readonly #toAt: number;
  readonly #isUsual: boolean;
  readonly #kinds = new Uint32Array(tableSize).fill(noKind);

  constructor(header: SnapshotHeader, columns: EdgeColumns) {
    super('edges', header.edge.fieldCount, columns.count);
    const { position, fieldCount } = header.edge;
    this.#header = header;
    this.columns = columns;
    this.#typeAt = position.get('type')!;
    this.#nameAt = position.get('name_or_index')!;
    this.#toAt = position.get('to_node')!;
    this.#isUsual = fieldCount === 3 && this.#typeAt === 0 && this.#nameAt === 1 && this.#toAt === 2;
    for (const [type, code] of header.edgeTypeCodes.subarray(0, 10).entries())
      this.#kinds[Byte.zero + type] = (code << edgeTypeShift) | (hasIndex(code) ? 0 : isNamed);
  }

  protected override takeMany(kernel: ScanKernel, start: number): number {
    if (!this.#isUsual) return start;
    const { code } = kernel;
    const { columns, row } = this;
    kernel.wordTable(code.edgeKindsAt, tableSize).set(this.#kinds);
    const limit = Math.min(code.edgeRows.value, columns.count - row);
    const rows = code.scanEdges(start, limit, this.#header.node.fieldCount, this.#header.nodeCount);
    const room = code.edgeRows.value;
    columns.packed.set(kernel.words(0, rows), row);
    columns.nameOrIndex.low.set(kernel.halves(4 * room, rows), row);
    columns.nameOrIndex.high.set(kernel.bytes(6 * room, rows), row);
    this.row += rows;
    this.maxName = Math.max(this.maxName, code.maxName.value);
    return code.position.value;
  }

  protected override take(record: Float64Array): void {
    const type = record[this.#typeAt]!;
    const code = this.#header.edgeTypeCodes[type];
    if (code === undefined) throw this.malformed(`an edge is of type ${type}`, 'type');
    const to = record[this.#toAt]!;
    const ordinal = to / this.#header.node.fieldCount;
    if (!Number.isInteger(ordinal) || ordinal >= this.#header.nodeCount)
      throw this.malformed(`an edge leads to ${to}, where no node starts`, 'to_node');
    const name = record[this.#nameAt]!;
    if (name > this.maxName && !hasIndex(code)) this.maxName = name;
    this.columns.packed[this.row] = (code << edgeTypeShift) | ordinal;
    this.columns.nameOrIndex.set(this.row, name);
  }
}

/** Elements and hidden edges have an index instead of a name. */
function hasIndex(code: number): boolean {
  return code === EdgeType.element || code === EdgeType.hidden;
}
