/**
 * The newest events as JSON text, bounded by bytes, for the bundle that is written at death. Two kinds of events are kept
 * longer: the first events of the process (they contain the prompts), and the start events of work that has not ended. Knows
 * nothing of the events except the key that they open or close.
 */

interface Entry {
  seq: number;
  text: string;
  opens: string | undefined;
}

const headShare = 0.125;
const openLimit = 2000;

export class EventRing {
  /** Events that are no longer kept. */
  evicted = 0;
  readonly #maxChars: number;
  #head: Entry[] = [];
  #headChars = 0;
  #headFull = false;
  #tail: Entry[] = [];
  /** Index of the oldest entry of the tail. Shifting the array for each event would cost time proportional to its length. */
  #first = 0;
  #tailChars = 0;
  /** The start events of work that has not ended, by key. */
  #open = new Map<string, Entry>();

  constructor(maxBytes: number) {
    this.#maxChars = maxBytes;
  }

  /** `opens`: the key of the work that starts with this event. `closes`: the key of the work that ends with it. */
  add(seq: number, text: string, opens: string | undefined, closes: string | undefined): void {
    const entry = { seq, text, opens };
    if (closes !== undefined) this.#close(closes);
    if (opens !== undefined && this.#open.size < openLimit) this.#open.set(opens, entry);
    if (!this.#headFull && this.#headChars + text.length <= this.#maxChars * headShare) {
      this.#headChars += text.length;
      this.#head.push(entry);
      return;
    }
    this.#headFull = true;
    this.#tail.push(entry);
    this.#tailChars += text.length;
    while (this.#tailChars > this.#maxChars * (1 - headShare) && this.#first < this.#tail.length - 1)
      this.#evict();
  }

  /** The events in order. */
  texts(): string[] {
    const kept = this.#openEntries().filter((entry) => !this.#isInHeadOrTail(entry));
    return [...this.#head, ...kept, ...this.#tail.slice(this.#first)].map((entry) => entry.text);
  }

  /** The start events of open work, which must be repeated when old records are dropped elsewhere. */
  openTexts(): string[] {
    return this.#openEntries().map((entry) => entry.text);
  }

  #openEntries(): Entry[] {
    return [...this.#open.values()].sort((a, b) => a.seq - b.seq);
  }

  #isInHeadOrTail({ seq }: Entry): boolean {
    return seq <= (this.#head.at(-1)?.seq ?? 0) || seq >= (this.#tail[this.#first]?.seq ?? Infinity);
  }

  #close(key: string): void {
    const entry = this.#open.get(key);
    if (!entry) return;
    this.#open.delete(key);
    if (!this.#isInHeadOrTail(entry)) this.evicted++;
  }

  #evict(): void {
    const entry = this.#tail[this.#first++];
    if (!entry) return;
    this.#tailChars -= entry.text.length;
    if (entry.opens === undefined || this.#open.get(entry.opens) !== entry) this.evicted++;
    // Evicted entries stay in the array until it is compacted: an eighth more than the bound, at a cost of seven copied
    // references per event.
    if (this.#first > 1024 && this.#first > this.#tail.length / 8) {
      this.#tail = this.#tail.slice(this.#first);
      this.#first = 0;
    }
  }
}
