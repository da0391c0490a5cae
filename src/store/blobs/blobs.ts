/** Where whole bundles are kept: packed, as they were sealed, each under a name of ours. */
export interface Blobs {
  readonly place: string;
  /** A path for a file that is to be kept; nothing is there. */
  draft(name: string): string;
  /** Takes the draft over; an earlier one of that name is replaced, at once and whole. */
  keep(name: string, draft: string): Promise<void>;
  /** Where people find it. */
  locate(name: string): string;
}
