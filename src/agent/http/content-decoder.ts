/**
 * Undoes `content-encoding` chunk by chunk and synchronously, so that the data that has arrived can be read while the rest is
 * still in transit. Its output is bounded. zlib's streams have no public synchronous call; `_processChunk` is older than Node
 * 1.0, and minizlib (and thus npm) is built on it. If it is missing, nothing is decoded.
 */
import { zlib } from '../node-modules.ts';

const maxOutputLength = 64 * 1024 * 1024;

interface SyncZlib {
  _processChunk(chunk: Uint8Array, flush: number): Buffer | null;
  _handle: { close(): void } | null;
  close(): void;
  on(event: 'error', listener: () => void): void;
  removeAllListeners(event: 'error'): void;
}

const nothing = () => undefined;

export class ContentDecoder {
  /** Set if the encoding is unknown, the data is invalid, or the limit was exceeded. No more output follows. */
  broken = false;
  #engine: SyncZlib | undefined;
  #flush = 0;
  #produced = 0;

  /** `encoding` is the value of the header. Several stacked encodings are not supported. */
  constructor(encoding: string | undefined) {
    const name = encoding?.trim().toLowerCase();
    if (name && name !== 'identity') this.#start(name);
  }

  push(chunk: Uint8Array): Uint8Array | undefined {
    if (this.broken) return undefined;
    if (!this.#engine) return chunk;
    try {
      const out = processKeepingOpen(this.#engine, chunk, this.#flush);
      this.#produced += out?.length ?? 0;
      if (this.#produced > maxOutputLength) this.#stop();
      return out ?? undefined;
    } catch {
      this.#stop();
      return undefined;
    }
  }

  end(): void {
    this.#engine?.close();
    this.#engine = undefined;
  }

  #start(name: string): void {
    const engine = makeEngine(name);
    if (typeof engine?._processChunk !== 'function') {
      this.broken = true;
      return;
    }
    const { constants } = zlib();
    this.#flush = name === 'br' ? constants.BROTLI_OPERATION_FLUSH : constants.Z_SYNC_FLUSH;
    this.#engine = engine;
  }

  #stop(): void {
    this.broken = true;
    this.end();
  }
}

function makeEngine(name: string): SyncZlib | undefined {
  const { createGunzip, createInflate, createBrotliDecompress } = zlib();
  const options = { maxOutputLength };
  const makers: Record<string, () => unknown> = {
    gzip: () => createGunzip(options),
    'x-gzip': () => createGunzip(options),
    deflate: () => createInflate(options),
    br: () => createBrotliDecompress(options),
  };
  return makers[name]?.() as SyncZlib | undefined;
}

/** The synchronous call closes the underlying handle and adds a listener each time. Both are prevented here. */
function processKeepingOpen(engine: SyncZlib, chunk: Uint8Array, flush: number): Buffer | null {
  const handle = engine._handle;
  if (!handle) return null;
  const { close } = handle;
  handle.close = nothing;
  engine.close = nothing;
  try {
    return engine._processChunk(chunk, flush);
  } finally {
    handle.close = close;
    Reflect.deleteProperty(engine, 'close');
    engine._handle = handle;
    engine.removeAllListeners('error');
    // A broken stream also emits later; without a listener that would terminate the host.
    engine.on('error', nothing);
  }
}
