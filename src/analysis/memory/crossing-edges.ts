/**
 * Edges that lead to a vertex with a smaller number than their source's, collected during the depth-first search and
 * given back by target, highest first. A target's upper bits choose a bucket; buckets grow by chunks from one pool, so
 * that writing goes on in a few hundred places that stay in the cache, instead of one place a vertex.
 */
const bucketBits = 16;
const bucketSize = 1 << bucketBits;
const chunkBits = 12;
const chunkSize = 1 << chunkBits;
const chunkMask = chunkSize - 1;
/** Edges sorted at a time, so that a popular bucket needs no second copy of itself. */
const batchLimit = 1 << 22;

/** The edges to targets [first, end), sorted by target: those of `first + i` are sources[starts[i]…starts[i + 1]). */
export interface EdgeBatch {
  first: number;
  end: number;
  starts: Uint32Array;
  sources: Uint32Array;
}

export class CrossingEdges {
  count = 0;
  readonly #source: Uint32Array;
  readonly #target: Uint16Array;
  /** Where a bucket's next edge goes; -1 when it needs a chunk. */
  readonly #next: Int32Array;
  readonly #chunks: number[][];
  #usedChunks = 0;

  /** Memory that no edge is written to is never touched, so room for all edges costs nothing. */
  constructor(vertexCount: number, edgeCount: number) {
    const buckets = (vertexCount >>> bucketBits) + 1;
    const room = (Math.ceil(edgeCount / chunkSize) + buckets) * chunkSize;
    this.#source = new Uint32Array(room);
    this.#target = new Uint16Array(room);
    this.#next = new Int32Array(buckets).fill(-1);
    this.#chunks = Array.from({ length: buckets }, () => []);
  }

  add(target: number, source: number): void {
    const bucket = target >>> bucketBits;
    let at = this.#next[bucket]!;
    if (at < 0) at = this.#startChunk(bucket);
    this.#source[at] = source;
    this.#target[at] = target;
    this.#next[bucket] = (++at & chunkMask) === 0 ? -1 : at;
    this.count++;
  }

  /** All edges, batches and the targets in them descending. A batch is valid until the next one is asked for. */
  *batches(): Generator<EdgeBatch> {
    const counts = new Uint32Array(bucketSize);
    for (let bucket = this.#chunks.length - 1; bucket >= 0; bucket--) {
      this.#countTargets(bucket, counts);
      for (let end = bucketSize; end > 0; ) {
        let first = end - 1;
        let total = counts[first]!;
        while (first > 0 && total + counts[first - 1]! <= batchLimit) total += counts[--first]!;
        if (total) yield this.#sort(bucket, first, end, total, counts);
        end = first;
      }
    }
  }

  #countTargets(bucket: number, counts: Uint32Array): void {
    const target = this.#target;
    counts.fill(0);
    for (const chunk of this.#chunks[bucket]!) {
      const end = this.#endOf(bucket, chunk);
      for (let at = chunk << chunkBits; at < end; at++) counts[target[at]!]!++;
    }
  }

  #sort(bucket: number, first: number, end: number, total: number, counts: Uint32Array): EdgeBatch {
    const source = this.#source;
    const target = this.#target;
    const starts = new Uint32Array(end - first + 1);
    for (let at = first; at < end; at++) starts[at - first + 1] = starts[at - first]! + counts[at]!;
    const next = starts.slice();
    const sources = new Uint32Array(total);
    for (const chunk of this.#chunks[bucket]!) {
      const chunkEnd = this.#endOf(bucket, chunk);
      for (let at = chunk << chunkBits; at < chunkEnd; at++) {
        const row = target[at]! - first;
        if (row >= 0 && row < end - first) sources[next[row]!++] = source[at]!;
      }
    }
    const base = bucket << bucketBits;
    return { first: base + first, end: base + end, starts, sources };
  }

  #endOf(bucket: number, chunk: number): number {
    const isLast = chunk === this.#chunks[bucket]!.at(-1);
    const next = this.#next[bucket]!;
    return isLast && next >= 0 ? next : (chunk + 1) << chunkBits;
  }

  #startChunk(bucket: number): number {
    const chunk = this.#usedChunks++;
    this.#chunks[bucket]!.push(chunk);
    return chunk << chunkBits;
  }
}
