/**
 * A small bundle in memory: each file is read and hashed once, however often it is asked for. So what was verified is also what
 * is analyzed and packed, whatever happens to the files in between.
 */
import { createHash } from 'node:crypto';
import { type BundleSource, chunksIn, type PartFile, requireWithin } from './source.ts';

interface Held {
  bytes: Buffer;
  sha256?: string;
}

/** What a small packed bundle unpacks to may be large. */
const mostHeldBytes = 8 * 1024 * 1024;

export class HeldSource implements BundleSource {
  readonly #source: BundleSource;
  readonly #held = new Map<string, Held>();
  #heldBytes = 0;

  /** Takes ownership of the source. */
  constructor(source: BundleSource) {
    this.#source = source;
  }

  get sizes(): ReadonlyMap<string, number> {
    return this.#source.sizes;
  }

  get unfinished(): readonly string[] {
    return this.#source.unfinished;
  }

  get refused(): ReadonlyMap<string, string> {
    return this.#source.refused;
  }

  read(name: string, limit: number): Buffer {
    const bytes = this.#hold(name)?.bytes;
    if (!bytes) return this.#source.read(name, limit);
    requireWithin(name, bytes.length, limit);
    return bytes;
  }

  open(name: string): PartFile {
    const bytes = this.#hold(name)?.bytes;
    if (!bytes) return this.#source.open(name);
    const read = (target: Uint8Array, position: number) =>
      position < bytes.length ? bytes.copy(target, 0, position) : 0;
    return { bytes: bytes.length, read, chunks: chunksIn(bytes.length, read), close: () => {} };
  }

  sha256(name: string): string | undefined {
    const held = this.#hold(name);
    if (held) held.sha256 ??= createHash('sha256').update(held.bytes).digest('hex');
    return held?.sha256;
  }

  close(): void {
    this.#held.clear();
    this.#source.close();
  }

  /** Undefined for what is too large, or still being written. */
  #hold(name: string): Held | undefined {
    const known = this.#held.get(name);
    const size = this.sizes.get(name);
    if (known || size === undefined || this.#heldBytes + size > mostHeldBytes) return known;
    const held = { bytes: this.#source.read(name, mostHeldBytes) };
    this.#heldBytes += held.bytes.length;
    this.#held.set(name, held);
    return held;
  }
}
