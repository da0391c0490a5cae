/**
 * Where a snapshot's bytes come from: a file, plain or gzip; bytes in memory; a stream. Gives windows in order, and
 * says whether the plain bytes can be read again later. Knows no JSON.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AgentdumpError, MalformedInput } from '../../../errors.ts';
import { formatName } from '../layout.ts';

export type SnapshotInput = string | Uint8Array | AsyncIterable<Uint8Array>;

/** Snapshots compress to a tenth; what comes out of a small file in such masses is made to fill the memory. */
const maxInflation = 200;
const alwaysAllowedBytes = 64 * 1024 * 1024;

/** Bytes that can be read at any place, again and again. */
export interface RandomBytes {
  /** The bytes [from, to) of the plain snapshot; in `room`, if that is given and they have to be read. */
  read(from: number, to: number, room?: Buffer): Buffer;
}

export interface ByteSource {
  /** Bytes at hand: those of the file, or of its compressed form; undefined for a stream. */
  sizeBytes: number | undefined;
  /** The most plain bytes that can come out, so that counts can be held against it. */
  maxPlainBytes: number;
  /** Fills target[from…] and returns how many bytes, 0 at the end. Never more than fit. */
  fill(target: Buffer, from: number, to: number): number | Promise<number>;
  /** Moves to an offset of the plain bytes; only where `random` is. */
  seek?(offset: number): void;
  random: RandomBytes | undefined;
  /** Path of a plain file, for a second thread to open. */
  plainPath: string | undefined;
  /** How many of `sizeBytes` have been used. */
  consumed(): number;
  close(): void;
}

/** @param sizeBytes bytes that a stream will give, where that is known. */
export async function openSource(input: SnapshotInput, sizeBytes?: number): Promise<ByteSource> {
  if (typeof input === 'string') return openFile(input);
  if (input instanceof Uint8Array) {
    const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    return isGzip(bytes) ? streamSource(gunzipped([bytes]), bytes.length) : memorySource(bytes);
  }
  return sniffStream(input, sizeBytes);
}

function openFile(path: string): ByteSource | Promise<ByteSource> {
  const fd = openOrExplain(path);
  const stat = fstatSync(fd);
  if (stat.isDirectory()) {
    closeSync(fd);
    throw new AgentdumpError('not-found', `${path} is a folder, not a heap snapshot`, { path });
  }
  if (!stat.isFile()) return sniffStream(readPipe(fd), undefined);
  const head = Buffer.alloc(2);
  const got = readSync(fd, head, 0, 2, 0);
  return isGzip(head.subarray(0, got)) ? gzipFile(fd, stat.size) : fileSource(fd, path, stat.size);
}

function openOrExplain(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw new AgentdumpError('not-found', `cannot open ${path}: ${code}`, { path, code }, cause);
  }
}

function fileSource(fd: number, path: string, size: number): ByteSource {
  let offset = 0;
  return {
    sizeBytes: size,
    maxPlainBytes: size,
    plainPath: path,
    random: {
      read(from, to, bytes = Buffer.allocUnsafe(to - from)) {
        return bytes.subarray(0, readSync(fd, bytes, 0, to - from, from));
      },
    },
    fill(target, from, to) {
      const got = readSync(fd, target, from, to - from, offset);
      offset += got;
      return got;
    },
    seek(to) {
      offset = to;
    },
    consumed: () => offset,
    close: () => closeSync(fd),
  };
}

export function memorySource(bytes: Buffer): ByteSource {
  let offset = 0;
  return {
    sizeBytes: bytes.length,
    maxPlainBytes: bytes.length,
    plainPath: undefined,
    random: { read: (from, to) => bytes.subarray(from, to) },
    fill(target, from, to) {
      const got = bytes.copy(target, from, offset, offset + to - from);
      offset += got;
      return got;
    },
    seek(to) {
      offset = to;
    },
    consumed: () => offset,
    close: () => {},
  };
}

function gzipFile(fd: number, size: number): ByteSource {
  let read = 0;
  async function* compressed(): AsyncGenerator<Buffer> {
    while (true) {
      const chunk = Buffer.allocUnsafe(1 << 18);
      const got = readSync(fd, chunk, 0, chunk.length, read);
      if (got === 0) return;
      read += got;
      yield chunk.subarray(0, got);
    }
  }
  const source = streamSource(gunzipped(compressed()), size);
  return {
    ...source,
    consumed: () => read,
    close() {
      source.close();
      closeSync(fd);
    },
  };
}

/** A named pipe or a device: read in order, once; compressed or not. */
async function* readPipe(fd: number): AsyncGenerator<Buffer> {
  try {
    while (true) {
      const chunk = Buffer.allocUnsafe(1 << 18);
      const got = readSync(fd, chunk, 0, chunk.length, null);
      if (got === 0) return;
      yield chunk.subarray(0, got);
    }
  } finally {
    closeSync(fd);
  }
}

function isGzip(head: Uint8Array): boolean {
  return head.length >= 2 && head[0] === 0x1f && head[1] === 0x8b;
}

/** Inflated ahead of the scanner: with Node's own 16 KB the thread would stop after each chunk until we ask. */
const inflatedAhead = { chunkSize: 1 << 20, highWaterMark: 1 << 22 };

/**
 * zlib works on a thread of libuv's pool, so that inflating and scanning go on at the same time. Loaded only for what is
 * compressed: it is a tenth of the time that a small snapshot takes.
 */
function gunzipped(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncIterable<Buffer> {
  const { Readable } = process.getBuiltinModule('node:stream');
  const { createGunzip } = process.getBuiltinModule('node:zlib');
  const input = Readable.from(chunks, { objectMode: false });
  const gunzip = createGunzip(inflatedAhead);
  input.on('error', (error) => gunzip.destroy(error));
  return input.pipe(gunzip);
}

function streamSource(chunks: AsyncIterable<Uint8Array>, compressedSize: number | undefined): ByteSource {
  const iterator = chunks[Symbol.asyncIterator]();
  const limit = plainLimit(compressedSize);
  let rest: Uint8Array = Buffer.alloc(0);
  let consumed = 0;
  return {
    sizeBytes: compressedSize,
    maxPlainBytes: limit,
    plainPath: undefined,
    random: undefined,
    async fill(target, from, to) {
      while (rest.length === 0) {
        const next = await nextChunk(iterator, consumed);
        if (next.done) return 0;
        rest = next.value;
      }
      const piece = rest.subarray(0, to - from);
      target.set(piece, from);
      rest = rest.subarray(piece.length);
      consumed += piece.length;
      if (consumed > limit) throw tooMuch(limit);
      return piece.length;
    },
    consumed: () => consumed,
    close() {
      void iterator.return?.()?.catch(() => {});
    },
  };
}

function plainLimit(compressedSize: number | undefined): number {
  if (compressedSize === undefined) return Number.MAX_SAFE_INTEGER;
  return Math.max(alwaysAllowedBytes, compressedSize * maxInflation);
}

function tooMuch(allowed: number): AgentdumpError {
  return new AgentdumpError('over-limit', `more than ${allowed} bytes come out of the compressed snapshot`, {
    limit: 'inflation',
    allowed,
  });
}

async function nextChunk(
  iterator: AsyncIterator<Uint8Array>,
  offset: number,
): Promise<IteratorResult<Uint8Array>> {
  try {
    return await iterator.next();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    // A gzip file whose writer died: what came out before is as good as a plain file that was cut.
    if (code === 'Z_BUF_ERROR') return { done: true, value: undefined };
    if (!code?.startsWith('Z_')) throw cause;
    throw new MalformedInput(
      `not a heap snapshot: the gzip data is broken (${code})`,
      { format: formatName, field: 'gzip', offset },
      cause,
    );
  }
}

/** A stream may be gzip too: its first two bytes say so. */
async function sniffStream(
  input: AsyncIterable<Uint8Array>,
  sizeBytes: number | undefined,
): Promise<ByteSource> {
  const iterator = input[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let length = 0;
  while (length < 2) {
    const next = await iterator.next();
    if (next.done) break;
    head.push(next.value);
    length += next.value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield Buffer.concat(head);
    while (true) {
      const next = await iterator.next();
      if (next.done) return;
      yield next.value;
    }
  }
  return streamSource(isGzip(Buffer.concat(head)) ? gunzipped(all()) : all(), sizeBytes);
}
