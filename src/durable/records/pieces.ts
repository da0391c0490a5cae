/**
 * The parts of checkpoints as pieces, each stored once under its hash. Each element of a list is a piece, and the list is a
 * tree of hashes, so a list that grew at its end costs only what was added. Elements are stored separately, so an object that
 * two of them share is restored as two objects.
 */
import { AgentdumpError } from '../../errors.ts';
import type { Piece } from '../runs/log-entries.ts';
import type { RunLog } from '../runs/run-log.ts';
import type { RunRecorder } from '../runs/run-recorder.ts';
import type { RecordCodec } from './codec.ts';
import { encodeValue, furtherProperties } from './values.ts';

/** Hashes in one node of a list. */
const fanOut = 32;

export class PieceWriter {
  readonly #recorder: RunRecorder;
  readonly #codec: RecordCodec;
  readonly #known: Set<string>;

  constructor(recorder: RunRecorder, codec: RecordCodec, log: RunLog) {
    this.#recorder = recorder;
    this.#codec = codec;
    this.#known = new Set(log.pieces.keys());
  }

  /** Stores the new pieces of the value and returns the hash of its root. Throws like `encodeWith`. */
  async write(value: unknown): Promise<string> {
    return Array.isArray(value) && !furtherProperties(value)
      ? this.#writeList(value)
      : this.#writeValue(value);
  }

  async #writeValue(value: unknown): Promise<string> {
    const text = encodeValue(value);
    const hash = this.#codec.sumOf(text);
    if (!this.#known.has(hash)) await this.#recorder.addText('durableValue', { hash }, text, value);
    this.#known.add(hash);
    return hash;
  }

  async #writeList(list: readonly unknown[]): Promise<string> {
    let hashes: string[] = [];
    for (const element of list) hashes.push(await this.#writeValue(element));
    for (let level = 0; level === 0 || hashes.length > 1; level++) {
      const nodes: string[] = [];
      for (let at = 0; at === 0 || at < hashes.length; at += fanOut)
        nodes.push(await this.#writeNode(hashes.slice(at, at + fanOut), level));
      hashes = nodes;
    }
    return hashes[0] ?? '';
  }

  async #writeNode(list: string[], level: number): Promise<string> {
    const hash = this.#codec.sumOf(`list ${level} ${list.join()}`);
    if (!this.#known.has(hash)) await this.#recorder.add('durableValue', { hash, list, level });
    this.#known.add(hash);
    return hash;
  }
}

/** Throws AgentdumpError `not-found` for a missing piece, and the errors of reading a value. */
export function readPiece(pieces: ReadonlyMap<string, Piece>, hash: string): unknown {
  const piece = requirePiece(pieces, hash);
  if ('readValue' in piece) return piece.readValue();
  return listHashes(pieces, piece).map((one) => readPiece(pieces, one));
}

/** The hashes of the elements, in order. Walks down level by level; a node's level must be one below its parent's. */
function listHashes(pieces: ReadonlyMap<string, Piece>, root: Extract<Piece, { list: string[] }>): string[] {
  let hashes = root.list;
  for (let level = root.level - 1; level >= 0; level--)
    hashes = hashes.flatMap((hash) => {
      const node = requirePiece(pieces, hash);
      if ('readValue' in node || node.level !== level) throw notThere(hash);
      return node.list;
    });
  return hashes;
}

function requirePiece(pieces: ReadonlyMap<string, Piece>, hash: string): Piece {
  const piece = pieces.get(hash);
  if (!piece) throw notThere(hash);
  return piece;
}

function notThere(hash: string): AgentdumpError {
  return new AgentdumpError('not-found', `its piece ${hash} is missing`, { name: hash });
}
