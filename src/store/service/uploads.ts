/**
 * Files that are being uploaded. One that was interrupted is continued where it ended; it is known by its sender and its SHA-256,
 * so that no sender reaches the file of another.
 */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ensureDumpFolder } from '../../bundle/write/safe-folder.ts';
import { AgentdumpError } from '../../errors.ts';

/** One that nobody continued is removed. */
const lifeMs = 24 * 60 * 60_000;
/** Stays free on the disk. */
const spareBytes = 1024 ** 3;

export interface Announced {
  sender: string;
  sha256: string;
  bytes: number;
}

export class Uploads {
  readonly #folder: string;
  readonly #receiving = new Set<string>();
  /** What was announced of each file. */
  readonly #begun = new Map<string, number>();

  /** Throws `unwritable`. */
  constructor(folder: string) {
    this.#folder = ensureDumpFolder(folder);
  }

  pathOf({ sender, sha256 }: Announced): string {
    return join(this.#folder, `${sender}-${sha256}`);
  }

  /**
   * The number of bytes that are there; undefined if it was not begun. A file with more bytes than were announced can't be
   * continued, and is begun anew: a service that was killed while it received them has left it.
   */
  offsetOf(upload: Announced): number | undefined {
    const path = this.pathOf(upload);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined || size <= upload.bytes || this.#receiving.has(path)) return size;
    this.remove(upload);
    return undefined;
  }

  /** Whether the disk has room for it, and for what others have announced. */
  hasRoom({ bytes }: Announced): boolean {
    this.#removeOld();
    const { bavail, bsize } = statfsSync(this.#folder);
    return bavail * bsize >= bytes + this.#promised() + spareBytes;
  }

  /** Returns the number of bytes that are there: another request may have begun it meanwhile. */
  begin(upload: Announced): number {
    const path = this.pathOf(upload);
    writeFileSync(path, '', { mode: 0o600, flag: 'a' });
    this.#begun.set(path, upload.bytes);
    return this.offsetOf(upload) ?? 0;
  }

  /** Bytes that were announced and have not come yet. */
  #promised(): number {
    let promised = 0;
    for (const [path, bytes] of this.#begun) {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat) promised += Math.max(0, bytes - stat.size);
      else this.#begun.delete(path);
    }
    return promised;
  }

  /**
   * Appends the body from `offset` on. Resolves when the file is complete and has its SHA-256; the caller removes it. Throws
   * `usage` if it was not begun or does not continue it, `held` while another request does, `malformed-input` if the bytes are
   * not those that were announced (the file is gone then), and the error of a body that was cut.
   */
  async receive(upload: Announced, offset: number, body: Readable): Promise<string> {
    const path = this.pathOf(upload);
    if (this.#receiving.has(path))
      throw new AgentdumpError('held', 'it is being uploaded by another request');
    this.#receiving.add(path);
    try {
      const there = this.offsetOf(upload);
      if (there !== offset)
        throw new AgentdumpError(
          'usage',
          `it continues at ${there ?? 'no offset: offer it first'}, not at ${offset}`,
          {
            argument: 'offset',
          },
        );
      await append(path, body, upload.bytes - offset);
      if (this.offsetOf(upload) === upload.bytes && (await digestOf(path)) === upload.sha256) return path;
      this.remove(upload);
      throw new AgentdumpError('malformed-input', 'the bytes that came are not those that were announced', {
        format: 'upload',
        field: 'sha256',
      });
    } finally {
      this.#receiving.delete(path);
    }
  }

  remove(upload: Announced): void {
    rmSync(this.pathOf(upload), { force: true });
  }

  #removeOld(): void {
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name);
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat && Date.now() - stat.mtimeMs > lifeMs && !this.#receiving.has(path))
        rmSync(path, { force: true });
    }
  }
}

/**
 * Every chunk is in the file before the next one is read, so that what a cut connection has sent stays. Stops after so many
 * bytes; a chunk that exceeds them is written, so that the excess shows.
 */
async function append(path: string, chunks: AsyncIterable<Buffer>, bytes: number): Promise<void> {
  const file = await open(path, 'a');
  try {
    let left = bytes;
    for await (const chunk of chunks) {
      await file.writeFile(chunk);
      left -= chunk.length;
      if (left < 0) return;
    }
  } finally {
    await file.close();
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
