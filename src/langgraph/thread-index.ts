/**
 * The index of a thread's journal: its checkpoints, their values, and pending writes. Stores each byte once (content.ts).
 * Knows numbers of blobs and values, but not what a value means.
 */
import { Content } from './content.ts';
import { Texts } from './head-bytes.ts';
import type { Blob, CheckpointHead, RecordHead, Value, WritesHead } from './layout.ts';
import { malformed } from './malformed.ts';

const mostLastItems = 16;

export interface SavedWrite {
  task: string;
  path: string;
  index: number;
  channel: string;
  value: number;
}

export interface SavedCheckpoint {
  id: string;
  parent: string | undefined;
  head: number;
  metadata: number;
  /** Version and value number of each channel that this checkpoint or an ancestor stored. */
  values: Map<string, [version: string | number, value: number]>;
}

export class ThreadIndex {
  readonly content = new Content();
  readonly texts = new Texts();
  readonly blobs: Blob[] = [];
  readonly values: Value[] = [];
  readonly namespaces = new Map<string, Map<string, SavedCheckpoint>>();
  /** By namespace and checkpoint, then by task and index. Writes may precede their checkpoint. */
  readonly #writes = new Map<string, Map<string, SavedWrite>>();
  readonly #lastItems = new Map<number, number[]>();
  /** The number of items of each value; 0 for one that is not a list. */
  readonly #lengths: number[] = [];

  /** The `at` field of the next record. */
  end(): RecordHead['at'] {
    return [this.content.length, this.blobs.length, this.values.length];
  }

  /** Adds the content, blobs and values of a record. Throws if the record does not follow the previous one. */
  addRecord(head: RecordHead, literals: Uint8Array): void {
    if (head.at.join() !== this.end().join()) throw malformed('at', this.end().join(), head.at.join());
    this.content.append(literals);
    for (const blob of head.blobs) {
      if (!this.content.holds(blob.spans)) throw malformed('spans', 'within the content', blob.spans.join());
      this.blobs.push(blob);
    }
    for (const value of head.values) this.addValue(value);
  }

  /** Throws if it refers to something that does not exist. */
  addValue(value: Value): void {
    const { base, keep, items } =
      typeof value === 'number' ? { base: undefined, keep: 0, items: [value] } : value;
    const most = base === undefined ? 0 : (this.#lengths[base] ?? -1);
    if (keep > most || items.some((item) => !this.blobs[item]))
      throw malformed('values', `of known blobs, at most ${most} kept`, `${keep} kept, ${items.slice(0, 9)}`);
    this.values.push(value);
    this.#lengths.push(typeof value === 'number' ? 0 : keep + items.length);
  }

  addCheckpoint(head: CheckpointHead): void {
    const { ns, id, parent, changed } = head;
    if (!this.blobs[head.head] || !this.blobs[head.metadata]) throw malformed('head', 'a blob', 'none');
    const checkpoints = this.namespaces.get(ns) ?? new Map<string, SavedCheckpoint>();
    this.namespaces.set(ns, checkpoints);
    const inherited = parent === undefined ? undefined : checkpoints.get(parent)?.values;
    const values = new Map(inherited ?? checkpoints.get(id)?.values);
    for (const [channel, version, value] of changed) {
      if (this.values[value] === undefined) throw malformed('changed', 'a value', channel);
      values.set(channel, [version, value]);
    }
    checkpoints.set(id, { id, parent, head: head.head, metadata: head.metadata, values });
  }

  addWrites({ ns, id, task, path, writes }: WritesHead): void {
    const key = JSON.stringify([ns, id]);
    const mine = this.#writes.get(key) ?? new Map<string, SavedWrite>();
    this.#writes.set(key, mine);
    const before = new Set(mine.keys());
    for (const [index, channel, value] of writes) {
      if (this.values[value] === undefined) throw malformed('writes', 'a value', channel);
      // Special channels have negative indices. For them the last write counts, for others the first.
      if (index >= 0 && before.has(`${task},${index}`)) continue;
      mine.set(`${task},${index}`, { task, path, index, channel, value });
    }
  }

  /** Caches the items of a value that is likely to be extended. */
  keepItems(value: number, items: number[]): void {
    if (this.#lastItems.size >= mostLastItems) this.#lastItems.clear();
    this.#lastItems.set(value, items);
  }

  writesOf(ns: string, id: string): SavedWrite[] {
    return [...(this.#writes.get(JSON.stringify([ns, id]))?.values() ?? [])];
  }

  /** Blobs of a value's items, in order; undefined if the value is not a list. Must not be modified. */
  findItems(value: number): readonly number[] | undefined {
    const last = this.#lastItems.get(value);
    if (last) return last;
    const heads: Exclude<Value, number>[] = [];
    let at: Value | undefined = this.values[value];
    while (typeof at === 'object') {
      heads.push(at);
      at = at.base === undefined ? undefined : this.values[at.base];
    }
    if (heads.length === 0) return undefined;
    const all: number[] = [];
    for (const { keep, items } of heads.reverse()) {
      all.length = keep;
      for (const item of items) all.push(item);
    }
    return all;
  }
}
