/**
 * Edges that lead to a vertex with a smaller number than their source's, collected during the depth-first search. A
 * target's upper bits choose a bucket; buckets grow by chunks from one pool, so that writing goes on in a few hundred
 * places that stay in the cache, instead of one place a vertex. An edge takes four bytes: the target's lower half, and
 * how far its source is from that of the bucket's last edge. crossing-batches.ts sorts them.
 */
export const bucketBits = 16;
const chunkBits = 12;
const chunkSize = 1 << chunkBits;
const chunkMask = chunkSize - 1;
const lowerHalf = 0xffff;
/** In place of a distance that is too far. */
const far = -0x8000;
/** Targets whose last source is remembered, a power of two less one; most repeats come at once. */
const recentMask = (1 << 8) - 1;

/** Some edges of a bucket, in the order in which they were added. Valid until the next ones are asked for. */
export interface EdgePiece {
  count: number;
  /** The lower halves of the targets. */
  targets: Uint16Array;
  sources: Uint32Array;
}

export class CrossingEdges {
  /** Buckets by target. */
  readonly bucketCount: number;
  /** The lower half of a target, above it the distance; or `far`, and the source in the next slot. */
  readonly #slots: Int32Array;
  /** By bucket, two words: where its next edge goes (-1 when it needs a chunk), and the last one's source. */
  readonly #ends: Int32Array;
  readonly #chunks: number[][];
  readonly #free: number[] = [];
  /** By the target's lower bits, two words: the target, and its last source. */
  readonly #recent = new Int32Array(2 * (recentMask + 1));
  #usedBuckets: number;
  #usedChunks = 0;

  /**
   * Memory that no edge is written to is never touched, so room for all edges, each far away, costs nothing.
   * @param sideBuckets that `takeSideBucket` can give.
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

  /** Adds one, unless it was added not long ago. */
  add(target: number, source: number): void {
    const recent = this.#recent;
    const slot = 2 * (target & recentMask);
    if (recent[slot] === target && recent[slot + 1] === source) return;
    recent[slot] = target;
    recent[slot + 1] = source;
    this.put(target >>> bucketBits, target, source);
  }

  /** One that is empty, apart from those by target. */
  takeSideBucket(): number {
    return this.#usedBuckets++;
  }

  /** Adds one to a bucket of one's choice. Of the target its lower half is kept. */
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

  /** All edges of a bucket, which stay in it. */
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

  /** As pieces; the bucket is empty at the end, and what was read gives its memory to new edges. */
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

  /** Once no edge is needed any more: their memory, for twice as many words; new memory where it is too small. */
  release(words: number): [Uint32Array, Uint32Array] {
    const { buffer } = this.#slots;
    if (buffer.byteLength < 8 * words) return [new Uint32Array(words), new Uint32Array(words)];
    return [new Uint32Array(buffer, 0, words), new Uint32Array(buffer, 4 * words, words)];
  }
}

interface ReadState {
  /** Of the edge before. */
  source: number;
  /** The target whose source is in the coming slot, -1 when that is an edge. */
  waiting: number;
}
