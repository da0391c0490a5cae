/**
 * Encrypts what a program stores for its own next run (LangGraph's values, replies of a resumable run) with the host's key:
 * AES-256-GCM under a key derived for each store (HKDF-SHA-256 of the host's key), with a random nonce per value, hence at
 * most 2^32 values per key. The data stored beside a value is authenticated with it. Knows nothing of records.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { AgentdumpError } from '../../errors.ts';

const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const algorithm = 'aes-256-gcm';
const gcm = { authTagLength: tagBytes };

export type HostKey = string | Uint8Array;

export class ValueSeal {
  readonly #key: Buffer;

  /** `purpose` separates the keys of different stores. */
  constructor(key: Uint8Array, purpose: string) {
    this.#key = Buffer.from(hkdfSync('sha256', key, '', `agentdump ${purpose}`, keyBytes));
  }

  /** Returns nonce, tag and body. */
  close(bytes: Uint8Array, beside: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#key, nonce, gcm).setAAD(Buffer.from(beside));
    const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]);
  }

  /** Throws AgentdumpError `locked` if the key is wrong, or if the bytes or the data beside them were changed. */
  open(sealed: Uint8Array, beside: string): Buffer {
    try {
      const nonce = sealed.subarray(0, nonceBytes);
      const decipher = createDecipheriv(algorithm, this.#key, nonce, gcm).setAAD(Buffer.from(beside));
      decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]);
    } catch (cause) {
      const message = 'a value is sealed with another key, or was changed';
      throw new AgentdumpError('locked', message, { path: 'key' }, cause);
    }
  }

  /** A name derived from a content, which can't be guessed without the key: 32 hexadecimal digits. */
  sum(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('hex').slice(0, 32);
  }
}

/** Uses the given key, or AGENTDUMP_RUN_KEY; undefined without one. Throws `usage`, without disclosing the key. */
export function findSeal(
  purpose: string,
  key: HostKey | undefined = process.env['AGENTDUMP_RUN_KEY'],
): ValueSeal | undefined {
  if (key === undefined || key === '') return undefined;
  const isHex = typeof key === 'string' && /^[0-9a-f]{64}$/i.test(key.trim());
  const bytes = typeof key === 'string' ? Buffer.from(key.trim(), isHex ? 'hex' : 'base64') : key;
  if (bytes.length !== keyBytes)
    throw new AgentdumpError('usage', 'the key must be 32 bytes, e.g. of `openssl rand -hex 32`', {
      argument: 'key',
    });
  return new ValueSeal(bytes, purpose);
}

export const lockedWithoutKey = (): AgentdumpError =>
  new AgentdumpError('locked', 'the values are sealed: set AGENTDUMP_RUN_KEY', { path: 'key' });
