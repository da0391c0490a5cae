/**
 * Collects, during the depth-first search, edges whose target has a smaller number than their source. The upper bits of the
 * target select a bucket, and buckets grow in chunks from one pool, so that writes go to a few hundred places that stay in
 * the cache instead of one place per vertex. An edge takes four bytes: the lower half of its target, and the distance of its
 * source from that of the bucket's previous edge. crossing-batches.ts sorts them.
 */
export const bucketBits = 16;
const chunkBits = 12;
const chunkSize = 1 << chunkBits;
const chunkMask = chunkSize - 1;
const lowerHalf = 0xffff;
/** Marks a distance that doesn't fit. */
const far = -0x8000;
/** Size of the cache of recent targets, a power of two minus one. Most repeated edges follow each other closely. */
const recentMask = (1 << 8) - 1;

/** Some edges of a bucket, in insertion order. Valid until the next piece is requested. */
export interface EdgePiece {
  count: number;
  /** The lower halves of the targets. */
  targets: Uint16Array;
  sources: Uint32Array;
}

export class CrossingEdges {
  /** Number of buckets by target. */
  readonly bucketCount: number;
  /** Low 16 bits: the lower half of a target; high 16 bits: the distance, or `far` if the source is in the next slot. */
  readonly #slots: Int32Array;
  /** Two words per bucket: the index for its next edge (-1 if it needs a chunk), and the source of its last edge. */
  readonly #ends: Int32Array;
  readonly #chunks: number[][];
  readonly #free: number[] = [];
  /** Two words per lower bits of a target: the target and its last source. */
  readonly #recent = new Int32Array(2 * (recentMask + 1));
  #usedBuckets: number;
  #usedChunks = 0;

  /**
   * Reserves memory for the worst case, in which every edge takes two slots; pages that are never written cost nothing.
   * @param sideBuckets how many buckets `takeSideBucket` can return.
   */
  constructor(vertexCount: number, edgeCount: number, sideBuckets: number) {
    this.bucketCount = (vertexCount >>> bucketBits) + 1;
    this.#usedBuckets = this.bucketCount;
    const buckets = this.bucketCount + sideBuckets;
    const room = (Math.ceil((2 * edgeCount) / chunkSize) + buckets) * chunkSize;
    this.#slots = new Int32Array(room);
    this.#ends = new Int32Array(2 * buckets);
    this.#chunks = Array.from({ length: buckets }, () => []);
    for (let bucket = 0; bucket < buckets; bucket++) this.#empty(bucket);
  }

  /** Adds an edge, unless the same one was added recently. */
  add(target: number, source: number): void {
    const recent = this.#recent;
    const slot = 2 * (target & recentMask);
    if (recent[slot] === target && recent[slot + 1] === source) return;
    recent[slot] = target;
    recent[slot + 1] = source;
    this.put(target >>> bucketBits, target, source);
  }

  /** Returns an empty bucket that is not one of those by target. */
  takeSideBucket(): number {
    return this.#usedBuckets++;
  }

  /** Adds an edge to a given bucket. Only the lower half of the target is stored. */
  put(bucket: number, target: number, source: number): void {
    const ends = this.#ends;
    const distance = source - ends[2 * bucket + 1]!;
    ends[2 * bucket + 1] = source;
    let at = ends[2 * bucket]!;
    if (at < 0) at = this.#startChunk(bucket);
    if (distance <= far || distance >= -far) {
      this.#slots[at] = (far << 16) | (target & lowerHalf);
      if ((++at & chunkMask) === 0) at = this.#startChunk(bucket);
      this.#slots[at] = source;
    } else this.#slots[at] = (distance << 16) | (target & lowerHalf);
    ends[2 * bucket] = (++at & chunkMask) === 0 ? -1 : at;
  }

  #startChunk(bucket: number): number {
    const chunk = this.#free.pop() ?? this.#usedChunks++;
    this.#chunks[bucket]!.push(chunk);
    return chunk << chunkBits;
  }

  #empty(bucket: number): void {
    this.#chunks[bucket] = [];
    this.#ends[2 * bucket] = -1;
    this.#ends[2 * bucket + 1] = 0;
  }

  /** Yields all edges of a bucket without removing them. */
  *pieces(bucket: number): Generator<EdgePiece> {
    const piece = { count: 0, targets: new Uint16Array(chunkSize), sources: new Uint32Array(chunkSize) };
    const chunks = this.#chunks[bucket]!;
    const state: ReadState = { source: 0, waiting: -1 };
    const open = this.#ends[2 * bucket]!;
    for (const chunk of chunks) {
      const isOpen = open >= 0 && open >>> chunkBits === chunk;
      const start = chunk << chunkBits;
      this.#read(start, isOpen ? open : start + chunkSize, piece, state);
      yield piece;
    }
  }

  /** Like pieces, but leaves the bucket empty; chunks that were read are reused for new edges. */
  *drain(bucket: number): Generator<EdgePiece> {
    const chunks = this.#chunks[bucket]!;
    let done = 0;
    for (const piece of this.pieces(bucket)) {
      this.#free.push(chunks[done++]!);
      yield piece;
    }
    this.#empty(bucket);
  }

  #read(start: number, end: number, piece: EdgePiece, state: ReadState): void {
    const { targets, sources } = piece;
    const slots = this.#slots;
    let { source, waiting } = state;
    let count = 0;
    for (let at = start; at < end; at++) {
      const slot = slots[at]!;
      if (waiting >= 0) {
        source = slot;
        targets[count] = waiting;
        sources[count++] = source;
        waiting = -1;
      } else if (slot >> 16 === far) waiting = slot & lowerHalf;
      else {
        source += slot >> 16;
        targets[count] = slot;
        sources[count++] = source;
      }
    }
    piece.count = count;
    state.source = source;
    state.waiting = waiting;
  }

  /**
   * Called when no edge is needed any more: returns their memory as two arrays of `words` words, or new memory if it is too
   * small.
   */
  release(words: number): [Uint32Array, Uint32Array] {
    const { buffer } = this.#slots;
    if (buffer.byteLength < 8 * words) return [new Uint32Array(words), new Uint32Array(words)];
    return [new Uint32Array(buffer, 0, words), new Uint32Array(buffer, 4 * words, words)];
  }
}

interface ReadState {
  /** The source of the previous edge. */
  source: number;
  /** The target whose source is in the next slot; -1 if the next slot is an edge. */
  waiting: number;
}
