/** Storage for full bundles: packed, as they were sealed, each under a name that the store chooses. */
export interface Blobs {
  readonly place: string;
  /** An unused path for a file that will be passed to `keep`. */
  draft(name: string): string;
  /** Takes ownership of the draft, and replaces an earlier blob of that name atomically. Throws `unwritable`. */
  keep(name: string, draft: string): Promise<void>;
  /** A file with the contents; of remote blobs a copy that `close` removes. Throws `not-found`, `unwritable`. */
  read(name: string): Promise<string>;
  /** The file that `read` returned is no longer used: removes it if it is a copy. */
  release(path: string): void;
  /** Removes the blob, if it exists. */
  drop(name: string): Promise<void>;
  /** A location to show to users. */
  locate(name: string): string;
  close(): Promise<void>;
}
