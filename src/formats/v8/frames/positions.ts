/**
 * V8's tables that map code offsets to source positions. Variable-length numbers with 7 bits per byte; the sign is zig-zag
 * encoded in the lowest bit. Source: src/codegen/source-position-table.cc and src/base/vlq.h of V8.
 */

export interface SourcePlace {
  /** Offset in the code. */
  codeOffset: number;
  /** UTF-16 offset in the script, 0-based; negative for none. */
  position: number;
  /** Row of the table of inlined calls; -1 for the function itself. */
  inliningId: number;
}

const positionBits = 30;
const positionMask = 2 ** positionBits - 1;

/**
 * Entries in table order. The sequence ends early if the bytes are invalid, which the caller has to check. `unsignedDeltas`:
 * V8 14 writes code deltas without a sign, multiplied by four, with two flags in the lowest bits.
 */
export function* decodePositions(bytes: Uint8Array, unsignedDeltas: boolean): Generator<SourcePlace> {
  const reader = new VlqReader(bytes);
  let codeOffset = -1;
  let raw = 0;
  while (!reader.atEnd) {
    codeOffset += unsignedDeltas ? Math.floor(reader.unsigned() / 4) : codeDelta(reader.signed());
    raw += reader.signed();
    if (reader.isBroken) return;
    yield {
      codeOffset,
      // Bit 0 marks positions outside of the script; then follow the offset plus one and the inlining id plus one.
      position: (Math.floor(raw / 2) % (positionMask + 1)) - 1,
      inliningId: Math.floor(raw / 2 ** (positionBits + 1)) - 1,
    };
  }
}

/** A negative delta marks an expression position; the delta is then -(value + 1). */
const codeDelta = (value: number) => (value >= 0 ? value : -(value + 1));

/** The last entry at or before the offset. */
export function findPosition(
  bytes: Uint8Array,
  codeOffset: number,
  unsignedDeltas: boolean,
): SourcePlace | undefined {
  let found: SourcePlace | undefined;
  for (const place of decodePositions(bytes, unsignedDeltas)) {
    if (place.codeOffset > codeOffset) break;
    found = place;
  }
  return found;
}

/** Whether all positions are those of a function, if its range is known. Zero stands for code that is in no source. */
export function isWithin(
  bytes: Uint8Array,
  unsignedDeltas: boolean,
  { start, end }: { start?: number; end?: number },
): boolean {
  if (start === undefined || end === undefined) return true;
  for (const { position } of decodePositions(bytes, unsignedDeltas))
    if (position > 0 && (position < start || position > end)) return false;
  return true;
}

export class VlqReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  /** Set if a number exceeded the end of the bytes or 64 bits. */
  isBroken = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number | undefined {
    return this.#bytes[this.#at++];
  }

  unsigned(): number {
    let value = 0;
    let unit = 1;
    for (let i = 0; i < 10; i++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      unit *= 128;
    }
    this.isBroken = true;
    return value;
  }

  /** Zig-zag: 0, -1, 1, -2, 2… */
  signed(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}
