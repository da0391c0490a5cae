/**
 * The two functions by which V8 hashes texts. Both give 30 bits, never zero. Sources: src/strings/string-hasher-inl.h and
 * third_party/rapidhash-v8 of V8.
 */

const hashMask = 0x3fff_ffff;
/** What V8 stores instead of zero. */
const zeroHash = 27;

const usable = (hash: number) => hash & hashMask || zeroHash;

/** Jenkins's one-at-a-time, over UTF-16 units. */
export function oneAtATime(text: string, seed: bigint): number {
  let hash = Number(seed & 0xffff_ffffn) | 0;
  for (let i = 0; i < text.length; i++) {
    hash = (hash + text.charCodeAt(i)) | 0;
    hash = (hash + (hash << 10)) | 0;
    hash ^= hash >>> 6;
  }
  hash = (hash + (hash << 3)) | 0;
  hash ^= hash >>> 11;
  return usable((hash + (hash << 15)) | 0);
}

const lowest64 = 2n ** 64n - 1n;

/** The two halves of a product of 128 bits, mixed. */
function mix(a: bigint, b: bigint): bigint {
  const product = a * b;
  return (product & lowest64) ^ (product >> 64n);
}

export type Secrets = readonly [bigint, bigint, bigint];

/** The constants of rapidhash, which a V8 uses that has no secrets of its own. */
export const commonSecrets: Secrets = [0x2d358dccaa6c78a5n, 0x8bb84b93962eacc9n, 0x4b33a62ed433d4a3n];

/** Over bytes: Latin-1 if each unit fits, otherwise UTF-16. */
export function rapidHash(text: string, seed: bigint, secrets: Secrets): number {
  const isNarrow = /^[\0-\xff]*$/.test(text);
  return usable(
    Number(hashBytes(Buffer.from(text, isNarrow ? 'latin1' : 'utf16le'), seed, secrets) & 0xffff_ffffn),
  );
}

function hashBytes(bytes: Buffer, seed: bigint, [first, second, third]: Secrets): bigint {
  const size = BigInt(bytes.length);
  const start = seed ^ mix(seed ^ first, second) ^ size;
  const [low, high, state] =
    bytes.length <= 16 ? ([...endsOf(bytes), start] as const) : digest(bytes, start, [first, second, third]);
  const product = (low ^ second) * (high ^ state);
  return mix((product & lowest64) ^ first ^ size, (product >> 64n) ^ second);
}

/** The words of a text of at most 16 bytes, which overlap. */
function endsOf(bytes: Buffer): [bigint, bigint] {
  const { length } = bytes;
  if (length === 0) return [0n, 0n];
  if (length < 4) {
    const at = (i: number) => BigInt(bytes[i] ?? 0);
    return [(at(0) << 56n) | (at(length >> 1) << 32n) | at(length - 1), 0n];
  }
  const word = (at: number) => BigInt(bytes.readUInt32LE(at));
  const last = length - 4;
  const step = length >= 8 ? 4 : 0;
  return [(word(0) << 32n) | word(last), (word(step) << 32n) | word(last - step)];
}

/** Of more than 16 bytes: the last two words, and the state after all the others. */
function digest(bytes: Buffer, start: bigint, [first, second, third]: Secrets): [bigint, bigint, bigint] {
  const word = (at: number) => bytes.readBigUInt64LE(at);
  let at = 0;
  let left = bytes.length;
  let state = start;
  if (left > 48) {
    let other = start;
    let another = start;
    do {
      state = mix(word(at) ^ first, word(at + 8) ^ state);
      other = mix(word(at + 16) ^ second, word(at + 24) ^ other);
      another = mix(word(at + 32) ^ third, word(at + 40) ^ another);
      at += 48;
      left -= 48;
    } while (left >= 48);
    state ^= other ^ another;
  }
  if (left > 16) state = mix(word(at) ^ third, word(at + 8) ^ state ^ second);
  if (left > 32) state = mix(word(at + 16) ^ third, word(at + 24) ^ state);
  return [word(at + left - 16), word(at + left - 8), state];
}
