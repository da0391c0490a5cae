/** The edges of all objects, in their order, for a graph that is read into columns at once. Each can be taken once. */
import type { EdgeBatch } from './edge-batch.ts';

const chunkEdges = 1 << 16;

export class KeptEdges {
  #chunks: (EdgeBatch | undefined)[] = [];
  #last: EdgeBatch = { count: chunkEdges, packed: new Uint32Array(0), names: new Uint32Array(0) };
  #taken = 0;
  /** Used of the chunk that is being taken. */
  #at = 0;

  add({ count, packed, names }: EdgeBatch): void {
    for (let from = 0; from < count; ) {
      if (this.#last.count === chunkEdges) this.#open();
      const last = this.#last;
      const to = Math.min(count, from + chunkEdges - last.count);
      last.packed.set(packed.subarray(from, to), last.count);
      last.names.set(names.subarray(from, to), last.count);
      last.count += to - from;
      from = to;
    }
  }

  #open(): void {
    this.#last = { count: 0, packed: new Uint32Array(chunkEdges), names: new Uint32Array(chunkEdges) };
    this.#chunks.push(this.#last);
  }

  /** The next edges. A chunk is dropped with its last one. */
  *take(count: number): Generator<EdgeBatch> {
    for (let left = count; left > 0; ) {
      const chunk = this.#chunks[this.#taken]!;
      const to = Math.min(chunk.count, this.#at + left);
      const [packed, names] = [chunk.packed.subarray(this.#at, to), chunk.names.subarray(this.#at, to)];
      left -= to - this.#at;
      this.#at = to;
      if (to === chunk.count) {
        this.#chunks[this.#taken++] = undefined;
        this.#at = 0;
      }
      yield { count: packed.length, packed, names };
    }
  }
}
