/**
 * Skips one JSON value of any size and depth without storing it, with a depth counter instead of recursion. Validates only
 * brackets and strings.
 */
import { Byte } from './numbers.ts';

export class ValueSkipper {
  done = false;
  #depth = 0;
  #insideString = false;
  #escaped = false;

  /** Returns the position after the value once `done`, and `end` before that. */
  scan(bytes: Uint8Array, start: number, end: number): number {
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (this.#insideString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === Byte.backslash) this.#escaped = true;
        else if (byte === Byte.quote) this.#insideString = false;
        continue;
      }
      if (this.#depth === 0 && (byte === Byte.comma || byte === Byte.closeBrace)) return this.#finish(at);
      if (byte === Byte.quote) this.#insideString = true;
      else if (byte === Byte.openBracket || byte === Byte.openBrace) this.#depth++;
      else if (byte === Byte.closeBracket || byte === Byte.closeBrace) {
        this.#depth--;
        if (this.#depth === 0) return this.#finish(at + 1);
      }
    }
    return end;
  }

  #finish(at: number): number {
    this.done = true;
    return at;
  }
}
