/** Where whole bundles are kept: packed, as they were sealed, each under a name of ours. */
export interface Blobs {
  readonly place: string;
  /** A path for a file that is to be kept; nothing is there. */
  draft(name: string): string;
  /** Takes the draft over; an earlier one of that name is replaced, at once and whole. */
  keep(name: string, draft: string): Promise<void>;
  /** A file that holds it: of blobs that are elsewhere a copy, which is gone when the store is closed. Throws `not-found`. */
  read(name: string): Promise<string>;
  /** Removes it; one that is not there is none. */
  drop(name: string): Promise<void>;
  /** Where people find it. */
  locate(name: string): string;
}
