/**
 * Where a writer puts its parts: a folder on disk, or memory for a bundle that may only be written encrypted. The writer
 * knows about hashes, gaps and the manifest; a sink only knows bytes under names.
 */

/** A part that is being written. It becomes a part with `name`. Every method except `cancel` may throw. */
export interface SinkFile {
  write(bytes: Uint8Array): void;
  /** No more bytes follow. */
  close(): void;
  /** Gives the bytes the part's name, which makes them a part. */
  name(): void;
  /** Discards the bytes. Never throws. */
  cancel(): void;
}

export interface Sink {
  /** The current path of the bundle; changes when it is sealed. */
  readonly path: string;
  create(name: string): SinkFile;
  /** Adds a line to the progress file. May throw. */
  note(line: string): void;
  /** The bytes of a named part of at most `limit` bytes. May throw. */
  read(name: string, limit: number): Uint8Array | undefined;
  /** Removes a named part. May throw. */
  remove(name: string): void;
  /** Releases the space that was reserved for a full disk. True if there was any, so that a retry makes sense. */
  release(): boolean;
  /** Writes the current state to disk, before something that may take long. May throw. */
  checkpoint(): void;
  /** Writes the manifest, calls `placed`, and makes the bundle final. Returns the final path. May throw. */
  seal(manifest: Uint8Array, placed: () => void): string;
  /** Removes everything. Never throws. */
  discard(): void;
}
