/** Reads the references of all live objects, in their order: once to count and tag them, and again, or kept, to pass them on. */

import { type HeapKernel, objectsAtOnce } from '../kernel/heap-kernel.ts';
import type { ObjectKinds } from '../object-kinds.ts';
import type { HeapObjects } from '../objects/heap-objects.ts';
import type { SlotSet } from '../objects/slot-set.ts';
import type { ReferenceReader } from '../references.ts';
import type { Tagger } from '../tags.ts';
import { type EdgeBatch, EdgeBuffer } from './edge-batch.ts';
import { EdgeCounts } from './edge-counts.ts';
import { KeptEdges } from './kept-edges.ts';

const roomOfBuffer = 1 << 14;

export interface EdgeSources {
  objects: HeapObjects;
  kinds: ObjectKinds;
  references: ReferenceReader;
  live: SlotSet;
  /** Node of the first object. */
  first: number;
}

export class EdgeReader {
  readonly counts: EdgeCounts;
  /** Live objects that may have a C++ object. */
  readonly wrappers: number[] = [];
  readonly #sources: EdgeSources;
  readonly #kernel: HeapKernel | undefined;
  #kept: KeptEdges | undefined;
  /** Where `take` goes on. */
  #slot = 0;
  #index = 0;
  #isTaking = false;
  /** Taken, and not passed on. */
  readonly #ready: EdgeBatch[] = [];

  constructor(sources: EdgeSources, liveCount: number) {
    this.#sources = sources;
    this.#kernel = sources.objects.words.kernel;
    this.counts = new EdgeCounts(liveCount, this.#kernel?.bytes('counts', liveCount));
  }

  /** Tags the nodes, which must be known before the first is read. `keeps`: edges are taken soon. */
  readAll(tagger: Tagger, keeps: boolean): void {
    const { objects, kinds, live } = this.#sources;
    if (keeps) this.#kept = new KeptEdges();
    const take = (batch: EdgeBatch) => {
      this.counts.total += batch.count;
      this.#kept?.add(batch);
    };
    this.#begin(take, tagger, (object) => {
      if (kinds.isWrapper(objects.typeOf(object))) this.wrappers.push(object);
    });
    for (let slot = live.next(0); slot >= 0; ) slot = this.#read(slot, objectsAtOnce);
    this.#flush();
  }

  /** The edges of the next objects, so many. */
  *take(objects: number): Generator<EdgeBatch> {
    if (this.#kept) {
      yield* this.#kept.take(this.counts.sum(this.#index, this.#index + objects));
      this.#index += objects;
      return;
    }
    // Once, because many calls ask for a few objects only.
    if (!this.#isTaking) {
      this.#slot = this.#sources.live.next(0);
      const take = ({ count, packed, names }: EdgeBatch) =>
        this.#ready.push({ count, packed: packed.slice(0, count), names: names.slice(0, count) });
      this.#begin(take, undefined, () => {});
      this.#isTaking = true;
    }
    for (let left = objects; left > 0 && this.#slot >= 0; ) {
      const most = Math.min(left, objectsAtOnce);
      this.#slot = this.#read(this.#slot, most);
      left -= most;
      this.#flush();
      yield* this.#ready.splice(0);
    }
  }

  #flush: () => void = () => {};
  #read: (slot: number, most: number) => number = () => -1;

  #begin(
    take: (batch: EdgeBatch) => void,
    tagger: Tagger | undefined,
    onObject: (object: number) => void,
  ): void {
    const { references, live, first } = this.#sources;
    const kernel = this.#kernel;
    const buffer = kernel
      ? bufferOf(kernel, take)
      : new EdgeBuffer(new Uint32Array(roomOfBuffer), new Uint32Array(roomOfBuffer), take);
    let index = 0;
    const readOne = (object: number) => {
      const list = references.visit(object);
      tagger?.tag(object, list, live);
      if (tagger) this.counts.set(index, list.count);
      buffer.addList(list, live, first);
      onObject(object);
    };
    if (!kernel) {
      this.#flush = () => buffer.flush();
      this.#read = (slot, most) => {
        let object = slot;
        for (let left = most; left > 0 && object >= 0; left--, index++) {
          readOne(object);
          object = live.next(object + 1);
        }
        return object;
      };
      return;
    }
    const { code, answers } = kernel;
    const sync = () => {
      buffer.count = code.edges.value;
    };
    answers.takeEdges = this.#flush = () => {
      sync();
      buffer.flush();
      code.edges.value = 0;
    };
    answers.largeCount = (at, count) => {
      if (tagger) this.counts.setLarge(at, count);
    };
    answers.readObject = (object, at) => {
      sync();
      index = at;
      readOne(object);
      code.edges.value = buffer.count;
    };
    if (tagger) code.start(first, true, references.hasCodes);
    else if (!this.#isTaking) code.start(first, false, references.hasCodes);
    this.#read = (slot, most) => code.readFrom(slot, most);
  }
}

function bufferOf(kernel: HeapKernel, take: (batch: EdgeBatch) => void): EdgeBuffer {
  const room = kernel.code.edgeRoom.value;
  return new EdgeBuffer(kernel.words('packed', room), kernel.words('names', room), take);
}
