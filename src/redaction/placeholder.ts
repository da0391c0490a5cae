/**
 * The text that replaces a secret: `[redacted:<rule>#<tag>]`. The tag is a truncated HMAC-SHA-256 under a key that exists
 * only in this process, so that equal secrets are recognizable and none can be looked up or guessed offline. Its characters
 * need no escaping in JSON, XML, a URL's query or shell quotes.
 */

import type { hash } from 'node:crypto';
import { randomBytes } from '../platform/kernel-random.ts';
import { startSha256 } from '../platform/sha256.ts';

let sign: ((value: string) => string) | undefined;
type Crypto = { readonly hash: typeof hash };
let sound: typeof hash | undefined;

/** Block size of SHA-256. */
const blockBytes = 64;

/**
 * Returns a function that tags values. The key is generated on the first call and lives as long as the process. HMAC (RFC
 * 2104) is implemented with the one-shot hash, because creating a Hmac object for every value costs three times as much.
 */
function signer(): (value: string) => string {
  const crypto = process.getBuiltinModule('node:crypto') as Crypto;
  const key = randomBytes(blockBytes);
  const inner = key.map((byte) => byte ^ 0x36);
  const outer = key.map((byte) => byte ^ 0x5c);
  // Caches the last value, since the same one often repeats. Only one, because it is a secret.
  let last = '';
  let tag = '';
  return (value) => {
    if (value === last) return tag;
    last = value;
    tag = hashAtOnce(crypto, outer, hashAtOnce(crypto, inner, Buffer.from(value, 'utf8'))).toString(
      'hex',
      0,
      4,
    );
    return tag;
  };
}

/** Node's one-shot hash if its function is the one that was found to work. */
function hashAtOnce({ hash: present }: Crypto, key: Uint8Array, data: Uint8Array): Buffer {
  const bytes = Buffer.concat([key, data]);
  if (present !== sound) {
    const expected = startSha256().update(bytes).digest();
    if (!isSame(present, bytes, expected)) return expected;
    sound = present;
  }
  return present('sha256', bytes, 'buffer');
}

function isSame(present: typeof hash, bytes: Uint8Array, expected: Buffer): boolean {
  try {
    return expected.equals(present('sha256', bytes, 'buffer'));
  } catch {
    return false;
  }
}

/** Returns '' for the later parts of a value that came in parts: the first part's placeholder represents all of it. */
export function renderPlaceholder(rule: string, value: string, _before?: string, isRest = false): string {
  if (isRest) return '';
  sign ??= signer();
  return `[redacted:${rule}#${sign(value)}]`;
}

/** True if the whole of `text` is a placeholder written by an earlier pass, possibly without its closing bracket. */
export function isOwnPlaceholder(text: string): boolean {
  return /^[\w:/.+~-]{0,40}\[redacted:[a-z0-9-]{1,40}#[0-9a-f]{8}\]?$/.test(text);
}
