/** Random numbers of a replay: the same in every replay of a recording. Secrets (keys, nonces) stay random. */
import crypto from 'node:crypto';

export function seedRandom(seed: number): void {
  const next = mulberry32(seed);
  Math.random = next;
  const randomUUID = () => formatUuid(Array.from({ length: 16 }, () => Math.floor(next() * 256)));
  crypto.randomUUID = randomUUID;
  Object.defineProperty(globalThis.crypto, 'randomUUID', {
    value: randomUUID,
    configurable: true,
    writable: true,
  });
}

/** Tommy Ettinger's generator: 32 bits of state, small, and sufficient for values that are not secret. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A version 4 UUID according to RFC 9562. */
function formatUuid(bytes: number[]): `${string}-${string}-${string}-${string}-${string}` {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
