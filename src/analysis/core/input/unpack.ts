/**
 * Decompresses cores while streaming, detecting each layer by its first bytes: gzip and zlib with Node; zstd with Node if its
 * zlib supports it, otherwise, like lz4, xz and bzip2 always, with the format's command-line program. If a stream is
 * truncated, everything before is returned, and a problem gives the reason.
 */
import { spawn } from 'node:child_process';
import { Duplex, Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import { AgentdumpError, MalformedInput } from '../../../errors.ts';
import {
  type ApportFacts,
  ApportReader,
  readApportFacts,
} from '../../../formats/apport-report/read-report.ts';
import { headBytes, type Packing, packingOf } from './packing.ts';

type Chunks = AsyncIterable<Uint8Array>;
type Compression = Exclude<Packing, 'apport'>;
/** A gzipped core in a gzipped apport report is three; one more is allowed. */
const mostLayers = 4;
const pieceBytes = 1 << 18;

export interface Unpacking {
  /** Sentences that describe truncated streams. */
  problems: string[];
  report?: ApportFacts;
}

/** Yields the core in `chunks`. What is learned about it is added to `found`. */
export async function* unpack(chunks: Chunks, found: Unpacking, layer = 0): AsyncGenerator<Uint8Array> {
  const { head, all } = await peek(chunks);
  const packing = packingOf(head);
  if (packing === undefined) {
    yield* all;
    return;
  }
  if (layer === mostLayers) {
    await all.return(undefined);
    throw new AgentdumpError('over-limit', `it is packed more than ${mostLayers} times`, {
      limit: 'layers of packing',
      wanted: layer + 1,
      allowed: mostLayers,
    });
  }
  const inner = packing === 'apport' ? coreOfReport(all, found) : unpackOne(packing, all, found);
  yield* unpack(inner, found, layer + 1);
}

/** The first bytes, and a stream of all bytes including them. */
async function peek(chunks: Chunks): Promise<{ head: Uint8Array; all: AsyncGenerator<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  for (let bytes = 0; bytes < headBytes; ) {
    const { value, done } = await iterator.next();
    if (done) break;
    first.push(value);
    bytes += value.length;
  }
  async function* all() {
    try {
      yield* first;
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { head: Buffer.concat(first), all: all() };
}

async function* coreOfReport(chunks: Chunks, found: Unpacking): AsyncGenerator<Uint8Array> {
  const reader = new ApportReader();
  for await (const chunk of chunks) yield* reader.write(chunk);
  const { fields, hasCore } = reader.end();
  found.report = readApportFacts(fields);
  if (!hasCore)
    throw new MalformedInput('the report holds no core: it has no field CoreDump in base64', {
      format: 'apport-report',
      field: 'CoreDump',
    });
}

async function* unpackOne(
  packing: Compression,
  chunks: Chunks,
  found: Unpacking,
): AsyncGenerator<Uint8Array> {
  const { stream, ended, stop } = openUnpacker(packing);
  const input = Readable.from(chunks, { objectMode: false });
  // An error of the input is not an error of the compression.
  let broken: Error | undefined;
  input.once('error', (error) => {
    broken = error;
    stream.destroy(error);
  });
  let bytes = 0;
  try {
    for await (const piece of input.pipe(stream)) {
      bytes += (piece as Buffer).length;
      yield piece as Buffer;
    }
    await ended;
  } catch (error) {
    if (broken) throw broken;
    // If the program is missing or fails, its pipes report that first.
    stream.destroy();
    const cause: unknown = await ended.then(
      () => error,
      (own) => own,
    );
    if (cause instanceof AgentdumpError) throw cause;
    const reason = `${packing}: it breaks off or is damaged after ${bytes} bytes of the core: ${(cause as Error).message}`;
    if (bytes === 0) throw new MalformedInput(reason, { format: packing, field: 'core' }, error);
    found.problems.push(reason);
  } finally {
    input.destroy();
    stream.destroy();
    stop();
  }
}

interface Unpacker {
  stream: Duplex;
  /** Rejects if the stream did not end properly. */
  ended: Promise<void>;
  /** Called when no more output is needed. */
  stop(): void;
}

/** In Node since 22.15 and 23.8. */
type WithZstd = typeof zlib & { createZstdDecompress?: (options: { chunkSize: number }) => Duplex };

function openUnpacker(packing: Compression): Unpacker {
  const options = { chunkSize: pieceBytes };
  const ofNode = (stream: Duplex): Unpacker => ({ stream, ended: Promise.resolve(), stop() {} });
  if (packing === 'gzip') return ofNode(zlib.createGunzip(options));
  if (packing === 'zlib') return ofNode(zlib.createInflate(options));
  const zstd = packing === 'zstd' ? (zlib as WithZstd).createZstdDecompress?.(options) : undefined;
  return zstd ? ofNode(zstd) : runUnpacker(packing);
}

/** Runs the format's own program as a filter. */
function runUnpacker(packing: Compression): Unpacker {
  const child = spawn(packing, ['-d', '-c'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(0, 1000);
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? missing(packing) : error);
    });
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(words.trim().split('\n')[0] || `${packing} ended with ${signal ?? code}`));
    });
  });
  // Awaited where the output ends; until then a rejection must not count as unhandled.
  ended.catch(() => {});
  const stream = Duplex.from({ writable: child.stdin, readable: child.stdout });
  return { stream, ended, stop: () => void child.kill() };
}

function missing(packing: Compression): AgentdumpError {
  const newer = packing === 'zstd' ? ' Node reads it from 22.15 and 23.8 on.' : '';
  return new AgentdumpError(
    'unsupported-version',
    `the core is packed with ${packing}, which Node ${process.version} cannot unpack, and there is no program \`${packing}\` on PATH.${newer}`,
    { format: packing, name: packing, version: process.version },
  );
}
