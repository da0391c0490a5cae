/**
 * Encodes and decodes integers and texts of a record's head. Texts that occurred earlier in a thread are encoded as numbers;
 * both sides maintain the same list. The reader checks each count against the number of bytes that could contain it.
 */
import { malformed } from './malformed.ts';

/** Longer texts rarely repeat and are not remembered. */
const longestRemembered = 256;

export class Texts {
  readonly #texts: string[] = [];
  readonly #numbers = new Map<string, number>();

  find(text: string): number | undefined {
    return this.#numbers.get(text);
  }

  at(number: number): string | undefined {
    return this.#texts[number];
  }

  remember(text: string): void {
    if (text.length > longestRemembered || this.#numbers.has(text)) return;
    this.#numbers.set(text, this.#texts.push(text) - 1);
  }
}

export class HeadWriter {
  readonly #texts: Texts;
  #bytes = Buffer.allocUnsafe(512);
  #length = 0;

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  int(value: number): void {
    this.#reserve(10);
    let rest = value;
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  text(value: string): void {
    const number = this.#texts.find(value);
    if (number !== undefined) {
      this.int(2 * number + 1);
      return;
    }
    const length = Buffer.byteLength(value);
    this.int(2 * length);
    this.#reserve(length);
    this.#length += this.#bytes.write(value, this.#length);
    this.#texts.remember(value);
  }

  /** Everything that was written, followed by these bytes. */
  finish(literals: Uint8Array): Uint8Array {
    this.#reserve(literals.length);
    this.#bytes.set(literals, this.#length);
    return this.#bytes.subarray(0, this.#length + literals.length);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#length + bytes, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

export class HeadReader {
  readonly #texts: Texts;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(texts: Texts, payload: Uint8Array) {
    this.#texts = texts;
    this.#bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  }

  int(field: string): number {
    let value = 0;
    for (let weight = 1; weight <= Number.MAX_SAFE_INTEGER; weight *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      value += (byte & 127) * weight;
      if (byte < 128 && Number.isSafeInteger(value)) return value;
    }
    throw malformed(field, 'an integer', `the end of the record or a larger one at byte ${this.#at}`);
  }

  /** A count of items that take at least one byte each. */
  count(field: string): number {
    const count = this.int(field);
    const left = this.#bytes.length - this.#at;
    if (count > left) throw malformed(field, `at most ${left}`, `${count}`);
    return count;
  }

  list<T>(field: string, read: () => T): T[] {
    return Array.from({ length: this.count(field) }, read);
  }

  text(field: string): string {
    const word = this.int(field);
    if (word % 2 === 1) {
      const known = this.#texts.at((word - 1) / 2);
      if (known === undefined)
        throw malformed(field, 'a text that was there before', `number ${(word - 1) / 2}`);
      return known;
    }
    const end = this.#at + word / 2;
    if (end > this.#bytes.length) throw malformed(field, `within ${this.#bytes.length} bytes`, `${end}`);
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end;
    this.#texts.remember(text);
    return text;
  }

  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }
}
