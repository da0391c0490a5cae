/**
 * The text that replaces a secret: `[redacted:<rule>#<tag>]`. The tag is a truncated HMAC-SHA-256 under a key that exists
 * only in this process, so that equal secrets are recognizable and none can be looked up or guessed offline. Its characters
 * need no escaping in JSON, XML, a URL's query or shell quotes.
 */
import type { hash, randomBytes } from 'node:crypto';

let sign: ((value: string) => string) | undefined;

/** Block size of SHA-256. */
const blockBytes = 64;

/**
 * Returns a function that tags values. The key is generated on the first call and lives as long as the process. HMAC (RFC
 * 2104) is implemented with the one-shot hash, because creating a Hmac object for every value costs three times as much.
 */
function signer(): (value: string) => string {
  const crypto = process.getBuiltinModule('node:crypto') as {
    hash: typeof hash;
    randomBytes: typeof randomBytes;
  };
  const key = crypto.randomBytes(blockBytes);
  const inner = key.map((byte) => byte ^ 0x36);
  const outer = key.map((byte) => byte ^ 0x5c);
  // Caches the last value, since the same one often repeats. Only one, because it is a secret.
  let last = '';
  let tag = '';
  return (value) => {
    if (value === last) return tag;
    last = value;
    const digest = crypto.hash('sha256', Buffer.concat([inner, Buffer.from(value, 'utf8')]), 'buffer');
    tag = crypto.hash('sha256', Buffer.concat([outer, digest]), 'hex').slice(0, 8);
    return tag;
  };
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
