/**
 * All distinct bytes of a thread, concatenated, and the search for bytes that are already present. A value is described as
 * spans of this content; bytes that are not in it yet are appended. The search is that of rsync (Tridgell, "Efficient
 * Algorithms for Sorting and Synchronization", 1999): a rolling checksum over the new bytes looks up aligned blocks of the
 * content. The table is bounded, so distant content may be stored again, which is never incorrect.
 */
const blockBytes = 32;
const tableBits = 14;
/**
 * A sieve of the checksums that may be in the table: 16 KB that stay in the processor's first-level cache, where the table
 * does not fit.
 */
const sieveBits = 17;
const multiplier = 0x2c9277b5;
/** multiplier to the power of blockBytes: the weight of the byte that leaves the window after the next one was added. */
const leaving = powerOf(multiplier, blockBytes);
/** More spans than this cost more than they save. */
const mostSpans = 64;

/** Offset and length alternate. */
export type Spans = number[];

export class Content {
  #bytes = Buffer.allocUnsafe(16 * 1024);
  #length = 0;
  /**
   * Indexed by the upper bits of a checksum: the checksum and offset of the last such block. Allocated by the first search.
   */
  #table: Int32Array | undefined;
  readonly #sieve = new Int32Array(1 << (sieveBits - 5));
  /** Blocks before this offset are in the table. */
  #indexed = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes from an offset on, i.e. those that were appended since the content had this length. */
  tail(from: number): Uint8Array {
    return this.#bytes.subarray(from, this.#length);
  }

  append(bytes: Uint8Array): void {
    const wanted = this.#length + bytes.length;
    if (wanted > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(wanted, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = wanted;
  }

  holds(spans: Spans): boolean {
    for (let i = 0; i < spans.length; i += 2) {
      const [at, length] = [spans[i]!, spans[i + 1]];
      if (!(Number.isSafeInteger(at) && at >= 0 && length !== undefined && Number.isSafeInteger(length)))
        return false;
      if (length < 0 || at + length > this.#length) return false;
    }
    return true;
  }

  read(spans: Spans): Uint8Array {
    if (spans.length === 2) return this.#bytes.subarray(spans[0]!, spans[0]! + spans[1]!);
    const pieces: Uint8Array[] = [];
    for (let i = 0; i < spans.length; i += 2)
      pieces.push(this.#bytes.subarray(spans[i]!, spans[i]! + spans[i + 1]!));
    return Buffer.concat(pieces);
  }

  /** The spans that these bytes consist of. Bytes that were not found are appended. */
  describe(bytes: Uint8Array): Spans {
    this.#index();
    const spans = this.#search(bytes);
    if (spans.length <= 2 * mostSpans) return spans;
    const at = this.#length;
    this.append(bytes);
    return [at, bytes.length];
  }

  /** Invariant: everything before `done` is described, and `hash` is the checksum of the block at `at`. */
  #search(bytes: Uint8Array): Spans {
    const table = this.#table!;
    const sieve = this.#sieve;
    const known = this.#length;
    const spans: Spans = [];
    let done = 0;
    let at = 0;
    let hash = hashOf(bytes, 0);
    const last = bytes.length - blockBytes;
    while (at <= last) {
      const bit = hash >>> (32 - sieveBits);
      if ((sieve[bit >>> 5]! >>> (bit & 31)) & 1) {
        const slot = 2 * (hash >>> (32 - tableBits));
        const match =
          table[slot] === hash ? this.#extend(bytes, at, done, table[slot + 1]!, known) : undefined;
        if (match) {
          this.#addLiteral(spans, bytes, done, match.from);
          pushSpan(spans, match.at, match.length);
          at = done = match.from + match.length;
          hash = hashOf(bytes, at);
          continue;
        }
      }
      if (at === last) break;
      hash = (Math.imul(hash, multiplier) - Math.imul(bytes[at]!, leaving) + bytes[at + blockBytes]!) | 0;
      at++;
    }
    this.#addLiteral(spans, bytes, done, bytes.length);
    return spans;
  }

  /** The longest common run around a block with an equal checksum; undefined if the bytes differ. */
  #extend(bytes: Uint8Array, at: number, done: number, candidate: number, known: number) {
    const mine = this.#bytes;
    if (candidate + blockBytes > known) return undefined;
    let length = 0;
    const most = Math.min(bytes.length - at, known - candidate);
    while (length < most && bytes[at + length] === mine[candidate + length]) length++;
    if (length < blockBytes) return undefined;
    let back = 0;
    while (at - back > done && candidate - back > 0 && bytes[at - back - 1] === mine[candidate - back - 1])
      back++;
    return { from: at - back, at: candidate - back, length: length + back };
  }

  #addLiteral(spans: Spans, bytes: Uint8Array, from: number, to: number): void {
    if (to <= from) return;
    pushSpan(spans, this.#length, to - from);
    this.append(bytes.subarray(from, to));
  }

  /** Adds the blocks since the last call to the table. For content that was loaded, only as many as it can hold. */
  #index(): void {
    this.#table ??= new Int32Array(2 << tableBits);
    const reach = this.#length - (blockBytes << tableBits);
    if (reach > this.#indexed) this.#indexed = reach - (reach % blockBytes);
    for (; this.#indexed + blockBytes <= this.#length; this.#indexed += blockBytes)
      this.#remember(this.#table, hashOf(this.#bytes, this.#indexed), this.#indexed);
  }

  /** The sieve never forgets. With megabytes of content most checksums pass it, and the table decides, as without a sieve. */
  #remember(table: Int32Array, hash: number, offset: number): void {
    const slot = 2 * (hash >>> (32 - tableBits));
    table[slot] = hash;
    table[slot + 1] = offset;
    const bit = hash >>> (32 - sieveBits);
    this.#sieve[bit >>> 5]! |= 1 << (bit & 31);
  }
}

function pushSpan(spans: Spans, at: number, length: number): void {
  const last = spans.length - 2;
  if (last >= 0 && spans[last]! + spans[last + 1]! === at) spans[last + 1]! += length;
  else spans.push(at, length);
}

/** The checksum of the block at this offset, or of the remaining bytes if there are fewer. */
function hashOf(bytes: Uint8Array, at: number): number {
  let hash = 0;
  const end = Math.min(at + blockBytes, bytes.length);
  for (let i = at; i < end; i++) hash = (Math.imul(hash, multiplier) + bytes[i]!) | 0;
  return hash;
}

function powerOf(base: number, exponent: number): number {
  let power = 1;
  for (let i = 0; i < exponent; i++) power = Math.imul(power, base);
  return power;
}
