/**
 * Symbols of `Symbol.for`: V8's registry keeps each of them, and its text, for as long as the process lives. The texts are
 * held by V8's table of strings too, so that nothing dominates them.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild } from '../questions/node-rows.ts';
import { rootGroups } from './root-groups.ts';

const registryName = 'public_symbol_table';

export interface RegisteredSymbols {
  /** The registry's node. */
  table: number;
  symbols: number[];
  /** Of the symbols and their texts. */
  bytes: number;
}

/** Undefined if the snapshot has no registry. */
export function registeredSymbols(heap: Heap): RegisteredSymbols | undefined {
  const table = Math.max(-1, ...rootGroups(heap).map((group) => findChild(heap, group, registryName)));
  if (table < 0) return undefined;
  const { nodes } = heap.snapshot;
  const found: RegisteredSymbols = { table, symbols: [], bytes: 0 };
  for (let edge = nodes.firstEdge[table]!; edge < nodes.firstEdge[table + 1]!; edge++) {
    const symbol = heap.snapshot.edgeTarget(edge);
    if (nodes.type[symbol] !== NodeType.symbol) continue;
    const text = findChild(heap, symbol, 'name', EdgeType.internal);
    found.symbols.push(symbol);
    found.bytes += nodes.selfSize.get(symbol) + (text < 0 ? 0 : nodes.selfSize.get(text));
  }
  return found;
}
