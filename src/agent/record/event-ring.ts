/**
 * The newest events as JSON text, bounded by bytes, for the bundle that is written at death. Two kinds of events are kept
 * longer: the first events of the process (they contain the prompts), and the start events of work that has not ended. Knows
 * nothing of the events except the key that they open or close.
 *
 * The texts are in memory outside of V8's heap, which V8 neither copies nor searches: as strings they were the larger half of what an agent's
 * recorder holds, and V8 lets a heap grow by a multiple of what is alive in it.
 */

interface Entry {
  seq: number;
  text: string;
}

/** Events one after the other, each with a comma behind it. */
interface Block {
  bytes: Buffer;
  used: number;
  firstSeq: number;
  lastSeq: number;
  count: number;
}

const headShare = 0.125;
const openLimit = 2000;
/** The oldest events are dropped a block at a time. */
const blocksInAll = 64;
const leastBlockBytes = 256;
/** Of a UTF-16 unit in UTF-8. */
const mostOfUnit = 3;

export class EventRing {
  /** Events that are no longer kept. */
  evicted = 0;
  readonly #maxBytes: number;
  readonly #blockBytes: number;
  readonly #head: Block[] = [];
  #headBytes = 0;
  #headFull = false;
  #tail: Block[] = [];
  #tailBytes = 0;
  /** The memory of the block that was dropped last. */
  #spare: Buffer | undefined;
  /** The start events of work that has not ended, by key. */
  readonly #open = new Map<string, Entry>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#blockBytes = Math.max(leastBlockBytes, Math.floor(maxBytes / blocksInAll));
  }

  /** `opens`: the key of the work that starts with this event. `closes`: the key of the work that ends with it. */
  add(seq: number, text: string, opens: string | undefined, closes: string | undefined): void {
    if (closes !== undefined) this.#close(closes);
    if (opens !== undefined && this.#open.size < openLimit) this.#open.set(opens, { seq, text });
    if (!this.#headFull) {
      if (this.#headBytes + text.length <= this.#maxBytes * headShare) {
        this.#headBytes += this.#write(this.#head, seq, text);
        return;
      }
      this.#headFull = true;
    }
    this.#tailBytes += this.#write(this.#tail, seq, text);
    while (this.#tailBytes > this.#maxBytes * (1 - headShare) && this.#tail.length > 1) this.#evict();
  }

  /** The events in order, with commas between them. */
  text(): string {
    const kept = this.#openEntries().filter(({ seq }) => !this.#isInHeadOrTail(seq));
    const texts = [...this.#head.map(textOf), ...kept.map(({ text }) => text), ...this.#tail.map(textOf)];
    return texts.join(',');
  }

  /** The start events of open work, which must be repeated when old records are dropped elsewhere. */
  openTexts(): string[] {
    return this.#openEntries().map((entry) => entry.text);
  }

  /** Returns the number of bytes. */
  #write(blocks: Block[], seq: number, text: string): number {
    const most = text.length * mostOfUnit + 1;
    let block = blocks.at(-1);
    if (!block || block.bytes.length - block.used < most) {
      const bytes = most > this.#blockBytes ? ofOne(text) : this.#memory();
      block = { bytes, used: 0, firstSeq: seq, lastSeq: seq, count: 0 };
      blocks.push(block);
    }
    const before = block.used;
    block.used += block.bytes.write(text, block.used);
    block.bytes[block.used++] = 0x2c;
    block.lastSeq = seq;
    block.count++;
    return block.used - before;
  }

  #memory(): Buffer {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare ?? Buffer.allocUnsafeSlow(this.#blockBytes);
  }

  #openEntries(): Entry[] {
    return [...this.#open.values()].sort((a, b) => a.seq - b.seq);
  }

  #isInHeadOrTail(seq: number): boolean {
    return seq <= (this.#head.at(-1)?.lastSeq ?? 0) || seq >= (this.#tail[0]?.firstSeq ?? Infinity);
  }

  #close(key: string): void {
    const entry = this.#open.get(key);
    if (!entry) return;
    this.#open.delete(key);
    if (!this.#isInHeadOrTail(entry.seq)) this.evicted++;
  }

  /** What is still open is kept, and counted when it ends. */
  #evict(): void {
    const block = this.#tail.shift();
    if (!block) return;
    this.#tailBytes -= block.used;
    if (block.bytes.length === this.#blockBytes) this.#spare = block.bytes;
    this.evicted += block.count;
    for (const { seq } of this.#open.values())
      if (seq >= block.firstSeq && seq <= block.lastSeq) this.evicted--;
  }
}

const ofOne = (text: string): Buffer => Buffer.allocUnsafeSlow(Buffer.byteLength(text) + 1);

const textOf = ({ bytes, used }: Block): string => bytes.toString('utf8', 0, used - 1);
