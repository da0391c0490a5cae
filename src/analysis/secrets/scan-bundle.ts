/**
 * Searches every file of a bundle for secrets, decompressing while reading, in overlapping windows, so that no secret is
 * missed at a border and no part must fit into memory. Reports part, rule and position, never a value.
 */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { BundleSource } from '../../bundle/read/source.ts';
import type { SecretEngine, Suspect } from './engine.ts';

export interface SecretFind {
  part: string;
  rule: string;
  /** 1-based, in the text of the part, after decompression. */
  line: number;
  column: number;
}

export interface SecretScan {
  engine: string;
  /** False if the engine is the redactor that wrote the bundle. */
  independent: boolean;
  files: number;
  /** Number of bytes searched. */
  bytes: number;
  finds: SecretFind[];
  /** Files, or the rest of files, that could not be searched. */
  unsearched: { part: string; reason: string }[];
}

const windowChars = 1024 * 1024;
/** Longer than any secret except key files, for which the first line is enough. */
const overlapChars = 16 * 1024;
/** A compressed part may be far larger when decompressed. */
const longestText = 8 * 1024 ** 3;
const mostFinds = 1000;

/** Time limit: this much, plus half a second per stored megabyte. */
const leastTimeMs = 3500;
const timePerByteMs = 500 / 1024 ** 2;

/**
 * The caller opens and closes the source. Parts that exceed the time limit are listed in `unsearched`. @param leastMs the limit
 * of a small bundle.
 */
export async function scanBundle(
  source: BundleSource,
  engine: SecretEngine,
  leastMs = leastTimeMs,
): Promise<SecretScan> {
  const { name, independent } = engine;
  const scan: SecretScan = { engine: name, independent, files: 0, bytes: 0, finds: [], unsearched: [] };
  const stored = [...source.sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  const until = performance.now() + leastMs + stored * timePerByteMs;
  for (const part of source.sizes.keys()) await scanFile(source, part, engine, scan, until);
  for (const [part, reason] of source.refused) scan.unsearched.push({ part, reason });
  for (const part of source.unfinished) scan.unsearched.push({ part, reason: 'it was never finished' });
  return scan;
}

async function scanFile(
  source: BundleSource,
  part: string,
  engine: SecretEngine,
  scan: SecretScan,
  until: number,
): Promise<void> {
  scan.files++;
  try {
    const file = source.open(part);
    try {
      const search = new WindowSearch(part, engine, scan);
      for await (const chunk of bytesOf(part, file.chunks())) {
        if (performance.now() > until) throw new Error('it was not searched to its end: the time was over');
        await search.add(chunk);
      }
      await search.end();
    } finally {
      file.close();
    }
  } catch (error) {
    scan.unsearched.push({ part, reason: error instanceof Error ? error.message : String(error) });
  }
}

/** The memory of each chunk is reused for the next one, so the decompressor gets copies. */
function bytesOf(
  part: string,
  chunks: Generator<Uint8Array>,
): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  if (!part.endsWith('.gz')) return chunks;
  const copies = (function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  const unpacked = createGunzip();
  Readable.from(copies)
    .on('error', (error) => unpacked.destroy(error))
    .pipe(unpacked);
  return unpacked;
}

/** Contains the text that has not been searched yet, and its position. */
class WindowSearch {
  readonly #part: string;
  readonly #engine: SecretEngine;
  readonly #scan: SecretScan;
  readonly #decoder = new TextDecoder();
  readonly #seen = new Set<string>();
  #text = '';
  #bytes = 0;
  #line = 1;
  #column = 1;

  constructor(part: string, engine: SecretEngine, scan: SecretScan) {
    this.#part = part;
    this.#engine = engine;
    this.#scan = scan;
  }

  async add(chunk: Uint8Array): Promise<void> {
    this.#bytes += chunk.length;
    this.#scan.bytes += chunk.length;
    if (this.#bytes > longestText) throw new Error(`only its first ${longestText} bytes were searched`);
    this.#text += this.#decoder.decode(chunk, { stream: true });
    if (this.#text.length >= windowChars) await this.#search(this.#text.length - overlapChars);
  }

  async end(): Promise<void> {
    this.#text += this.#decoder.decode();
    await this.#search(this.#text.length);
  }

  /** Searches all buffered text, then drops its first `done` units. */
  async #search(done: number): Promise<void> {
    const found = await this.#engine.find(this.#text, this.#part);
    for (const suspect of found) this.#note(suspect);
    const [line, column] = this.#placeOf(done);
    this.#line = line;
    this.#column = column;
    this.#text = this.#text.slice(done);
  }

  /** Findings in an overlap occur twice. */
  #note({ rule, offset }: Suspect): void {
    if (this.#scan.finds.length >= mostFinds) return;
    const [line, column] = this.#placeOf(offset);
    const key = `${rule}\n${line}:${column}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#scan.finds.push({ part: this.#part, rule, line, column });
  }

  #placeOf(offset: number): [line: number, column: number] {
    let line = this.#line;
    let start = -1;
    for (let at = this.#text.indexOf('\n'); at >= 0 && at < offset; at = this.#text.indexOf('\n', at + 1)) {
      line++;
      start = at;
    }
    return [line, start < 0 ? this.#column + offset : offset - start];
  }
}
