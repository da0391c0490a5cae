/** The page's questions to the memory of a core, and their answers. Types only; addresses are written `0x…`. */
import type { Referent, ThreadRegisters } from '../../model/core-memory.ts';
import type { Gap } from '../../model/verdict.ts';

export type MemoryQuestion =
  /** Words of eight bytes from an address on. */
  { ask: 'words'; at: string; count: number };

export interface RegionRow {
  start: string;
  end: string;
  access: string;
  name: string;
  bytes: number;
  presentBytes: number;
}

export interface WordRow {
  address: string;
  /** Absent if they are not in the core. */
  bytes?: string;
  text?: string;
  value?: string;
  refersTo?: Referent & {
    /** The address to go to: for an object without V8's tag. */
    at: string;
  };
}

export interface MemorySummary {
  threads: ThreadRegisters[];
  regions: RegionRow[];
  presentBytes: number;
  gaps: Gap[];
}

export interface WordsView {
  /** Of the first word: the address that was asked for, rounded down to a word. */
  at: string;
  /** What the address belongs to; absent if it is in no region. */
  region?: RegionRow;
  words: WordRow[];
}

export interface MemoryAnswers {
  words: WordsView;
}
