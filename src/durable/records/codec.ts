/**
 * Payloads of a run's records: the facts in the clear, the host's value beside them, sealed when there is a key; without
 * one a value in which the redactor finds a secret is refused. Knows no record by name.
 */
import { createHash } from 'node:crypto';
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import { processPolicy } from '../runs/process-policy.ts';
import type { SealFacts } from './layout.ts';
import type { Seal } from './seal.ts';
import { decodeValue, encodeValue } from './values.ts';

export interface CodecOptions {
  seal?: Seal | undefined;
  /** The host says that the values may lie there as they are. */
  plain?: boolean;
}

/** The facts of a record, and its value when it is asked for. */
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

  /** How the values are sealed; undefined when they are not. */
  get sealFacts(): SealFacts | undefined {
    return this.#seal?.facts;
  }

  /** What becomes of a value: other code for each. */
  get mode(): 'sealed' | 'plain' | 'searched' {
    if (this.#seal) return 'sealed';
    return this.#plain ? 'plain' : 'searched';
  }

  encode(facts: object): string {
    return JSON.stringify(facts);
  }

  /** Throws AgentdumpError: `usage` for a value that can't be stored, `locked` for a secret that there is no key for. */
  encodeWith(facts: object, value: unknown): string | Uint8Array {
    return this.encodeText(facts, encodeValue(value), value);
  }

  /** As `encodeWith`, when the value's text is there already. */
  encodeText(facts: object, text: string, value: unknown): string | Uint8Array {
    const head = JSON.stringify(facts);
    if (this.#seal) return Buffer.concat([Buffer.from(`${head}\n`), ...this.#seal.close(text, head)]);
    if (!this.#plain) this.#refuseSecrets(text, value);
    return `${head.slice(0, -1)},"value":${text}}`;
  }

  /** What names a text: its hash, or where values are sealed a sum that tells nothing without the key. */
  sumOf(text: string): string {
    return this.#seal ? this.#seal.sum(text) : createHash('sha256').update(text).digest('hex').slice(0, 32);
  }

  /** An error of the same name whose words hold no secret: for one that can't be kept as it is. */
  cleanError(error: unknown): Error {
    const policy = processPolicy();
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    const clean = new Error(policy.text(message));
    Object.defineProperty(clean, 'name', { value: name, configurable: true });
    Object.defineProperty(clean, 'stack', { value: policy.text(stack ?? ''), configurable: true });
    policy.resetCounts();
    return clean;
  }

  /** Throws MalformedInput when the payload is no record; reading the value may throw `locked` or MalformedInput. */
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

  /** The text is looked at twice: as the value's own shape, where names stand beside their values, and as it is kept. */
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

/** JSON in which a name stands beside its value, whatever holds them; undefined for what has cycles. */
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
    // Said below.
  }
  if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>;
  throw new MalformedInput('a durable record is no JSON', {
    format: 'durable',
    field: 'record',
    wanted: 'an object',
  });
}
