/** The bytes of one section of a stream, kept in blocks, for sources that can't be read again. */
import type { RandomBytes } from './byte-source.ts';

const blockBytes = 1 << 20;

export class KeptBytes implements RandomBytes {
  readonly #blocks: Buffer[] = [];
  #length = 0;

  append(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; ) {
      const within = this.#length % blockBytes;
      if (within === 0) this.#blocks.push(Buffer.allocUnsafe(blockBytes));
      const copied = bytes.copy(this.#blocks.at(-1)!, within, from);
      from += copied;
      this.#length += copied;
    }
  }

  read(from: number, to: number): Buffer {
    const last = Math.min(to, this.#length);
    const pieces: Buffer[] = [];
    for (let at = from; at < last; ) {
      const within = at % blockBytes;
      const piece = this.#blocks[(at - within) / blockBytes]!.subarray(within, within + last - at);
      pieces.push(piece);
      at += piece.length;
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }
}
