/**
 * Parses what a bundle is encrypted to: age recipients (`age1…`) or a passphrase. No cryptography here, because the preload
 * parses its configuration with this at startup. Bech32 is BIP 173 without its limit of 90 characters, as in age.
 */
import { AgentdumpError } from '../../errors.ts';
import { recipientPrefix } from '../layout/age.ts';
import { openRegularFile } from './open-regular-file.ts';
import { closeSync, failureCode, readWhole } from './system.ts';

export type Lock =
  | { kind: 'recipients'; publicKeys: Uint8Array[] }
  /** workFactor: log2 of scrypt's N; 15 by default, which takes 32 MiB and a tenth of a second in the dying process. */
  | { kind: 'passphrase'; passphrase: string; workFactor?: number };

const passphraseStart = 'passphrase:';
const keyBytes = 32;
const longestFile = 64 * 1024;

/**
 * `age1…`, several of them separated by commas or spaces, `passphrase:…`, or the path of a file with one recipient per line.
 * Throws `usage`; the text itself is never part of a message.
 */
export function readLock(text: string): Lock {
  const given = text.trim();
  if (given.startsWith(passphraseStart)) {
    const passphrase = given.slice(passphraseStart.length);
    if (!passphrase) throw notARecipient('the passphrase is empty');
    return { kind: 'passphrase', passphrase };
  }
  const lines = given.startsWith(`${recipientPrefix}1`) ? given.split(/[\s,]+/) : linesOf(given);
  const publicKeys = lines.filter((line) => line && !line.startsWith('#')).map(readRecipient);
  if (!publicKeys.length) throw notARecipient('the file names no recipient');
  return { kind: 'recipients', publicKeys };
}

function linesOf(path: string): string[] {
  try {
    const fd = openRegularFile(path);
    try {
      const bytes = readWhole(fd, longestFile);
      if (!bytes) throw notARecipient('the file of recipients is too big');
      return bytes
        .toString('utf8')
        .split('\n')
        .map((line) => line.trim());
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof AgentdumpError) throw error;
    throw notARecipient(`neither age1… nor a file of recipients (${failureCode(error)})`);
  }
}

/** The 32 bytes of an X25519 public key. Throws `usage`. */
export function readRecipient(text: string): Uint8Array {
  const bytes = readBech32(text, recipientPrefix);
  if (bytes?.length === keyBytes) return bytes;
  const isOtherKind = /^age1[a-z]+1/.test(text);
  throw notARecipient(isOtherKind ? 'a recipient of a kind that is not X25519' : 'a recipient is misspelt');
}

function notARecipient(reason: string): AgentdumpError {
  return new AgentdumpError('usage', `not an age recipient: ${reason}`, { argument: 'recipient', reason });
}

const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const checksumLength = 6;

/** The bytes of a Bech32 string with this (lower-case) prefix; undefined for anything else. */
export function readBech32(text: string, prefix: string): Uint8Array | undefined {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) return undefined;
  if (!lower.startsWith(`${prefix}1`) || lower.length > 200) return undefined;
  const words = [...lower.slice(prefix.length + 1)].map((char) => alphabet.indexOf(char));
  if (words.includes(-1) || words.length <= checksumLength) return undefined;
  if (polymod([...expand(prefix), ...words]) !== 1) return undefined;
  return toBytes(words.slice(0, -checksumLength));
}

function expand(prefix: string): number[] {
  const codes = Array.from(prefix, (char) => char.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

function polymod(values: number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [i, generator] of generators.entries()) if ((top >>> i) & 1) sum ^= generator;
  }
  return sum >>> 0;
}

/** Converts 5-bit words to 8-bit bytes; the remaining bits must be fewer than a word, and zero. */
function toBytes(words: number[]): Uint8Array | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const word of words) {
    held = ((held << 5) | word) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >>> bits) & 0xff);
    }
  }
  return bits < 5 && (held & ((1 << bits) - 1)) === 0 ? Uint8Array.from(bytes) : undefined;
}
