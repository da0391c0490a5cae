/**
 * Collects an HTTP body as it passes: text is bounded and redacted, binary data is kept as size and hash. Text is detected
 * from the bytes, because content types are often wrong or absent.
 */
import type { HttpBody } from '../../journal/layout/agent.ts';
import { startHash } from '../node-modules.ts';
import { ContentDecoder } from './content-decoder.ts';

export const bodyLimitBytes = 256 * 1024;
/** This many additional bytes are redacted with the text, so that the cut does not split a secret. */
const slackBytes = 8192;

export class BodyReader {
  readonly #decoder: ContentDecoder;
  readonly #hash = startHash();
  #bytes = 0;
  #kept: Uint8Array[] = [];
  #keptBytes = 0;

  /** `encoding` is the value of the `content-encoding` header. */
  constructor(encoding: string | undefined) {
    this.#decoder = new ContentDecoder(encoding);
  }

  /** Decoded bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  push(wire: Uint8Array | string): void {
    const bytes = typeof wire === 'string' ? Buffer.from(wire) : wire;
    this.#hash.update(bytes);
    const chunk = this.#decoder.push(bytes);
    if (!chunk?.length) return;
    this.#bytes += chunk.length;
    const room = bodyLimitBytes + slackBytes - this.#keptBytes;
    if (room <= 0) return;
    // The memory of the chunk may be reused for the next one.
    const kept = Uint8Array.prototype.slice.call(chunk, 0, room);
    this.#kept.push(kept);
    this.#keptBytes += kept.length;
  }

  end(): void {
    this.#decoder.end();
  }

  /** The body so far; undefined if nothing has arrived. */
  read(clean: (text: string) => string): HttpBody | undefined {
    const sha256 = () => this.#hash.copy().digest('hex');
    if (this.#decoder.broken) return { bytes: this.#bytes, sha256: sha256(), gap: 'encoding' };
    if (this.#bytes === 0) return undefined;
    const isCut = this.#bytes > bodyLimitBytes;
    const text = readText(Buffer.concat(this.#kept), isCut);
    if (text === undefined) return { bytes: this.#bytes, sha256: sha256(), gap: 'binary' };
    if (!isCut) return { bytes: this.#bytes, text: clean(text) };
    const start = clean(text).slice(0, Math.max(0, text.length - slackBytes));
    return { bytes: this.#bytes, text: start, sha256: sha256(), gap: 'cut' };
  }
}

/** Undefined if it is not UTF-8. With `isCut`, the last character may be incomplete. */
function readText(bytes: Uint8Array, isCut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}
