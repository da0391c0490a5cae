/**
 * Returns the crossing edges sorted by target, highest target first, with a counting sort per bucket. A bucket with more
 * edges than a batch is first split into side buckets with fewer targets, which reuse its memory, so that each edge is read
 * at most three times.
 */
import { bucketBits, type CrossingEdges } from './crossing-edges.ts';

const bucketSize = 1 << bucketBits;
/** Number of edges sorted at a time: their sources fit into a core's cache. */
const batchLimit = 1 << 18;

/**
 * Edges to targets [first, end), sorted by target: the sources of target `first + i` are sources[starts[i]…starts[i + 1]).
 * Contains all edges to these targets, except that a batch with a single target may be followed by more batches for it.
 */
export interface EdgeBatch {
  first: number;
  end: number;
  starts: Uint32Array;
  sources: Uint32Array;
}

/** Targets [first, end) of a bucket, by their lower half, and the bucket that contains only their edges. */
interface Part {
  bucket: number;
  first: number;
  end: number;
}

/** The maximum number of side buckets: two neighbouring ones together have more edges than a batch. */
export const sideBucketsFor = (edgeCount: number): number => Math.ceil((3 * edgeCount) / batchLimit);

/** Yields all edges; batches and their targets are in descending order. A batch is valid until the next one is requested. */
export function* batchesOf(edges: CrossingEdges): Generator<EdgeBatch> {
  const sorter = new Sorter(edges);
  for (let bucket = edges.bucketCount - 1; bucket >= 0; bucket--) yield* sorter.batches(bucket);
}

class Sorter {
  readonly #edges: CrossingEdges;
  readonly #counts = new Uint32Array(bucketSize);
  readonly #sources = new Uint32Array(batchLimit);
  readonly #starts = new Uint32Array(bucketSize + 1);
  readonly #fill = new Uint32Array(bucketSize);

  constructor(edges: CrossingEdges) {
    this.#edges = edges;
  }

  *batches(bucket: number): Generator<EdgeBatch> {
    const base = bucket << bucketBits;
    if (this.#countTargets(bucket) <= batchLimit)
      yield this.#sort({ bucket, first: 0, end: bucketSize }, base);
    else for (const part of this.#dealOut(bucket).reverse()) yield* this.#batchesOfPart(part, base);
  }

  #countTargets(bucket: number): number {
    const counts = this.#counts.fill(0);
    let total = 0;
    for (const { count, targets } of this.#edges.pieces(bucket)) {
      total += count;
      for (let i = 0; i < count; i++) counts[targets[i]!]!++;
    }
    return total;
  }

  /** Splits a bucket; each part has at most one batch of edges, or a single target. */
  #dealOut(bucket: number): Part[] {
    const parts: Part[] = [];
    const bucketOf = new Uint32Array(bucketSize);
    for (let first = 0, end = 0; first < bucketSize; first = end) {
      const side = this.#edges.takeSideBucket();
      let total = 0;
      do {
        total += this.#counts[end]!;
        bucketOf[end++] = side;
      } while (end < bucketSize && total + this.#counts[end]! <= batchLimit);
      parts.push({ bucket: side, first, end });
    }
    for (const { count, targets, sources } of this.#edges.drain(bucket))
      for (let i = 0; i < count; i++) this.#edges.put(bucketOf[targets[i]!]!, targets[i]!, sources[i]!);
    return parts;
  }

  *#batchesOfPart(part: Part, base: number): Generator<EdgeBatch> {
    const { bucket, first, end } = part;
    if (end - first > 1) yield this.#sort(part, base);
    else
      for (const { count, sources } of this.#edges.pieces(bucket)) {
        this.#starts[0] = 0;
        this.#starts[1] = count;
        yield { first: base + first, end: base + end, starts: this.#starts, sources };
      }
  }

  /** Counting sort: D. E. Knuth, The Art of Computer Programming, vol. 3, 5.2 (distribution counting). */
  #sort({ bucket, first, end }: Part, base: number): EdgeBatch {
    const starts = this.#starts;
    const next = this.#fill;
    starts[0] = 0;
    for (let row = 0; row < end - first; row++) {
      next[row] = starts[row]!;
      starts[row + 1] = starts[row]! + this.#counts[first + row]!;
    }
    const sorted = this.#sources;
    for (const { count, targets, sources } of this.#edges.pieces(bucket))
      for (let i = 0; i < count; i++) sorted[next[targets[i]! - first]!++] = sources[i]!;
    return { first: base + first, end: base + end, starts, sources: sorted };
  }
}
