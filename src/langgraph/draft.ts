/**
 * A record under construction. Blobs and values are added to the thread's index immediately, so that later ones can refer to
 * them. If the record can't be written, the whole index is discarded (thread.ts).
 */
import type { Blob, RecordHead, Value } from './layout.ts';
import type { ThreadIndex } from './thread-index.ts';

export class Draft {
  readonly index: ThreadIndex;
  readonly #head: RecordHead;

  constructor(index: ThreadIndex) {
    this.index = index;
    this.#head = { at: index.end(), blobs: [], values: [] };
  }

  get head(): RecordHead {
    return this.#head;
  }

  /** The bytes that the draft added to the content. */
  get literals(): Uint8Array {
    return this.index.content.tail(this.#head.at[0]);
  }

  /** Returns the blob's number. */
  addBlob(type: string, bytes: Uint8Array): number {
    const blob: Blob = { type, spans: this.index.content.describe(bytes) };
    this.#head.blobs.push(blob);
    return this.index.blobs.push(blob) - 1;
  }

  /** Returns the value's number. */
  addValue(value: Value): number {
    this.#head.values.push(value);
    this.index.addValue(value);
    return this.index.values.length - 1;
  }

  /** Adds an array as a delta to an earlier value of its channel. Returns the value's number. */
  addList(items: number[], base: number | undefined): number {
    const before = (base === undefined ? undefined : this.index.findItems(base)) ?? [];
    let keep = 0;
    while (keep < before.length && keep < items.length && before[keep] === items[keep]) keep++;
    if (base !== undefined && keep === before.length && keep === items.length) return base;
    return this.addToList(keep === 0 ? undefined : base, keep, items);
  }

  /** A list whose first `keep` items are those of the base. Returns the value's number. */
  addToList(base: number | undefined, keep: number, items: number[]): number {
    const value = this.addValue({ base, keep, items: items.slice(keep) });
    this.index.keepItems(value, items);
    return value;
  }
}
