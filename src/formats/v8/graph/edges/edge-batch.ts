/** Edges in columns, many at once, on their way from memory to whoever needs them. */

import type { SlotSet } from '../objects/slot-set.ts';
import type { EdgeList } from './edge-list.ts';

/** V8's format allows no more nodes than the bits of a target. */
export const edgeTypeShift = 29;
export const edgeTargetMask = (1 << edgeTypeShift) - 1;

/** `packed`: `type << 29 | node`; `names`: text numbers, or indexes if the type is element or hidden. */
export interface EdgeBatch {
  count: number;
  packed: Uint32Array;
  names: Uint32Array;
}

/** Passes on the edges that it has whenever it is full. */
export class EdgeBuffer implements EdgeBatch {
  count = 0;
  readonly packed: Uint32Array;
  readonly names: Uint32Array;
  readonly #take: (batch: EdgeBatch) => void;

  /** The columns may be a caller's. */
  constructor(packed: Uint32Array, names: Uint32Array, take: (batch: EdgeBatch) => void) {
    this.packed = packed;
    this.names = names;
    this.#take = take;
  }

  /** `live` numbers the targets, whose first node is `first`. */
  addList({ count, types, names, targets }: EdgeList, live: SlotSet, first: number): void {
    for (let i = 0; i < count; i++) this.add(types[i]!, names[i]!, first + live.numberOf(targets[i]!));
  }

  add(type: number, name: number, node: number): void {
    if (this.count === this.packed.length) this.flush();
    this.packed[this.count] = (type << edgeTypeShift) | node;
    this.names[this.count++] = name;
  }

  flush(): void {
    if (this.count > 0) this.#take(this);
    this.count = 0;
  }
}
