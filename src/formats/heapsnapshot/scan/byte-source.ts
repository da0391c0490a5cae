/**
 * The source of a snapshot's bytes: a file, plain or gzip; bytes in memory; a stream. Provides windows in order, and tells
 * whether the plain bytes can be read again later. Independent of JSON.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AgentdumpError, MalformedInput } from '../../../errors.ts';
import { formatName } from '../layout.ts';

export type SnapshotBytes = string | Uint8Array | AsyncIterable<Uint8Array>;

/** Snapshots compress to about a tenth. A much higher ratio is a decompression bomb. */
const maxInflation = 200;
const alwaysAllowedBytes = 64 * 1024 * 1024;

/** Bytes with random access, which can be read repeatedly. */
export interface RandomBytes {
  /** The bytes [from, to) of the plain snapshot; in `room`, if it is given and the bytes have to be read from a file. */
  read(from: number, to: number, room?: Buffer): Buffer;
}

export interface ByteSource {
  /** Size of the file or of the bytes, compressed if they are; undefined for a stream. */
  sizeBytes: number | undefined;
  /** Upper limit for the number of plain bytes, used to check counts. */
  maxPlainBytes: number;
  /** Fills `target` from `from` up to `to`; returns the number of bytes, 0 at the end. */
  fill(target: Buffer, from: number, to: number): number | Promise<number>;
  /** Moves to an offset of the plain bytes; only available with `random`. */
  seek?(offset: number): void;
  random: RandomBytes | undefined;
  /** Path of a plain file, which a second thread can open. */
  plainPath: string | undefined;
  /** How many of `sizeBytes` were consumed. */
  consumed(): number;
  close(): void;
}

/** @param sizeBytes the size of a stream in bytes, if known. */
export async function openSource(input: SnapshotBytes, sizeBytes?: number): Promise<ByteSource> {
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

/** A named pipe or a device, compressed or not: can only be read once, in order. */
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

/**
 * Decompression runs ahead of the scanner. With Node's default of 16 KB the zlib thread would stop after each chunk until the
 * next read.
 */
const inflatedAhead = { chunkSize: 1 << 20, highWaterMark: 1 << 22 };

/**
 * zlib works on a thread of libuv's pool, so that decompressing and scanning overlap. It is only loaded for compressed input:
 * loading takes a tenth of the time of reading a small snapshot.
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
    // A truncated gzip file: what was decompressed so far is treated like a plain file that was cut.
    if (code === 'Z_BUF_ERROR') return { done: true, value: undefined };
    if (!code?.startsWith('Z_')) throw cause;
    throw new MalformedInput(
      `not a heap snapshot: the gzip data is broken (${code})`,
      { format: formatName, field: 'gzip', offset },
      cause,
    );
  }
}

/** Detects gzip in a stream by its first two bytes. */
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
