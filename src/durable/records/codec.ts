/**
 * Payloads of a run's records: the facts unencrypted, and next to them the host's value, which is sealed if there is a key.
 * Without a key, a value in which the redactor finds a secret is refused. Independent of the record types.
 */
import { createHash } from 'node:crypto';
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import { processPolicy } from '../runs/process-policy.ts';
import type { SealFacts } from './layout.ts';
import type { Seal } from './seal.ts';
import { decodeValue, encodeValue, furtherProperties } from './values.ts';

export interface CodecOptions {
  seal?: Seal | undefined;
  /** The host permits storing all values unencrypted. */
  plain?: boolean;
}

/** The facts of a record; its value is decoded on demand. */
export interface DecodedRecord<Facts> {
  facts: Facts;
  readValue(): unknown;
}

const lineFeed = 10;
export class RecordCodec {
  readonly #seal: Seal | undefined;
  readonly #plain: boolean;

  constructor({ seal, plain = false }: CodecOptions) {
    this.#seal = seal;
    this.#plain = plain;
  }

  /** How the values are sealed; undefined if they are not. */
  get sealFacts(): SealFacts | undefined {
    return this.#seal?.facts;
  }

  /** How values are stored; each mode runs different code. */
  get mode(): 'sealed' | 'plain' | 'searched' {
    if (this.#seal) return 'sealed';
    return this.#plain ? 'plain' : 'searched';
  }

  encode(facts: object): string {
    return JSON.stringify(facts);
  }

  /** Throws AgentdumpError: `usage` for a value that can't be stored, `locked` for a secret without a key. */
  encodeWith(facts: object, value: unknown): string | Uint8Array {
    return this.encodeText(facts, encodeValue(value), value);
  }

  /** Like `encodeWith`, for a value that was encoded before. */
  encodeText(facts: object, text: string, value: unknown): string | Uint8Array {
    const head = JSON.stringify(facts);
    if (this.#seal) return Buffer.concat([Buffer.from(`${head}\n`), ...this.#seal.close(text, head)]);
    if (!this.#plain) this.#refuseSecrets(text, value);
    return `${head.slice(0, -1)},"value":${text}}`;
  }

  /** Throws like `encodeWith`. */
  requireStorable(value: unknown): void {
    const text = encodeValue(value);
    if (this.mode === 'searched') this.#refuseSecrets(text, value);
  }

  /** Identifies a text: its hash, or if values are sealed a MAC that reveals nothing without the key. */
  sumOf(text: string): string {
    return this.#seal ? this.#seal.sum(text) : createHash('sha256').update(text).digest('hex').slice(0, 32);
  }

  /**
   * An error without secrets, for one that can't be stored unchanged: of the same class and name, with a redacted message, and
   * with those properties that can be stored, such as the status of a response.
   */
  cleanError(error: unknown): Error {
    const bare = bareError(error);
    if (!(error instanceof Error)) return bare;
    const clean = bareError(error);
    Object.setPrototypeOf(clean, Object.getPrototypeOf(error));
    for (const [name, value] of Object.entries(error))
      if (!(name in bare) && this.#isStorable({ [name]: value }))
        Object.defineProperty(clean, name, { value, configurable: true, writable: true, enumerable: true });
    // Each alone says nothing, but all together may.
    return this.#isStorable(clean) ? clean : bare;
  }

  #isStorable(value: unknown): boolean {
    try {
      this.requireStorable(value);
      return true;
    } catch {
      return false;
    }
  }

  /** Throws MalformedInput if the payload is not a record; reading the value may throw `locked` or MalformedInput. */
  decode<Facts>(payload: Uint8Array): DecodedRecord<Facts> {
    const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
    const cut = bytes.indexOf(lineFeed);
    const head = bytes.toString('utf8', 0, cut < 0 ? bytes.length : cut);
    const facts = parseObject(head);
    if (cut < 0) return { facts: facts as Facts, readValue: () => decodeValue(facts['value']) };
    return { facts: facts as Facts, readValue: () => this.#open(bytes.subarray(cut + 1), head) };
  }

  #open(sealed: Uint8Array, head: string): unknown {
    if (!this.#seal)
      throw new AgentdumpError('locked', "the run's values are sealed: set AGENTDUMP_RUN_KEY", {
        path: 'key',
      });
    return decodeValue(JSON.parse(this.#seal.open(sealed, head)));
  }

  /** Searches the text twice: in a form where keys are next to their values, and in the form in which it is stored. */
  #refuseSecrets(text: string, value: unknown): void {
    const policy = processPolicy();
    const spread = spreadOut(value) ?? text;
    if (policy.text(spread) === spread) return;
    const rules = [...policy.counts().keys()].join(', ');
    policy.resetCounts();
    throw new AgentdumpError(
      'locked',
      `a value that looks like a secret (${rules}) and no key to seal it with`,
      {
        rules,
      },
    );
  }
}

function bareError(error: unknown): Error {
  const policy = processPolicy();
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const bare = new Error(policy.text(message));
  Object.defineProperty(bare, 'name', { value: name, configurable: true });
  Object.defineProperty(bare, 'stack', { value: policy.text(stack ?? ''), configurable: true });
  policy.resetCounts();
  return bare;
}

/** JSON in which keys are next to their values, also for maps and other containers; undefined if there are cycles. */
function spreadOut(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, function (this: Record<string, unknown>, name, plain) {
      return typeof plain === 'object' || typeof plain === 'bigint' ? spreadOne(this[name], plain) : plain;
    });
  } catch {
    return undefined;
  }
}

function spreadOne(value: unknown, plain: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [String(key), one]));
  if (value instanceof Set) return [...value];
  if (Array.isArray(value) && furtherProperties(value)) return { ...value };
  if (value instanceof Error)
    return { ...value, message: value.message, stack: value.stack, cause: value.cause };
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
  return plain;
}

function parseObject(text: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Reported below.
  }
  if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>;
  throw new MalformedInput('a durable record is no JSON', {
    format: 'durable',
    field: 'record',
    wanted: 'an object',
  });
}
