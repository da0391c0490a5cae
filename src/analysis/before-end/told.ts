/** A sentence without its full stop and its time, which are added after sorting. */
export interface Told {
  /** Absent if no time was recorded. */
  beforeEndMs?: number;
  fact: string;
  part: string;
}
