/**
 * The `trace_tree` section: call trees of tracked allocations. A node is five items, `id, function_info_index, count, size,
 * [children]`. A list of children contains these items one node after the other, without brackets around each
 * (SerializeTraceNode). Stored as flat rows with their parents; no recursion.
 */
import { AgentdumpError } from '../../../errors.ts';
import { Byte, isSpace, unexpected } from '../scan/numbers.ts';

const maxRows = 50_000_000;
const maxDepth = 2_000_000;

export interface TraceRow {
  id: number;
  /** Row of the function in trace_function_infos. */
  functionIndex: number;
  count: number;
  sizeBytes: number;
  /** Row of the caller, -1 at the root. */
  parent: number;
}

export class TraceTree {
  done = false;
  readonly rows: TraceRow[] = [];
  /** For each open list: the row that it contains the children of. */
  readonly #parents: number[] = [-1];
  #field = 0;

  /** Starts after the opening bracket of the section, which contains the root node. */
  scan(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && !this.done) {
      const byte = bytes[at]!;
      if (byte === Byte.openBracket) this.#enter();
      else if (byte === Byte.closeBracket) this.#leave();
      else if ((byte - Byte.zero) >>> 0 <= 9) {
        const first = at;
        while ((bytes[at]! - Byte.zero) >>> 0 <= 9) at++;
        if (at >= end) return first;
        this.#take(bytes, first, at);
        continue;
      } else if (byte !== Byte.comma && !isSpace(byte)) throw unexpected(bytes, at, 'trace_tree');
      at++;
    }
    return at;
  }

  #enter(): void {
    if (this.#parents.length > maxDepth) throw tooLarge('depth', maxDepth);
    this.#parents.push(this.rows.length - 1);
    this.#field = 0;
  }

  /** After a list of children, the next number begins a sibling of their parent. */
  #leave(): void {
    this.#parents.pop();
    this.done = this.#parents.length === 0;
    this.#field = 0;
  }

  #take(bytes: Uint8Array, first: number, to: number): void {
    if (this.#field > 3) return;
    let value = 0;
    for (let at = first; at < to; at++) value = value * 10 + (bytes[at]! - Byte.zero);
    if (this.#field === 0) this.#addRow(value);
    const row = this.rows.at(-1)!;
    if (this.#field === 1) row.functionIndex = value;
    if (this.#field === 2) row.count = value;
    if (this.#field === 3) row.sizeBytes = value;
    this.#field++;
  }

  #addRow(id: number): void {
    if (this.rows.length >= maxRows) throw tooLarge('rows', maxRows);
    this.rows.push({ id, functionIndex: 0, count: 0, sizeBytes: 0, parent: this.#parents.at(-1) ?? -1 });
  }
}

function tooLarge(what: string, allowed: number): AgentdumpError {
  return new AgentdumpError('over-limit', `the trace tree's ${what} is over ${allowed}`, {
    limit: `trace_tree ${what}`,
    allowed,
  });
}
