/**
 * Blanks Node's own scripts, which are stored as text in its executable. An account reads half a megabyte of them to count
 * lines; a mini core keeps only the lines that were shown. Text in between is replaced by its line breaks, then spaces, which
 * compress to almost nothing.
 */
import type { OuterText } from '../../../formats/v8/frames/script.ts';

const space = 0x20;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** The other line terminators of V8, both beyond one byte. */
const separators = [0x2028, 0x2029];

/** Changes `target`, the memory at address `start`. */
export function blankTexts(target: Uint8Array, start: number, texts: readonly OuterText[]): void {
  for (const text of texts) {
    const { address, bytesPerUnit, length, shown } = text;
    const from = Math.max(start, address);
    const to = Math.min(start + target.length, address + length * bytesPerUnit);
    const first = Math.ceil((from - address) / bytesPerUnit);
    const last = Math.floor((to - address) / bytesPerUnit);
    if (first >= last) continue;
    const units = new Units(target, address - start, bytesPerUnit);
    let at = first;
    for (const [keptFrom, keptTo] of [...shown].sort((a, b) => a[0] - b[0])) {
      if (keptFrom > at) blank(units, at, Math.min(keptFrom, last));
      at = Math.max(at, keptTo);
      if (at >= last) break;
    }
    if (at < last) blank(units, at, last);
  }
}

/** Characters of one or two bytes, by their index in the text. */
class Units {
  readonly #view: DataView;
  readonly #offset: number;
  readonly #size: 1 | 2;

  constructor(bytes: Uint8Array, offset: number, size: 1 | 2) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#offset = offset;
    this.#size = size;
  }

  /** Undefined outside of the bytes. */
  at(i: number): number | undefined {
    const place = this.#offset + i * this.#size;
    if (place + this.#size > this.#view.byteLength) return undefined;
    return this.#size === 1 ? this.#view.getUint8(place) : this.#view.getUint16(place, true);
  }

  set(i: number, code: number): void {
    const place = this.#offset + i * this.#size;
    if (this.#size === 1) this.#view.setUint8(place, code);
    else this.#view.setUint16(place, code, true);
  }
}

function blank(units: Units, from: number, to: number): void {
  let lines = 0;
  for (let i = from; i < to; i++) if (endsLine(units, i)) lines++;
  for (let i = from; i < to; i++) units.set(i, i < from + lines ? lineFeed : space);
}

function endsLine(units: Units, i: number): boolean {
  const code = units.at(i);
  if (code === carriageReturn) return units.at(i + 1) !== lineFeed;
  return code === lineFeed || separators.includes(code ?? 0);
}
