/**
 * A bundle in memory, for one that may reach the disk encrypted only. Holds at most `limitBytes` in all; a part beyond
 * that fails as on a full disk.
 */
import { manifestName } from './layout.ts';
import type { Sink, SinkFile } from './sink.ts';

export const defaultMemoryLimit = 256 * 1024 * 1024;

export class MemorySink implements Sink {
  readonly path = '(memory)';
  readonly files = new Map<string, Uint8Array[]>();
  readonly #limit: number;
  #held = 0;

  constructor(limitBytes: number = defaultMemoryLimit) {
    this.#limit = limitBytes;
  }

  create(name: string): SinkFile {
    const chunks: Uint8Array[] = [];
    return {
      write: (bytes) => {
        if (this.#held + bytes.length > this.#limit) throw Object.assign(new Error(), { code: 'ENOMEM' });
        this.#held += bytes.length;
        // A copy: the writer's caller may use its chunk again.
        chunks.push(bytes.slice());
      },
      close: () => {},
      name: () => void this.files.set(name, chunks),
      cancel: () => {
        this.#held -= sizeOf(chunks);
        chunks.length = 0;
      },
    };
  }

  /** Progress is for whoever finds a torn bundle: nobody finds this one. */
  note(): void {}

  read(name: string, limit: number): Uint8Array | undefined {
    const chunks = this.files.get(name);
    return chunks && sizeOf(chunks) <= limit ? Buffer.concat(chunks) : undefined;
  }

  remove(name: string): void {
    this.#held -= sizeOf(this.files.get(name) ?? []);
    this.files.delete(name);
  }

  release(): boolean {
    return false;
  }

  seal(manifest: Uint8Array): string {
    this.files.set(manifestName, [manifest]);
    return this.path;
  }

  discard(): void {
    this.files.clear();
    this.#held = 0;
  }
}

function sizeOf(chunks: Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}
