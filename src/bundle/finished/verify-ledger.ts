/**
 * Verifies a ledger: whether each line is as its writer wrote it, whether the lines are in their original order, and
 * whether an anchor (kept elsewhere, or signed) proves that this is the original ledger. Without an anchor, a ledger only
 * proves the absence of accidents: whoever can write it can forge it.
 */
import { createPublicKey, verify } from 'node:crypto';
import { AgentdumpError } from '../../errors.ts';
import {
  type LedgerBundle,
  type LedgerCover,
  type LedgerSeal,
  ledgerDomains,
  ledgerName,
  ledgerSchema,
  sealedText,
} from '../layout/ledger.ts';
import { parseUntrustedJson } from '../read/json.ts';
import { isRecord } from '../read/manifest.ts';
import { openFileWindow } from '../read/window.ts';
import { countLines, startHash } from '../write/ledger.ts';
import { existsSync } from '../write/system.ts';

export interface LedgerOptions {
  /** A head that was stored elsewhere: `<lines>:<sha256>`, or only the hash. */
  anchor?: string;
  /** An Ed25519 public key, in PEM or as 32 raw bytes in base64. The last line signed with it is the anchor. */
  publicKey?: string;
}

export interface LedgerVerification {
  /**
   * verified: consistent, and proven by an anchor. unanchored: consistent, but no anchor was given or found. torn-tail:
   * consistent up to the last line, which is cut off. tampered: changed from record `tamperedAt` on.
   */
  verdict: 'verified' | 'unanchored' | 'torn-tail' | 'tampered';
  /** 0-based; 0 is the first line, which holds the ledger's id. */
  tamperedAt?: number;
  /** What is wrong, as a clause. */
  problem?: string;
  /** The number of valid lines, including the first. */
  records: number;
  /** How many of them the anchor proves. */
  anchored: number;
  /** The current head. Store it elsewhere to have an anchor. */
  head?: string;
  bundles: Pick<LedgerBundle, 'bundle' | 'manifest' | 'sealedAt'>[];
  /** Names of the bundles that retention removed. */
  removed: string[];
}

const longestLedger = 64 * 1024 * 1024;

/** Undefined if there is no such file. Throws `over-limit`, `unsupported-version`, and `usage` for an invalid key. */
export function verifyLedgerFile(path: string, options: LedgerOptions = {}): LedgerVerification | undefined {
  if (!existsSync(path)) return undefined;
  const window = openFileWindow(path);
  try {
    if (window.size > longestLedger)
      throw new AgentdumpError('over-limit', `the ledger has ${window.size} bytes`, {
        limit: 'ledger bytes',
        wanted: window.size,
        allowed: longestLedger,
      });
    const bytes = Buffer.alloc(window.size);
    return verifyLedger(bytes.subarray(0, window.read(bytes, 0)), options);
  } finally {
    window.close();
  }
}

interface Line {
  index: number;
  start: number;
  /** The offset after its newline. */
  end: number;
  /** Absent if the line's checksum is wrong. */
  record?: Record<string, unknown>;
  cover?: LedgerCover;
}

/** Throws `unsupported-version`, `usage`. */
export function verifyLedger(bytes: Buffer, options: LedgerOptions = {}): LedgerVerification {
  const { lines, rest } = splitLines(bytes);
  const walk = new LedgerWalk(bytes, lines, rest > 0);
  const broken = walk.findTampering();
  const written = lines.filter((line) => !isEmpty(line));
  const result = { records: written.length, anchored: 0, bundles: walk.bundles, removed: walk.removed };
  if (broken) return { ...result, verdict: 'tampered', ...broken };
  const anchored = walk.findAnchor(options);
  const head = `${lines.length}:${walk.headAt(lines.at(-1)?.end ?? 0)}`;
  if ('tamperedAt' in anchored) return { ...result, verdict: 'tampered', ...anchored };
  const known = { ...result, ...anchored, head };
  if (rest > 0)
    return { ...known, verdict: 'torn-tail', problem: `its last ${rest} bytes are no whole line` };
  return { ...known, verdict: anchored.anchored > 0 ? 'verified' : 'unanchored' };
}

function splitLines(bytes: Buffer): { lines: Line[]; rest: number } {
  const lines: Line[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
    const record = readLine(bytes.subarray(start, end));
    const cover = record && readCover(record);
    lines.push({
      index: lines.length,
      start,
      end: end + 1,
      ...(record && { record }),
      ...(cover && { cover }),
    });
    start = end + 1;
  }
  return { lines, rest: bytes.length - start };
}

/** Undefined if the line's checksum is wrong. */
function readLine(line: Buffer): Record<string, unknown> | undefined {
  const json = line.subarray(65);
  const sum = line.toString('latin1', 0, 64);
  if (line[64] !== 0x20 || startHash(ledgerDomains.line).update(json).digest('hex') !== sum) return undefined;
  try {
    const { value } = parseUntrustedJson(json, ledgerName);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Empty lines come from two writers that both found an incomplete line of a third. */
function isEmpty({ start, end }: Line): boolean {
  return end - start === 1;
}

function isDamaged(line: Line): boolean {
  return !line.record && !isEmpty(line);
}

interface Tampering {
  tamperedAt: number;
  problem: string;
}

class LedgerWalk {
  readonly bundles: LedgerBundle[] = [];
  readonly removed: string[] = [];
  readonly #lines: Line[];
  readonly #isTorn: boolean;
  readonly #heads: Map<number, { head: string; count: number }>;
  readonly #seals: { line: Line; seal: LedgerSeal }[] = [];
  #id = '';

  constructor(bytes: Buffer, lines: Line[], isTorn: boolean) {
    this.#lines = lines;
    this.#isTorn = isTorn;
    this.#heads = headsAt(bytes, [
      ...lines.map((line) => line.end),
      ...lines.map((line) => line.cover?.covers ?? 0),
    ]);
  }

  headAt(offset: number): string {
    return this.#heads.get(offset)?.head ?? '';
  }

  /** What each line covers must be intact. A line that no other line covers must at least have a correct checksum. */
  findTampering(): Tampering | undefined {
    const [first, ...rest] = this.#lines;
    if (!first?.record || !this.#takeGenesis(first.record))
      return { tamperedAt: 0, problem: 'its first line is not as it was written' };
    const written = rest.filter((line) => line.record);
    const right = written.filter((line) => this.#isRight(line));
    const vouched = right.reduce((most, line) => Math.max(most, line.cover?.covers ?? 0), 0);
    const damaged = this.#lines.find((line) => line.end - 1 > vouched && isDamaged(line));
    const wrong = written.find((line) => !this.#isRight(line));
    if (wrong) return this.#explain(wrong, damaged, vouched);
    for (const line of written) this.#take(line);
    if (!damaged || (this.#isTorn && this.#lines.slice(damaged.index).every(isDamaged))) return undefined;
    return { tamperedAt: damaged.index, problem: `record ${damaged.index} does not fit its own sum` };
  }

  /** Throws `usage` for an invalid key. */
  findAnchor({ anchor, publicKey }: LedgerOptions): Tampering | { anchored: number; problem?: string } {
    const wanted = anchor?.split(':').pop();
    const anchoredLine = wanted ? this.#lines.find((line) => this.headAt(line.end) === wanted) : undefined;
    if (anchor !== undefined && !anchoredLine)
      return {
        tamperedAt: this.#expectedLine(anchor),
        problem: 'the anchor is not in it: it was cut or written anew',
      };
    const anchored = anchoredLine ? anchoredLine.index + 1 : 0;
    if (publicKey === undefined) return { anchored };
    return this.#checkSeals(readPublicKey(publicKey), anchored);
  }

  #isRight({ cover, start }: Line): boolean {
    if (!cover || cover.covers > start) return false;
    const found = this.#heads.get(cover.covers);
    return found?.head === cover.before && found.count === cover.count;
  }

  /** The first record that can't be trusted: damaged, moved, or the first one that no intact line covers. */
  #explain(wrong: Line, damaged: Line | undefined, vouched: number): Tampering {
    const problem = `record ${wrong.index} vouches for other lines than those before it`;
    if (damaged && damaged.index < wrong.index) return { tamperedAt: damaged.index, problem };
    const isMoved = wrong.cover !== undefined && wrong.cover.covers > wrong.start;
    const unvouched = this.#lines.find((line) => line.end > vouched) ?? wrong;
    return { tamperedAt: isMoved ? wrong.index : Math.min(unvouched.index, wrong.index), problem };
  }

  #checkSeals(key: Buffer, anchored: number): Tampering | { anchored: number; problem?: string } {
    let signed = 0;
    for (const { line, seal } of this.#seals) {
      if (seal.key !== key.toString('base64')) continue;
      if (!isSignedBy(key, sealedText(this.#id, seal), seal.signature))
        return { tamperedAt: line.index, problem: `the signature of record ${line.index} does not fit` };
      signed = Math.max(signed, seal.count);
    }
    if (signed > 0) return { anchored: Math.max(anchored, signed) };
    return { anchored, problem: 'no line of it is signed by the key that was given' };
  }

  #takeGenesis(record: Record<string, unknown>): boolean {
    const { ledger, id } = record;
    if (typeof ledger !== 'string' || !ledger.startsWith('agentdump.ledger/')) return false;
    if (ledger !== ledgerSchema)
      throw new AgentdumpError('unsupported-version', `the ledger has version ${ledger}`, {
        format: 'ledger',
        version: ledger,
        supported: ledgerSchema,
      });
    this.#id = typeof id === 'string' ? id : '';
    return /^[0-9a-f]{32}$/.test(this.#id);
  }

  #take(line: Line): void {
    const { record, cover } = line;
    if (!record || !cover) return;
    const { bundle, manifest, removed, seal, key, signature } = record;
    const sealedAt = String(record['sealedAt']);
    if (typeof bundle === 'string' && typeof manifest === 'string')
      this.bundles.push({ bundle, manifest, sealedAt, ...cover });
    if (typeof removed === 'string') this.removed.push(removed);
    if (seal === 'ed25519' && typeof key === 'string' && typeof signature === 'string')
      this.#seals.push({ line, seal: { seal, key, signature, sealedAt, ...cover } });
  }

  #expectedLine(anchor: string): number {
    const count = /^(\d{1,9}):/.exec(anchor)?.[1];
    return Math.min(count ? Math.max(Number(count) - 1, 0) : this.#lines.length, this.#lines.length);
  }
}

/** The head, and the number of complete lines, at each of these offsets, in one pass over the bytes. */
function headsAt(bytes: Buffer, offsets: number[]): Map<number, { head: string; count: number }> {
  const heads = new Map<number, { head: string; count: number }>();
  const hash = startHash(ledgerDomains.head);
  let at = 0;
  let count = 0;
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    if (!Number.isSafeInteger(offset) || offset < 0 || offset > bytes.length) continue;
    const piece = bytes.subarray(at, offset);
    count += countLines(piece);
    heads.set(offset, { head: hash.update(piece).copy().digest('hex'), count });
    at = offset;
  }
  return heads;
}

function readCover(record: Record<string, unknown>): LedgerCover | undefined {
  const { covers, before, count } = record;
  if (typeof covers !== 'number' || typeof before !== 'string' || typeof count !== 'number') return undefined;
  return { covers, before, count };
}

/** SubjectPublicKeyInfo of an Ed25519 key (RFC 8410, section 4): this prefix, then the 32 bytes. */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

function readPublicKey(text: string): Buffer {
  const raw = Buffer.from(text, 'base64');
  try {
    const isPem = text.includes('-----BEGIN');
    const key = isPem ? createPublicKey(text) : asKey(raw);
    const { x, crv } = key.export({ format: 'jwk' });
    if (crv === 'Ed25519' && x) return Buffer.from(x, 'base64url');
  } catch {
    // Reported below.
  }
  throw new AgentdumpError('usage', 'not an Ed25519 public key, in PEM or base64', {
    argument: 'public key',
  });
}

function asKey(raw: Buffer) {
  return createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: 'der', type: 'spki' });
}

function isSignedBy(key: Buffer, text: string, signature: string): boolean {
  try {
    return verify(null, Buffer.from(text), asKey(key), Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}
