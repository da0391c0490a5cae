/** Texts of a graph, each kept once and known by its number. */
import { whereMapped } from '../../../bytes/memory.ts';
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { findString, isStringType } from '../strings.ts';

/** V8 cuts names here too. */
const maxLength = 1024;

export class Names {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #ofIndex: number[] = [];

  of(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }

  ofIndex(index: number): number {
    this.#ofIndex[index] ??= this.of(String(index));
    return this.#ofIndex[index]!;
  }

  /** Of a string object; what it refers to that is not there is left out. */
  ofString(heap: V8Heap, value: Tagged): number {
    return this.of(whereMapped(() => findString(heap, value, maxLength)) ?? '');
  }

  /** What V8's profiler calls a property with this key: a string or a symbol. Undefined for what is no key. */
  ofKey(heap: V8Heap, key: Tagged): number | undefined {
    const type = heap.findType(key);
    if (isStringType(type)) return this.ofString(heap, key);
    if (type !== heap.layout.types.symbol) return undefined;
    const name = whereMapped(() => findString(heap, heap.field(key, heap.layout.symbolName), maxLength));
    return this.of(name === undefined ? '<symbol>' : name.startsWith('#') ? name : `<symbol ${name}>`);
  }
}
