/**
 * Edges that lead to a vertex with a smaller number than their source's, collected during the depth-first search and
 * given back by target, highest first. A target's upper bits choose a bucket; buckets grow by chunks from one pool, so
 * that writing goes on in a few hundred places that stay in the cache, instead of one place a vertex. An edge takes four
 * bytes: the target's lower half, and how far its source is from that of the bucket's last edge.
 */
const bucketBits = 16;
const bucketSize = 1 << bucketBits;
const chunkBits = 12;
const chunkSize = 1 << chunkBits;
const chunkMask = chunkSize - 1;
/** In place of a distance: it is too far, the source itself is in the two halves of the next slot. */
const far = -0x8000;
/** Edges sorted at a time, so that a popular bucket needs no second copy of itself; a popular target comes in pieces. */
const batchLimit = 1 << 20;
/** Targets whose last source is remembered, a power of two less one; most repeats come at once. */
const recentMask = (1 << 8) - 1;

/**
 * Edges to targets [first, end), sorted by target: of `first + i`, sources[starts[i]…starts[i + 1]). All of them, but that
 * a single target may come again with more.
 */
export interface EdgeBatch {
  first: number;
  end: number;
  starts: Uint32Array;
  sources: Uint32Array;
}

export class CrossingEdges {
  readonly #target: Uint16Array;
  readonly #distance: Int16Array;
  /** By bucket: where its next edge goes; -1 when it needs a chunk. */
  readonly #next: Int32Array;
  readonly #lastSource: Int32Array;
  readonly #chunks: number[][];
  readonly #recentTarget = new Int32Array(recentMask + 1);
  readonly #recentSource = new Int32Array(recentMask + 1);
  #usedChunks = 0;
  /** Of the batches: one after the other is made in them. */
  readonly #sources = new Uint32Array(batchLimit);
  readonly #starts = new Uint32Array(bucketSize + 1);
  readonly #fill = new Int32Array(bucketSize + 1);

  /** Memory that no edge is written to is never touched, so room for all edges, each far away, costs nothing. */
  constructor(vertexCount: number, edgeCount: number) {
    const buckets = (vertexCount >>> bucketBits) + 1;
    const room = (Math.ceil((2 * edgeCount) / chunkSize) + buckets) * chunkSize;
    this.#target = new Uint16Array(room);
    this.#distance = new Int16Array(room);
    this.#next = new Int32Array(buckets).fill(-1);
    this.#lastSource = new Int32Array(buckets);
    this.#chunks = Array.from({ length: buckets }, () => []);
  }

  /** Adds one, unless it was added not long ago. */
  add(target: number, source: number): void {
    const slot = target & recentMask;
    if (this.#recentTarget[slot] === target && this.#recentSource[slot] === source) return;
    this.#recentTarget[slot] = target;
    this.#recentSource[slot] = source;
    const bucket = target >>> bucketBits;
    const distance = source - this.#lastSource[bucket]!;
    this.#lastSource[bucket] = source;
    if (distance <= far || distance >= -far) {
      this.#put(bucket, target, far);
      this.#put(bucket, source, source >>> 16);
      return;
    }
    let at = this.#next[bucket]!;
    if (at < 0) at = this.#startChunk(bucket);
    this.#target[at] = target;
    this.#distance[at] = distance;
    this.#next[bucket] = (++at & chunkMask) === 0 ? -1 : at;
  }

  #put(bucket: number, target: number, distance: number): void {
    let at = this.#next[bucket]!;
    if (at < 0) at = this.#startChunk(bucket);
    this.#target[at] = target;
    this.#distance[at] = distance;
    this.#next[bucket] = (++at & chunkMask) === 0 ? -1 : at;
  }

  #startChunk(bucket: number): number {
    const chunk = this.#usedChunks++;
    this.#chunks[bucket]!.push(chunk);
    return chunk << chunkBits;
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
        for (let skip = 0; skip < total; skip += batchLimit)
          yield this.#sort(bucket, first, end, Math.min(batchLimit, total - skip), counts, skip);
        end = first;
      }
    }
  }

  #countTargets(bucket: number, counts: Uint32Array): void {
    let isSource = false;
    counts.fill(0);
    for (const chunk of this.#chunks[bucket]!) {
      const end = this.#endOf(bucket, chunk);
      for (let at = chunk << chunkBits; at < end; at++) {
        if (isSource) isSource = false;
        else {
          counts[this.#target[at]!]!++;
          isSource = this.#distance[at] === far;
        }
      }
    }
  }

  /** `total` edges; of a single target, those after the first `skip`. */
  #sort(
    bucket: number,
    first: number,
    end: number,
    total: number,
    counts: Uint32Array,
    skip: number,
  ): EdgeBatch {
    const targets = this.#target;
    const distances = this.#distance;
    const rows = end - first;
    const starts = this.#starts;
    const next = this.#fill;
    starts[0] = 0;
    for (let row = 0; row < rows; row++) {
      next[row] = starts[row]!;
      starts[row + 1] = Math.min(total, starts[row]! + counts[first + row]!);
    }
    next[0] = -skip;
    const sources = this.#sources;
    let source = 0;
    /** The row whose source is in the coming slot, -1 when the slot is an edge. */
    let waiting = -1;
    for (const chunk of this.#chunks[bucket]!) {
      const chunkEnd = this.#endOf(bucket, chunk);
      for (let at = chunk << chunkBits; at < chunkEnd; at++) {
        const distance = distances[at]!;
        let row = targets[at]! - first;
        if (waiting !== -1) {
          source = targets[at]! | (distance << 16);
          row = waiting;
          waiting = -1;
        } else if (distance === far) {
          waiting = row >= 0 ? row : rows;
          continue;
        } else source += distance;
        if (row < 0 || row >= rows) continue;
        const place = next[row]!++;
        if (place >= 0 && place < total) sources[place] = source;
      }
    }
    const base = bucket << bucketBits;
    return { first: base + first, end: base + end, starts, sources };
  }

  /** Once all edges were given back: their memory, for twice as many words; new memory where it is too small. */
  release(words: number): [Uint32Array, Uint32Array] {
    const take = ({ buffer }: ArrayBufferView): Uint32Array =>
      buffer.byteLength < 4 * words ? new Uint32Array(words) : new Uint32Array(buffer, 0, words);
    return [take(this.#target), take(this.#distance)];
  }

  #endOf(bucket: number, chunk: number): number {
    const isLast = chunk === this.#chunks[bucket]!.at(-1);
    const next = this.#next[bucket]!;
    return isLast && next >= 0 ? next : (chunk + 1) << chunkBits;
  }
}
