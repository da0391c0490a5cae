/** Counts JavaScript objects by the name of their constructor, during a walk over the heap. */
import { whereMapped } from '../../../bytes/memory.ts';
import { findMapConstructorName } from '../properties.ts';
import { isStringType } from '../strings.ts';
import type { Tagged, V8Heap } from './heap.ts';
import type { HeapObject } from './heap-pages.ts';
import type { CountedMap } from './object-counter.ts';

export interface ClassCount {
  name: string;
  count: number;
  /** Size of the objects themselves, without what they refer to. */
  selfSize: number;
}

export class Histogram {
  readonly #heap: V8Heap;
  readonly #byMap = new Map<Tagged, ClassCount>();

  constructor(heap: V8Heap) {
    this.#heap = heap;
  }

  /** Returns the name under which the object was counted. */
  add({ map, type, size }: HeapObject): string {
    const entry = this.#entryOf(map, type);
    entry.count++;
    entry.selfSize += size;
    return entry.name;
  }

  addCounted({ map, type, count, bytes }: CountedMap): void {
    const entry = this.#entryOf(map, type);
    entry.count += count;
    entry.selfSize += bytes;
  }

  /** Name for all objects with this map. */
  nameOf(map: Tagged, type: number): string {
    return this.#entryOf(map, type).name;
  }

  #entryOf(map: Tagged, type: number): ClassCount {
    const known = this.#byMap.get(map);
    if (known) return known;
    const entry = { name: this.#findName(map, type), count: 0, selfSize: 0 };
    this.#byMap.set(map, entry);
    return entry;
  }

  /** Largest first. V8's internal objects have names in parentheses. */
  classes(): ClassCount[] {
    const byName = new Map<string, ClassCount>();
    for (const { name, count, selfSize } of this.#byMap.values()) {
      if (count === 0) continue;
      const total = byName.get(name);
      if (total) {
        total.count += count;
        total.selfSize += selfSize;
      } else byName.set(name, { name, count, selfSize });
    }
    return [...byName.values()].sort((a, b) => b.selfSize - a.selfSize);
  }

  #findName(map: Tagged, type: number): string {
    const { types, instanceTypes } = this.#heap.layout;
    if (isStringType(type)) return '(string)';
    if (type === types.freeSpace) return '(free space)';
    if (type >= types.function[0] && type <= types.function[1]) return 'Function';
    if (type >= types.jsProxy) return whereMapped(() => findMapConstructorName(this.#heap, map)) || 'Object';
    if (type >= types.context[0] && type <= types.context[1]) return '(context)';
    return `(${(instanceTypes.get(type) ?? `internal type ${type}`).toLowerCase().replace(/_/g, ' ')})`;
  }
}
