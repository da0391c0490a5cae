/** Counts of JavaScript objects by the name of their constructor, collected during a walk over the heap. */
import { whereMapped } from '../../../bytes/memory.ts';
import { findMapConstructorName } from '../properties.ts';
import { isStringType } from '../strings.ts';
import type { Tagged, V8Heap } from './heap.ts';
import type { HeapObject } from './heap-pages.ts';

export interface ClassCount {
  name: string;
  count: number;
  /** Bytes of the objects themselves, without what they refer to. */
  selfSize: number;
}

export class Histogram {
  readonly #heap: V8Heap;
  readonly #byMap = new Map<Tagged, ClassCount>();

  constructor(heap: V8Heap) {
    this.#heap = heap;
  }

  /** The name under which it was counted. */
  add({ map, type, size }: HeapObject): string {
    let entry = this.#byMap.get(map);
    if (!entry) {
      entry = { name: this.#nameOf(map, type), count: 0, selfSize: 0 };
      this.#byMap.set(map, entry);
    }
    entry.count++;
    entry.selfSize += size;
    return entry.name;
  }

  /** The largest first. V8's internal objects are named in parentheses. */
  classes(): ClassCount[] {
    const byName = new Map<string, ClassCount>();
    for (const { name, count, selfSize } of this.#byMap.values()) {
      const total = byName.get(name);
      if (total) {
        total.count += count;
        total.selfSize += selfSize;
      } else byName.set(name, { name, count, selfSize });
    }
    return [...byName.values()].sort((a, b) => b.selfSize - a.selfSize);
  }

  #nameOf(map: Tagged, type: number): string {
    const { types, instanceTypes } = this.#heap.layout;
    if (isStringType(type)) return '(string)';
    if (type === types.freeSpace) return '(free space)';
    if (type >= types.function[0] && type <= types.function[1]) return 'Function';
    if (type >= types.jsProxy) return whereMapped(() => findMapConstructorName(this.#heap, map)) || 'Object';
    if (type >= types.context[0] && type <= types.context[1]) return '(context)';
    return `(${(instanceTypes.get(type) ?? `internal type ${type}`).toLowerCase().replace(/_/g, ' ')})`;
  }
}
