/**
 * The `edges` section into columns, the target's index turned into its ordinal. Most of a snapshot's bytes are here, so
 * records as V8 writes them (three short numbers, type first) have a loop of their own; whatever looks different in
 * meta or in the bytes goes through the general reader, record by record.
 */
import { type EdgeColumns, wideName } from './columns.ts';
import type { SnapshotHeader } from './header.ts';
import { EdgeType, edgeTypeShift } from './layout.ts';
import { RecordReader } from './record-reader.ts';

export class EdgeRecords extends RecordReader {
  readonly columns: EdgeColumns;
  /** Highest index into the strings. */
  maxName = 0;
  readonly #header: SnapshotHeader;
  readonly #typeAt: number;
  readonly #nameAt: number;
  readonly #toAt: number;
  readonly #perNode: number;
  readonly #isUsual: boolean;

  constructor(header: SnapshotHeader, columns: EdgeColumns) {
    super('edges', header.edge.fieldCount, columns.count);
    const { position, fieldCount } = header.edge;
    this.#header = header;
    this.columns = columns;
    this.#typeAt = position.get('type')!;
    this.#nameAt = position.get('name_or_index')!;
    this.#toAt = position.get('to_node')!;
    this.#perNode = 1 / header.node.fieldCount;
    this.#isUsual = fieldCount === 3 && this.#typeAt === 0 && this.#nameAt === 1 && this.#toAt === 2;
  }

  override scan(bytes: Uint8Array, start: number, end: number): number {
    if (!this.#isUsual) return super.scan(bytes, start, end);
    let at = start;
    while (!this.done) {
      at = this.#scanUsual(bytes, at);
      const next = this.scanRecords(bytes, at, end, 1);
      if (next === at) break;
      at = next;
    }
    return at;
  }

  /** Takes records until one looks different or the window's NUL bytes come. */
  #scanUsual(bytes: Uint8Array, start: number): number {
    const { packed, count } = this.columns;
    const { low, high } = this.columns.nameOrIndex;
    const { edgeTypeCodes, nodeCount } = this.#header;
    const nodeFields = this.#header.node.fieldCount;
    const perNode = this.#perNode;
    let maxName = this.maxName;
    let row = this.row;
    let recordStart = start;
    while (row < count) {
      let at = recordStart;
      const code = edgeTypeCodes[bytes[at]! - 48];
      if (code === undefined || bytes[at + 1] !== 44) break;
      at += 2;
      const nameStart = at;
      let name = 0;
      for (let digit = bytes[at]! - 48; digit >>> 0 <= 9; digit = bytes[++at]! - 48)
        name = (name * 10 + digit) | 0;
      if (bytes[at] !== 44 || at - nameStart > 9 || at === nameStart || name >= wideName) break;
      const toStart = ++at;
      let to = 0;
      for (let digit = bytes[at]! - 48; digit >>> 0 <= 9; digit = bytes[++at]! - 48)
        to = (to * 10 + digit) | 0;
      if (at - toStart > 9 || at === toStart) break;
      // The product is off by less than the half that is added, so the floor is the quotient where there is one.
      const ordinal = ((to + 0.5) * perNode) | 0;
      if (ordinal * nodeFields !== to || ordinal >= nodeCount) break;
      if (bytes[at] === 44) at++;
      else if (bytes[at] === 10 && bytes[at + 1] === 44) at += 2;
      else break;
      packed[row] = (code << edgeTypeShift) | ordinal;
      low[row] = name;
      high[row] = name >>> 16;
      if (name > maxName && code !== EdgeType.element && code !== EdgeType.hidden) maxName = name;
      row++;
      recordStart = at;
    }
    this.row = row;
    this.maxName = maxName;
    return recordStart;
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
    if (name > this.maxName && code !== EdgeType.element && code !== EdgeType.hidden) this.maxName = name;
    this.columns.packed[this.row] = (code << edgeTypeShift) | ordinal;
    this.columns.nameOrIndex.set(this.row, name);
  }
}
