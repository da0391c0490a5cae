/**
 * Encrypts the values of a run with the host's key: AES-256-GCM with a key per run (HKDF-SHA-256 of the host's key and the
 * run's salt) and a random nonce per value. The facts of the record are authenticated with the value, so a sealed value can't
 * be moved to another record. Independent of the record types.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  randomFillSync,
  timingSafeEqual,
} from 'node:crypto';
import { AgentdumpError } from '../../errors.ts';
import type { SealFacts } from './layout.ts';

const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const gcm = { authTagLength: tagBytes };

/**
 * 32 bytes, or their text: 64 hexadecimal digits or base64. Throws AgentdumpError `usage`; the message never contains the
 * key.
 */
export function readKey(key: string | Uint8Array): Uint8Array {
  if (typeof key !== 'string') {
    if (key.length === keyBytes) return key;
  } else {
    const bytes = Buffer.from(key.trim(), /^[0-9a-f]{64}$/i.test(key.trim()) ? 'hex' : 'base64');
    if (bytes.length === keyBytes) return bytes;
  }
  throw new AgentdumpError(
    'usage',
    'the key of durable runs must be 32 bytes, e.g. of `openssl rand -hex 32`',
    {
      argument: 'key',
    },
  );
}

export class Seal {
  readonly facts: SealFacts;
  readonly #key: Buffer;

  private constructor(key: Uint8Array, salt: Buffer) {
    this.#key = Buffer.from(hkdfSync('sha256', key, salt, 'agentdump durable run', keyBytes));
    const check = Buffer.from(hkdfSync('sha256', this.#key, salt, 'agentdump key check', 8));
    this.facts = { salt: salt.toString('hex'), check: check.toString('hex') };
  }

  static create(key: Uint8Array): Seal {
    return new Seal(key, randomBytes(16));
  }

  /** Throws AgentdumpError `locked` if the key is not the one that created the facts. */
  static reopen(key: Uint8Array, facts: SealFacts): Seal {
    const seal = new Seal(key, Buffer.from(facts.salt, 'hex'));
    const [mine, theirs] = [Buffer.from(seal.facts.check), Buffer.from(facts.check)];
    if (mine.length !== theirs.length || !timingSafeEqual(mine, theirs))
      throw new AgentdumpError('locked', "the run's values are sealed with another key", { path: 'key' });
    return seal;
  }

  /** Nonce, tag and ciphertext. */
  close(text: string, beside: string): Uint8Array[] {
    const nonce = nextNonce();
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, gcm);
    cipher.setAAD(Buffer.from(beside));
    const body = cipher.update(text, 'utf8');
    cipher.final();
    return [nonce, cipher.getAuthTag(), body];
  }

  sum(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('hex').slice(0, 32);
  }

  /** Throws AgentdumpError `locked` if the bytes or the authenticated facts were changed. */
  open(bytes: Uint8Array, beside: string): string {
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, nonceBytes), gcm);
      decipher.setAAD(Buffer.from(beside));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const body = decipher.update(bytes.subarray(nonceBytes + tagBytes));
      return Buffer.concat([body, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new AgentdumpError('locked', 'a sealed value was changed', { path: 'value' }, cause);
    }
  }
}

/** Nonces are generated in batches, because each call costs a microsecond regardless of its size. */
const drawn = Buffer.alloc(nonceBytes * 256);
let used = drawn.length;

function nextNonce(): Buffer {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += nonceBytes;
  return drawn.subarray(used - nonceBytes, used);
}
