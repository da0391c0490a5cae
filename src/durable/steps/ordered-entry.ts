/** What replay-order.ts delivers in its recorded order. */

/** A recorded step or question. */
export interface OrderedEntry {
  readonly path: string;
  /** The program of this process has called it. */
  isClaimed: boolean;
  /**
   * Its call might as well have been made by another branch, because only time distinguishes them (`call-position.ts`): its end
   * is held back until no other call can come. `only`: no other one is recorded.
   */
  held?: 'only' | 'several' | undefined;
  /** The number of its delivery. */
  deliveredAs?: number;
  /** Number of its start record. */
  readonly seq?: number;
}

export interface OrderedItem {
  seq: number;
  entry: OrderedEntry;
  isEnd: boolean;
  /** The end of a step that is run again: it comes once what is new within the step has begun and ended. */
  isRunAgain?: boolean;
}
