/**
 * Undoes `content-encoding` chunk by chunk and synchronously, so that what has arrived can be read while the rest is
 * still on its way. Bounded in what it puts out. zlib's streams have no public call for it: `_processChunk` is older
 * than Node 1.0 and what minizlib, and with it npm, is built on; where it should be missing, nothing is decoded.
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
  /** The encoding is unknown, the data breaks it, or there was too much: nothing more comes out. */
  broken = false;
  #engine: SyncZlib | undefined;
  #flush = 0;
  #produced = 0;

  /** `encoding` as the header has it; several one after the other are not undone. */
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

/** The synchronous call closes the stream behind it, and adds a listener each time: neither is wanted here. */
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
    // What is broken emits later too: unheard, that would end the host.
    engine.on('error', nothing);
  }
}
