/**
 * Encrypts a stream of bytes into an age file, synchronously, with primitives of node:crypto: X25519, HKDF, scrypt and
 * ChaCha20-Poly1305. A dying process can't wait for promises, workers or children. The layout is in layout/age.ts, the reader
 * in read/age.ts.
 */

import {
  ageCipher,
  ageLabels,
  ageVersionLine,
  bodyColumns,
  chunkNonce,
  chunkSize,
  fileKeySize,
  nonceSize,
  scryptBlockSize,
  scryptSaltSize,
  tagSize,
} from '../layout/age.ts';
import type { Lock } from './age-key.ts';
import { loadCrypto } from './system.ts';

const defaultWorkFactor = 15;

export class AgeStream {
  readonly #put: (bytes: Uint8Array) => void;
  readonly #key: Uint8Array;
  readonly #chunk = Buffer.allocUnsafeSlow(chunkSize);
  #held = 0;
  #index = 0;

  /** Writes the header at once. `put` must consume each piece before it returns. Throws what OpenSSL throws. */
  constructor(put: (bytes: Uint8Array) => void, lock: Lock) {
    const crypto = loadCrypto();
    const fileKey = crypto.randomBytes(fileKeySize);
    const nonce = crypto.randomBytes(nonceSize);
    put(ageHeader(fileKey, lock));
    put(nonce);
    this.#put = put;
    this.#key = hkdf(fileKey, nonce, ageLabels.payload);
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      // A full chunk is kept until more bytes arrive, because the last chunk must be marked as the last.
      if (this.#held === chunkSize) this.#flush(false);
      const count = Math.min(chunkSize - this.#held, bytes.length - at);
      this.#chunk.set(bytes.subarray(at, at + count), this.#held);
      this.#held += count;
      at += count;
    }
  }

  end(): void {
    this.#flush(true);
  }

  #flush(isLast: boolean): void {
    this.#put(encrypt(this.#key, chunkNonce(this.#index, isLast), this.#chunk.subarray(0, this.#held)));
    this.#index++;
    this.#held = 0;
  }
}

function ageHeader(fileKey: Uint8Array, lock: Lock): Buffer {
  const stanzas =
    lock.kind === 'passphrase'
      ? [scryptStanza(fileKey, lock.passphrase, lock.workFactor ?? defaultWorkFactor)]
      : lock.publicKeys.map((publicKey) => x25519Stanza(fileKey, publicKey));
  const header = `${ageVersionLine}${stanzas.join('')}---`;
  return Buffer.from(`${header} ${base64(headerMac(fileKey, header))}\n`);
}

/** Covers the header up to and including its three hyphens. */
export function headerMac(fileKey: Uint8Array, header: string | Uint8Array): Buffer {
  const key = hkdf(fileKey, new Uint8Array(0), ageLabels.header);
  return loadCrypto().createHmac('sha256', key).update(header).digest();
}

function x25519Stanza(fileKey: Uint8Array, publicKey: Uint8Array): string {
  const crypto = loadCrypto();
  const own = crypto.generateKeyPairSync('x25519');
  const share = Buffer.from(own.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const shared = crypto.diffieHellman({ privateKey: own.privateKey, publicKey: x25519Key(publicKey) });
  const wrapKey = hkdf(shared, Buffer.concat([share, publicKey]), ageLabels.x25519);
  return stanza(['X25519', base64(share)], encrypt(wrapKey, new Uint8Array(12), fileKey));
}

export function x25519Key(publicKey: Uint8Array) {
  const x = Buffer.from(publicKey).toString('base64url');
  return loadCrypto().createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
}

function scryptStanza(fileKey: Uint8Array, passphrase: string, workFactor: number): string {
  const salt = loadCrypto().randomBytes(scryptSaltSize);
  const wrapKey = scryptKey(passphrase, salt, workFactor);
  return stanza(['scrypt', base64(salt), String(workFactor)], encrypt(wrapKey, new Uint8Array(12), fileKey));
}

export function scryptKey(passphrase: string, salt: Uint8Array, workFactor: number): Buffer {
  const N = 2 ** workFactor;
  const fullSalt = Buffer.concat([Buffer.from(ageLabels.scrypt), salt]);
  const options = { N, r: scryptBlockSize, p: 1, maxmem: 128 * N * scryptBlockSize + 1024 * 1024 };
  return loadCrypto().scryptSync(passphrase, fullSalt, 32, options);
}

function stanza(words: string[], body: Uint8Array): string {
  const text = base64(body);
  const lines: string[] = [];
  for (let at = 0; at <= text.length; at += bodyColumns) lines.push(text.slice(at, at + bodyColumns));
  return `-> ${words.join(' ')}\n${lines.join('\n')}\n`;
}

/** The tag follows the ciphertext. */
function encrypt(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Buffer {
  const cipher = loadCrypto().createCipheriv(ageCipher, key, nonce, { authTagLength: tagSize });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

export function hkdf(secret: Uint8Array, salt: Uint8Array, label: string): Buffer {
  return Buffer.from(loadCrypto().hkdfSync('sha256', secret, salt, label, 32));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
