/**
 * SHA-256 (FIPS 180-4) for a process in which Node's own can't be had: the program has replaced functions of node:crypto, or was
 * stopped while Node loads that module. A tenth as fast.
 */

/** What is used of Node's Hash. */
export interface Sha256 {
  update(data: string | Uint8Array): Sha256;
  copy(): Sha256;
  digest(): Buffer;
  digest(encoding: 'hex'): string;
}

const blockBytes = 64;
/** The first bits of the fractions of the cube roots and the square roots of the first primes. */
const rounds = new Int32Array(64);
const initial = new Int32Array(8);
for (let prime = 2, found = 0; found < 64; prime++) {
  let isPrime = true;
  for (let by = 2; by * by <= prime; by++) if (prime % by === 0) isPrime = false;
  if (!isPrime) continue;
  if (found < 8) initial[found] = (prime ** 0.5 % 1) * 2 ** 32;
  rounds[found++] = (Math.cbrt(prime) % 1) * 2 ** 32;
}

export class PlainSha256 implements Sha256 {
  readonly #state: Int32Array;
  readonly #block: Buffer;
  readonly #words = new Int32Array(64);
  #length: number;

  constructor(from?: PlainSha256) {
    this.#state = Int32Array.from(from ? from.#state : initial);
    this.#block = from ? Buffer.from(from.#block) : Buffer.alloc(blockBytes);
    this.#length = from ? from.#length : 0;
  }

  copy(): PlainSha256 {
    return new PlainSha256(this);
  }

  update(data: string | Uint8Array): this {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    for (let at = 0; at < bytes.length; ) {
      const filled = this.#length % blockBytes;
      const part = bytes.subarray(at, at + blockBytes - filled);
      this.#block.set(part, filled);
      this.#length += part.length;
      at += part.length;
      if (this.#length % blockBytes === 0) this.#compress();
    }
    return this;
  }

  digest(): Buffer;
  digest(encoding: 'hex'): string;
  digest(encoding?: 'hex'): Buffer | string {
    const bits = this.#length * 8;
    const rest = (this.#length + 9) % blockBytes;
    const end = Buffer.alloc(9 + (rest === 0 ? 0 : blockBytes - rest));
    end[0] = 0x80;
    end.writeUInt32BE(Math.floor(bits / 2 ** 32), end.length - 8);
    end.writeUInt32BE(bits % 2 ** 32, end.length - 4);
    this.update(end);
    const result = Buffer.alloc(32);
    for (const [at, word] of this.#state.entries()) result.writeInt32BE(word, at * 4);
    return encoding ? result.toString(encoding) : result;
  }

  #compress(): void {
    const words = this.#words;
    const state = this.#state;
    const word = (at: number): number => words[at] as number;
    for (let at = 0; at < 16; at++) words[at] = this.#block.readInt32BE(at * 4);
    for (let at = 16; at < 64; at++) {
      const [early, late] = [word(at - 15), word(at - 2)];
      const small = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
      const large = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
      words[at] = word(at - 16) + small + word(at - 7) + large;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [
      ...[number, number, number, number, number, number, number, number],
    ];
    for (let at = 0; at < 64; at++) {
      const chosen = (e & f) ^ (~e & g);
      const first =
        (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + chosen + (rounds[at] as number) + word(at)) | 0;
      const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, at) => {
      state[at] = (state[at] as number) + value;
    });
  }
}

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

const ofNothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
type Crypto = Pick<typeof import('node:crypto'), 'createHash'>;
let sound: Crypto['createHash'] | undefined;

/** Node's if it works, which is looked at until it did once; else the one above. */
export function startSha256(): Sha256 {
  const { createHash } = process.getBuiltinModule('node:crypto') as Crypto;
  if (createHash !== sound) {
    try {
      if (createHash('sha256').update('').digest('hex') !== ofNothing) return new PlainSha256();
      sound = createHash;
    } catch {
      return new PlainSha256();
    }
  }
  return createHash('sha256');
}
