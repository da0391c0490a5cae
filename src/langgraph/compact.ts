/**
 * Rewrites a thread with only what its kept checkpoints need: dropped checkpoints, spans that only they used, and the
 * segments of individual processes are removed. Bytes are copied without being deserialized.
 */
import { Draft } from './draft.ts';
import type { CheckpointHead, WritesHead } from './layout.ts';
import type { Thread } from './thread.ts';
import type { SavedCheckpoint, SavedWrite, ThreadIndex } from './thread-index.ts';

export interface Compaction {
  threadId?: string;
  keep?: number;
}

/** The thread must be locked. */
export function rewriteThread(thread: Thread, keep: number): void {
  const { index: from } = thread.read();
  thread.rewrite((target) => {
    const { index: to } = target.read();
    const copy = new Copy(from, to);
    for (const [ns, checkpoints] of from.namespaces) {
      const inOrder = [...checkpoints.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      for (const saved of inOrder.slice(Math.max(0, inOrder.length - keep))) {
        copy.checkpoint(target, ns, saved);
        for (const writes of byTask(from.writesOf(ns, saved.id))) copy.writes(target, ns, saved.id, writes);
      }
    }
  });
}

class Copy {
  readonly #from: ThreadIndex;
  readonly #to: ThreadIndex;
  /** New numbers by old numbers. */
  readonly #blobs = new Map<number, number>();
  readonly #values = new Map<number, number>();

  constructor(from: ThreadIndex, to: ThreadIndex) {
    this.#from = from;
    this.#to = to;
  }

  checkpoint(target: Thread, ns: string, { id, parent, head, metadata, values }: SavedCheckpoint): void {
    const draft = new Draft(this.#to);
    const before = parent === undefined ? undefined : this.#to.namespaces.get(ns)?.get(parent)?.values;
    const changed: CheckpointHead['changed'] = [];
    for (const [channel, [version, value]] of values) {
      const known = before?.get(channel);
      const number = this.#value(draft, value, known?.[1]);
      if (known?.[0] !== version || known[1] !== number) changed.push([channel, version, number]);
    }
    const blobs = { head: this.#blob(draft, head), metadata: this.#blob(draft, metadata) };
    target.appendCheckpoint(draft, { ns, id, parent, ...blobs, changed });
  }

  writes(target: Thread, ns: string, id: string, saved: SavedWrite[]): void {
    const draft = new Draft(this.#to);
    const { task, path } = saved[0]!;
    const writes = saved.map(({ index, channel, value }): WritesHead['writes'][number] => [
      index,
      channel,
      this.#value(draft, value),
    ]);
    target.appendWrites(draft, { ns, id, task, path, writes });
  }

  #blob(draft: Draft, number: number): number {
    const known = this.#blobs.get(number);
    if (known !== undefined) return known;
    const { type, spans } = this.#from.blobs[number]!;
    const copied = draft.addBlob(type, this.#from.content.read(spans));
    this.#blobs.set(number, copied);
    return copied;
  }

  #value(draft: Draft, number: number, base?: number): number {
    const known = this.#values.get(number);
    if (known !== undefined) return known;
    const items = this.#from.findItems(number);
    const copied = items
      ? draft.addList(
          items.map((item) => this.#blob(draft, item)),
          base,
        )
      : draft.addValue(this.#blob(draft, this.#from.values[number] as number));
    this.#values.set(number, copied);
    return copied;
  }
}

function byTask(writes: SavedWrite[]): SavedWrite[][] {
  const groups = new Map<string, SavedWrite[]>();
  for (const write of writes) groups.set(write.task, [...(groups.get(write.task) ?? []), write]);
  return [...groups.values()];
}
