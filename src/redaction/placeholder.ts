/**
 * The text that takes a secret's place: `[redacted:<rule>#<tag>]`. The tag is a cut HMAC-SHA-256 under a key that
 * exists only in this process, so that equal secrets are seen to be equal and none can be looked up or guessed offline.
 * Its characters need no escape in JSON, XML, a URL's query or a shell's quotes.
 */
import type { hash, randomBytes } from 'node:crypto';

let sign: ((value: string) => string) | undefined;

/** SHA-256's block. */
const blockBytes = 64;

/**
 * A function that tags values; the key is drawn at the first call and lives as long as the process. HMAC (RFC 2104) is
 * written out over the one-shot hash, because an object of Node's for every value costs three times as much.
 */
function signer(): (value: string) => string {
  const crypto = process.getBuiltinModule('node:crypto') as {
    hash: typeof hash;
    randomBytes: typeof randomBytes;
  };
  const key = crypto.randomBytes(blockBytes);
  const inner = key.map((byte) => byte ^ 0x36);
  const outer = key.map((byte) => byte ^ 0x5c);
  // A value that comes again and again is hashed once; one is remembered, because it is a secret.
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

/** Nothing for the rest of a value that came in parts: the first part's placeholder stands for all of it. */
export function renderPlaceholder(rule: string, value: string, _before?: string, isRest = false): string {
  if (isRest) return '';
  sign ??= signer();
  return `[redacted:${rule}#${sign(value)}]`;
}

/** The whole of `text` is a placeholder that some earlier pass wrote, perhaps without its bracket at the end. */
export function isOwnPlaceholder(text: string): boolean {
  return /^[\w:/.+~-]{0,40}\[redacted:[a-z0-9-]{1,40}#[0-9a-f]{8}\]?$/.test(text);
}
