/** Variables that a function shares with the closures around it. V8 keeps them, by name, in a chain of contexts. */
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { findScopeInfo } from './scope-info.ts';

export interface ClosureVariable {
  name: string;
  value: Tagged;
  /** Number of contexts outwards; 0 is the frame's own. */
  distance: number;
}

const maxContexts = 64;

/** Innermost first, at most `limit`. V8's own variables (`.new.target` and similar) are left out. */
export function readClosureVariables(heap: V8Heap, context: Tagged, limit: number): ClosureVariable[] {
  const { context: c, fixedArray, types } = heap.layout;
  const variables: ClosureVariable[] = [];
  let current = context;
  for (let distance = 0; distance < maxContexts && heap.isContext(current); distance++) {
    const slot = (i: number) => heap.field(current, c.data + i * 8);
    const names = findScopeInfo(heap, slot(c.scopeInfo))?.variables ?? [];
    const length = heap.findSmi(current, fixedArray.length) ?? 0;
    // A scope in which eval may add variables has one more slot before them.
    const first = c.minSlots + (length === c.minSlots + names.length + 1 ? 1 : 0);
    for (let i = 0; i < names.length && first + i < length; i++) {
      const name = names[i];
      if (!name || name.startsWith('.')) continue;
      if (variables.length >= limit) return variables;
      const held = slot(first + i);
      const value = heap.isType(held, types.contextCell) ? heap.field(held, 8) : held;
      variables.push({ name, value, distance });
    }
    current = slot(c.previous);
  }
  return variables;
}
