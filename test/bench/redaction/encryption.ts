/** Age encryption and decryption: ours (synchronous, OpenSSL) against the npm package by age's author, in one run. */
import { randomBytes } from 'node:crypto';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { openAgeWindow, readIdentities } from '../../../src/bundle/read/age.ts';
import { AgeStream } from '../../../src/bundle/write/age-encrypt.ts';
import { readLock } from '../../../src/bundle/write/age-key.ts';

const rounds = 5;
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const lock = readLock(recipient);
const keys = { identities: readIdentities(identity) };

async function medianMs(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
}

function encryptOurs(plain: Uint8Array): Buffer {
  const chunks: Uint8Array[] = [];
  const stream = new AgeStream((bytes) => chunks.push(Uint8Array.from(bytes)), lock);
  stream.write(plain);
  stream.end();
  return Buffer.concat(chunks);
}

function encryptTheirs(plain: Uint8Array): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return encrypter.encrypt(plain);
}

function decryptOurs(sealed: Buffer): Buffer {
  const source = {
    size: sealed.length,
    read: (target: Uint8Array, at: number) => sealed.copy(target, 0, at),
    close: () => {},
  };
  const window = openAgeWindow(source, keys, 'memory');
  const plain = Buffer.alloc(window.size);
  window.read(plain, 0);
  return plain;
}

function decryptTheirs(sealed: Uint8Array): Promise<Uint8Array> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(sealed);
}

function show(what: string, bytes: number, ours: number, theirs: number): void {
  const speed = (ms: number) => `${(bytes / 1e3 / ms).toFixed(0)} MB/s`;
  const ratio = (theirs / ours).toFixed(1);
  console.log(
    `${what}: ours ${ours.toFixed(1)} ms (${speed(ours)}), age-encryption ${theirs.toFixed(1)} ms (${speed(theirs)}), ratio ${ratio}`,
  );
}

for (const size of [1_000, 1_000_000, 50_000_000]) {
  const plain = randomBytes(size);
  const sealed = encryptOurs(plain);
  show(
    `encrypt ${size / 1e6} MB`,
    size,
    await medianMs(() => encryptOurs(plain)),
    await medianMs(() => encryptTheirs(plain)),
  );
  show(
    `decrypt ${size / 1e6} MB`,
    size,
    await medianMs(() => decryptOurs(sealed)),
    await medianMs(() => decryptTheirs(sealed)),
  );
}
