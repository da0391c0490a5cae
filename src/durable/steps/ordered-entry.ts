/** What replay-order.ts delivers in its recorded order. */
import type { Patience } from './replay-patience.ts';

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

export interface OrderOptions {
  /** By record number. */
  items: OrderedItem[];
  notify: (line: string) => void;
  /** Whether the code that is running now is the program's. */
  isOfProgram: () => boolean;
  /** Called when the program has taken another path: what it did not call, and what it calls instead. */
  onChanged: (missing: OrderedEntry, asked: string[]) => Error;
  /** Which of the recorded entries that were not called are calls that wait to begin. */
  recognise?: (missing: OrderedEntry[], calls: object[]) => Map<object, OrderedEntry>;
  /** Whether a step or a question of the run is at work, so that its end will come. */
  isAtWork?: () => boolean;
  /** Overrides of the limits, for tests. */
  patience?: Partial<Patience>;
}
