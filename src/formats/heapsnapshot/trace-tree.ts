/**
 * The `trace_tree` section: call trees of tracked allocations, written as nested arrays
 * `[id, function_info_index, count, size, [children…]]`. Kept as flat rows with their parents; no recursion.
 */
import { AgentdumpError } from '../../errors.ts';
import { Byte, isSpace, unexpected } from './numbers.ts';

const maxRows = 50_000_000;
/** Two bracket levels a tree level. */
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
  readonly #open: number[] = [];
  #depth = 1;
  #field = 0;

  /** Starts after the section's own bracket, whose content is the root node's fields. */
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

  /** Odd depths are nodes, even ones their lists of children; the section's own bracket is depth 1. */
  #enter(): void {
    this.#depth++;
    if (this.#depth > maxDepth) throw tooLarge('depth', maxDepth);
    if (this.#depth % 2) this.#field = 0;
  }

  #leave(): void {
    if (this.#depth % 2 && this.#open.length >= (this.#depth + 1) / 2) this.#open.pop();
    this.#depth--;
    this.done = this.#depth === 0;
    this.#field = 4;
  }

  #take(bytes: Uint8Array, first: number, to: number): void {
    if (this.#depth % 2 === 0 || this.#field > 3) return;
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
    this.rows.push({ id, functionIndex: 0, count: 0, sizeBytes: 0, parent: this.#open.at(-1) ?? -1 });
    this.#open.push(this.rows.length - 1);
  }
}

function tooLarge(what: string, allowed: number): AgentdumpError {
  return new AgentdumpError('over-limit', `the trace tree's ${what} is over ${allowed}`, {
    limit: `trace_tree ${what}`,
    allowed,
  });
}
