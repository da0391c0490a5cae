/** One sentence without its full stop and its time, which is added where the order is made. */
export interface Told {
  /** Absent where no time was recorded. */
  beforeEndMs?: number;
  fact: string;
  part: string;
}
