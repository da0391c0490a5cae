/** The edges of all objects, in their order, for a graph that is read into columns at once. Each can be taken once. */
import type { EdgeList } from './edge-list.ts';
import type { SlotSet } from './objects/slot-set.ts';

const typeShift = 29;
const targetMask = (1 << typeShift) - 1;
const chunkEdges = 1 << 16;

interface Chunk {
  /** `type << 29 | number of the target`: V8's format allows no more nodes. */
  packed: Uint32Array;
  names: Uint32Array;
}

export class KeptEdges {
  #chunks: (Chunk | undefined)[] = [];
  #last: Chunk = { packed: new Uint32Array(0), names: new Uint32Array(0) };
  /** Used of the last chunk while edges are added, then of the one that is being taken. */
  #at = 0;
  #taken = 0;

  /** `live` numbers the targets. */
  add({ count, types, names, targets }: EdgeList, live: SlotSet): void {
    for (let i = 0; i < count; ) {
      if (this.#at === this.#last.packed.length) this.#open();
      const { packed, names: kept } = this.#last;
      const end = Math.min(count, i + packed.length - this.#at);
      let at = this.#at;
      for (; i < end; i++, at++) {
        packed[at] = (types[i]! << typeShift) | live.numberOf(targets[i]!);
        kept[at] = names[i]!;
      }
      this.#at = at;
    }
  }

  #open(): void {
    this.#last = { packed: new Uint32Array(chunkEdges), names: new Uint32Array(chunkEdges) };
    this.#chunks.push(this.#last);
    this.#at = 0;
  }

  /** Must follow the last `add`. */
  finish(): void {
    this.#at = chunkEdges;
  }

  /** The next edges. A chunk is dropped with its last one. */
  take(count: number, sink: (type: number, name: number, target: number) => void): void {
    for (let left = count; left > 0; ) {
      if (this.#at === chunkEdges) this.#openNext();
      const { packed, names } = this.#last;
      const end = Math.min(chunkEdges, this.#at + left);
      left -= end - this.#at;
      for (let at = this.#at; at < end; at++)
        sink(packed[at]! >>> typeShift, names[at]!, packed[at]! & targetMask);
      this.#at = end;
    }
  }

  #openNext(): void {
    this.#last = this.#chunks[this.#taken]!;
    this.#chunks[this.#taken++] = undefined;
    this.#at = 0;
  }
}
