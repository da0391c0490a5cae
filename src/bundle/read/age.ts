/**
 * Opens an age file for random access: its chunks of 64 KiB are decrypted one at a time, on demand, and never written to
 * disk. Each chunk is authenticated, and the last one when the file is opened, so that a truncated file is refused. The
 * layout is in layout/age.ts.
 */
import { createDecipheriv, createPrivateKey, diffieHellman, timingSafeEqual } from 'node:crypto';
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import {
  ageCipher,
  ageLabels,
  ageVersionLine,
  bodyColumns,
  chunkNonce,
  chunkSize,
  fileKeySize,
  identityPrefix,
  nonceSize,
  scryptSaltSize,
  tagSize,
} from '../layout/age.ts';
import { headerMac, hkdf, scryptKey, x25519Key } from '../write/age-encrypt.ts';
import { readBech32 } from '../write/age-key.ts';
import type { ByteWindow } from './window.ts';

/** The keys that can open a bundle. */
export interface Keys {
  /** X25519 secret keys of 32 bytes. */
  identities: Uint8Array[];
  passphrase?: string;
}

const longestHeader = 64 * 1024;
const mostStanzas = 200;
const macSize = 32;
/** 2^18 is what age itself writes: 256 MiB of memory. */
const highestWorkFactor = 18;

/** Parses an identity file: one `AGE-SECRET-KEY-1…` per line, empty lines and `#` comments. Throws `usage`. */
export function readIdentities(text: string): Uint8Array[] {
  const lines = text.split('\n').map((line) => line.trim());
  const keys = lines
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => readBech32(line, identityPrefix));
  const isGood = keys.length > 0 && keys.every((key) => key?.length === 32);
  if (!isGood)
    throw new AgentdumpError('usage', 'the file holds no age identity (AGE-SECRET-KEY-1…)', {
      argument: 'identity',
    });
  return keys as Uint8Array[];
}

export function isAgeFile(window: ByteWindow): boolean {
  const start = Buffer.alloc(ageVersionLine.length);
  return window.read(start, 0) === start.length && start.toString('latin1') === ageVersionLine;
}

/**
 * Throws `malformed-input` or `over-limit` for a file that no key could open: its header is damaged or asks for too much work, or
 * its payload is missing or was cut where that shows without a key.
 */
export function requireAgeForm(window: ByteWindow): void {
  const { stanzas, mac, size } = readHeader(window);
  if (stanzas.length === 0 || mac.length !== macSize) throw damaged('header', 0);
  for (const { words } of stanzas) if (words[0] === 'scrypt') requireWorkFactor(words[2] ?? '');
  lastChunkOf(window, size + nonceSize);
}

/** Takes ownership of the window. Throws `locked` if no key fits, `malformed-input` for a damaged file, `over-limit`. */
export function openAgeWindow(window: ByteWindow, keys: Keys, path: string): ByteWindow {
  const header = readHeader(window);
  const fileKey = findFileKey(header.stanzas, keys);
  if (!fileKey) throw new AgentdumpError('locked', `no key that was given opens ${path}`, { path });
  if (!isEqual(headerMac(fileKey, header.authenticated), header.mac)) throw damaged('header', 0);
  const nonce = Buffer.alloc(nonceSize);
  if (window.read(nonce, header.size) !== nonceSize) throw damaged('nonce', header.size);
  return new DecryptedWindow(window, hkdf(fileKey, nonce, ageLabels.payload), header.size + nonceSize);
}

/** The contents of an age file in memory; undefined if it is none, is damaged, or is encrypted for another key. */
export function readSmallAgeFile(bytes: Uint8Array, keys: Keys): Uint8Array | undefined {
  const read = (target: Uint8Array, position: number): number => {
    const found = bytes.subarray(position, position + target.length);
    target.set(found);
    return found.length;
  };
  const window: ByteWindow = { size: bytes.length, read, close: () => {} };
  try {
    if (!isAgeFile(window)) return undefined;
    const opened = openAgeWindow(window, keys, 'the sealed key');
    const plain = Buffer.alloc(opened.size);
    return opened.read(plain, 0) === plain.length ? plain : undefined;
  } catch {
    return undefined;
  }
}

class DecryptedWindow implements ByteWindow {
  readonly size: number;
  readonly #window: ByteWindow;
  readonly #key: Uint8Array;
  readonly #start: number;
  readonly #lastIndex: number;
  /** The last chunk that was read, since most readers go forward. */
  #cached: { index: number; plain: Buffer } | undefined;

  constructor(window: ByteWindow, key: Uint8Array, start: number) {
    this.#window = window;
    this.#key = key;
    this.#start = start;
    this.#lastIndex = lastChunkOf(window, start);
    this.size = window.size - start - (this.#lastIndex + 1) * tagSize;
    this.#chunk(this.#lastIndex);
  }

  read(target: Uint8Array, position: number): number {
    let done = 0;
    while (done < target.length && position + done < this.size) {
      const at = position + done;
      const plain = this.#chunk(Math.floor(at / chunkSize));
      const piece = plain.subarray(at % chunkSize, (at % chunkSize) + target.length - done);
      target.set(piece, done);
      done += piece.length;
    }
    return done;
  }

  close(): void {
    this.#cached = undefined;
    this.#window.close();
  }

  #chunk(index: number): Buffer {
    if (this.#cached?.index === index) return this.#cached.plain;
    const offset = this.#start + index * (chunkSize + tagSize);
    const isLast = index === this.#lastIndex;
    const sealed = Buffer.alloc(isLast ? this.#window.size - offset : chunkSize + tagSize);
    if (this.#window.read(sealed, offset) !== sealed.length) throw damaged('payload', offset);
    const plain = decrypt(this.#key, chunkNonce(index, isLast), sealed);
    if (!plain) throw damaged('payload', offset);
    this.#cached = { index, plain };
    return plain;
  }
}

/** The number of the last chunk, counted from zero, of a payload that begins at `start`. */
function lastChunkOf(window: ByteWindow, start: number): number {
  const sealed = window.size - start;
  const last = Math.ceil(sealed / (chunkSize + tagSize)) - 1;
  const lastSize = sealed - last * (chunkSize + tagSize);
  if (last < 0 || lastSize < tagSize || (lastSize === tagSize && last > 0)) throw damaged('payload', start);
  return last;
}

interface Stanza {
  words: string[];
  body: Buffer;
}

interface Header {
  stanzas: Stanza[];
  authenticated: Buffer;
  mac: Buffer;
  size: number;
}

/** One pass over the lines: the first line of a stanza, its body up to a short line, the next stanza, then the MAC. */
function readHeader(window: ByteWindow): Header {
  const bytes = Buffer.alloc(Math.min(window.size, longestHeader));
  const text = bytes.toString('latin1', 0, window.read(bytes, 0));
  const stanzas: Stanza[] = [];
  let at = ageVersionLine.length;
  const nextLine = () => {
    const end = text.indexOf('\n', at);
    if (end < 0) throw damaged('header', at);
    const line = text.slice(at, end);
    at = end + 1;
    return line;
  };
  for (;;) {
    const start = at;
    const line = nextLine();
    if (line.startsWith('--- ')) {
      const mac = readBase64(line.slice(4), start);
      return { stanzas, authenticated: bytes.subarray(0, start + 3), mac, size: at };
    }
    if (!line.startsWith('-> ') || stanzas.length >= mostStanzas) throw damaged('header', start);
    let body = '';
    let row: string;
    do {
      row = nextLine();
      if (row.length > bodyColumns) throw damaged('header', start);
      body += row;
    } while (row.length === bodyColumns);
    stanzas.push({ words: line.slice(3).split(' '), body: readBase64(body, start) });
  }
}

function findFileKey(stanzas: Stanza[], keys: Keys): Buffer | undefined {
  for (const { words, body } of stanzas) {
    const [kind, first = '', second = ''] = words;
    if (body.length !== fileKeySize + tagSize) continue;
    if (kind === 'X25519' && words.length === 2) {
      const fileKey = unwrapX25519(readBase64(first, 0), body, keys.identities);
      if (fileKey) return fileKey;
    }
    if (kind === 'scrypt' && keys.passphrase !== undefined) {
      if (stanzas.length !== 1 || words.length !== 3) throw damaged('header', 0);
      return unwrapScrypt(readBase64(first, 0), second, body, keys.passphrase);
    }
  }
  return undefined;
}

function unwrapX25519(share: Buffer, body: Buffer, identities: Uint8Array[]): Buffer | undefined {
  if (share.length !== 32) throw damaged('header', 0);
  for (const identity of identities) {
    const { privateKey, publicKey } = keyPair(identity);
    let shared: Buffer;
    try {
      shared = diffieHellman({ privateKey, publicKey: x25519Key(share) });
    } catch {
      // A share of low order: OpenSSL refuses an all-zero secret, as the specification requires.
      throw damaged('header', 0);
    }
    const wrapKey = hkdf(shared, Buffer.concat([share, publicKey]), ageLabels.x25519);
    const fileKey = decrypt(wrapKey, new Uint8Array(12), body);
    if (fileKey) return fileKey;
  }
  return undefined;
}

/** PKCS #8 of an X25519 key (RFC 8410, section 7): this prefix, then the 32 bytes. */
const pkcs8Prefix = Buffer.from('302e020100300506032b656e04220420', 'hex');

function keyPair(identity: Uint8Array) {
  const der = Buffer.concat([pkcs8Prefix, identity]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = Buffer.from(privateKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return { privateKey, publicKey };
}

function unwrapScrypt(salt: Buffer, factor: string, body: Buffer, passphrase: string): Buffer | undefined {
  if (salt.length !== scryptSaltSize) throw damaged('header', 0);
  requireWorkFactor(factor);
  return decrypt(scryptKey(passphrase, salt, Number(factor)), new Uint8Array(12), body);
}

function requireWorkFactor(factor: string): void {
  if (!/^[1-9]\d?$/.test(factor)) throw damaged('header', 0);
  if (Number(factor) > highestWorkFactor)
    throw new AgentdumpError('over-limit', `its passphrase asks for work factor ${factor}`, {
      limit: 'scrypt work factor',
      wanted: Number(factor),
      allowed: highestWorkFactor,
    });
}

/** Undefined if the tag is wrong. */
function decrypt(key: Uint8Array, nonce: Uint8Array, sealed: Buffer): Buffer | undefined {
  const end = sealed.length - tagSize;
  const decipher = createDecipheriv(ageCipher, key, nonce, { authTagLength: tagSize });
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(0, end));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

/** Canonical base64 without padding. */
function readBase64(text: string, offset: number): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64').replace(/=+$/, '') !== text) throw damaged('header', offset);
  return bytes;
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function damaged(field: string, offset: number): MalformedInput {
  return new MalformedInput('the age file is damaged or cut short', { format: 'age', field, offset });
}
