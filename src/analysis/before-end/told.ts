import type { Whose } from '../agent/whose-work.ts';

/** A sentence without its full stop and its time, which are added after sorting. */
export interface Told {
  /** Absent if no time was recorded. */
  beforeEndMs?: number;
  fact: string;
  part: string;
  /** Absent if it is not known. */
  whose?: Whose;
}
