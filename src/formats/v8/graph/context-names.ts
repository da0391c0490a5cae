/** Names of the variables in a context, from the scope info that all contexts of one scope share. */
import { whereMapped } from '../../../bytes/memory.ts';
import { findScopeInfo } from '../frames/scope-info.ts';
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { findString } from '../strings.ts';
import type { Names } from './names.ts';

export interface ContextNames {
  /** Slot of the first variable. */
  first: number;
  /** Text numbers. */
  names: readonly number[];
  /** V8's profiler names the variables of such scopes only. */
  isDeclaration: boolean;
}

const maxNameLength = 512;

export class ContextReader {
  readonly #heap: V8Heap;
  readonly #names: Names;
  readonly #known = new Map<Tagged, ContextNames>();
  /** Scopes that claim more variables than their contexts have slots. */
  torn = 0;

  constructor(heap: V8Heap, names: Names) {
    this.#heap = heap;
    this.#names = names;
  }

  /** `slots`: the number of slots of the context. */
  of(scope: Tagged, slots: number): ContextNames {
    const known = this.#known.get(scope);
    if (known) return known;
    const found = this.#read(scope, slots);
    this.#known.set(scope, found);
    return found;
  }

  #read(scope: Tagged, slots: number): ContextNames {
    const { minSlots } = this.#heap.layout.context;
    const info = whereMapped(() => findScopeInfo(this.#heap, scope));
    const inline = info?.variables ?? [];
    const variables = inline.length > 0 ? inline : (whereMapped(() => this.#hashed(scope, slots)) ?? []);
    // A scope in which eval may add variables has one more slot before them.
    const first = minSlots + (slots === minSlots + variables.length + 1 ? 1 : 0);
    const isDeclaration = info?.isDeclaration ?? true;
    return { first, names: variables.map((name) => this.#names.of(name)), isDeclaration };
  }

  /** If there are many variables, a hash table contains their names, each with the number of its slot. */
  #hashed(scope: Tagged, slots: number): string[] {
    const heap = this.#heap;
    const { scopeInfo, fixedArray } = heap.layout;
    const count = heap.findSmi(scope, scopeInfo.localCount) ?? 0;
    if (count > slots) {
      this.torn++;
      return [];
    }
    const start = scopeInfo.variables + 8;
    for (let at = start; count > 0 && at <= start + 8; at += 8) {
      const table = heap.field(scope, at);
      if (!heap.isPointer(table) || findString(heap, table, 1) !== undefined) continue;
      const stated = heap.findSmi(table, fixedArray.length) ?? 0;
      const length = Math.min(stated, tablePrefix + count * mostTableWords);
      const names = Array.from({ length: count }, () => '');
      for (let word = tablePrefix; word + 1 < length; word += 2) {
        const name = findString(heap, heap.field(table, fixedArray.data + word * 8), maxNameLength);
        const slot = heap.findSmi(table, fixedArray.data + (word + 1) * 8);
        if (name !== undefined && slot !== undefined && slot >= 0 && slot < count) names[slot] = name;
      }
      return names;
    }
    return [];
  }
}

/** Counts of entries, of deleted entries, and of rows. */
const tablePrefix = 3;
/** Of such a table for each entry: two, and at most a quarter of its rows are full. */
const mostTableWords = 8;
