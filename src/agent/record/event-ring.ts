/**
 * The newest events as JSON text, bounded by bytes, with two exceptions that outlive the rest: the first events of the
 * process (the prompts are there), and the starts of what has not ended. For the bundle written at death. Knows nothing
 * of what the events mean but the key that opens or closes something.
 */

interface Entry {
  seq: number;
  text: string;
  opens: string | undefined;
}

const headShare = 0.125;
const openLimit = 2000;

export class EventRing {
  /** Events that are no longer held. */
  evicted = 0;
  readonly #maxChars: number;
  #head: Entry[] = [];
  #headChars = 0;
  #headFull = false;
  #tail: Entry[] = [];
  /** Index of the oldest entry of the tail: shifting an array for each event would cost its length. */
  #first = 0;
  #tailChars = 0;
  /** What has started and not ended, by its key. */
  #open = new Map<string, Entry>();

  constructor(maxBytes: number) {
    this.#maxChars = maxBytes;
  }

  /** `opens`: key of what starts with this event. `closes`: key of what ends with it. */
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

  /** The events in their order. */
  texts(): string[] {
    const kept = this.#openEntries().filter((entry) => !this.#isInHeadOrTail(entry));
    return [...this.#head, ...kept, ...this.#tail.slice(this.#first)].map((entry) => entry.text);
  }

  /** The starts of what is open: what must be said again when old records are dropped elsewhere. */
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
    // What is evicted is held until then: an eighth more than the bound, for seven copied references an event.
    if (this.#first > 1024 && this.#first > this.#tail.length / 8) {
      this.#tail = this.#tail.slice(this.#first);
      this.#first = 0;
    }
  }
}
