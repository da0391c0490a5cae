/**
 * Passes the values that a process withholds to its supervisor: lines of base64, each with a 12-byte nonce, a 16-byte tag and
 * the value (UTF-8) encrypted with AES-256-GCM. Only the supervisor's processes have the key, and it is lost when they exit.
 * The file is never in the clear and can't be read later.
 */
import type * as Crypto from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
export const withheldKeyBytes = 32;

/** Loaded on demand, because node:crypto takes milliseconds to load and many programs withhold nothing. */
const crypto = (): typeof Crypto => process.getBuiltinModule('node:crypto');

/** One line. */
export function sealWithheld(value: string, key: Uint8Array): string {
  const { createCipheriv, randomBytes } = crypto();
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return `${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')}\n`;
}

/** The values of all complete lines that were written with this key. */
export function openWithheld(lines: string, key: Uint8Array): string[] {
  return lines.split('\n').flatMap((line) => {
    const value = line === '' ? undefined : openLine(Buffer.from(line, 'base64'), key);
    return value === undefined ? [] : [value];
  });
}

function openLine(sealed: Buffer, key: Uint8Array): string | undefined {
  try {
    const nonce = sealed.subarray(0, nonceBytes);
    const decipher = crypto().createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
    decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
    return (
      decipher.update(sealed.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
    );
  } catch {
    // A killed writer may leave an incomplete line.
    return undefined;
  }
}
