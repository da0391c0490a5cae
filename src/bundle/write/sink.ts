/**
 * Where a writer puts its parts: a folder on disk, or memory for a bundle that may reach the disk encrypted only. The
 * writer above it knows hashes, gaps and the manifest; a sink knows bytes under names.
 */

/** A part that is being written. Until `name` it is not a part. Every method but `cancel` may throw. */
export interface SinkFile {
  write(bytes: Uint8Array): void;
  /** No more bytes come. */
  close(): void;
  /** Gives the bytes the part's name; after this they are a part. */
  name(): void;
  /** Forgets the bytes. Never throws. */
  cancel(): void;
}

export interface Sink {
  /** Where the bundle is now; changes when it is sealed. */
  readonly path: string;
  create(name: string): SinkFile;
  /** Adds a line to the progress file. May throw. */
  note(line: string): void;
  /** The bytes of a named part of at most `limit` bytes. May throw. */
  read(name: string, limit: number): Uint8Array | undefined;
  /** Takes a named part away. May throw. */
  remove(name: string): void;
  /** Gives back what was set aside for a full disk: true when there was something, so that trying again makes sense. */
  release(): boolean;
  /** Brings to the disk what there is, before what may take long. May throw. */
  checkpoint(): void;
  /** Puts the manifest in place, calls `placed`, makes the bundle final. May throw. Returns the final path. */
  seal(manifest: Uint8Array, placed: () => void): string;
  /** Leaves nothing. Never throws. */
  discard(): void;
}
