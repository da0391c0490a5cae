/**
 * V8's tables from places in code to places in source. Variable-length numbers of 7 bits a byte, the sign zig-zagged
 * into the lowest bit. Source: src/codegen/source-position-table.cc and src/base/vlq.h of V8.
 */

export interface SourcePlace {
  /** Offset into the code. */
  codeOffset: number;
  /** UTF-16 offset into the script, 0-based; negative for none. */
  position: number;
  /** Row of the table of inlined calls; -1 for the function itself. */
  inliningId: number;
}

const positionBits = 30;
const positionMask = 2 ** positionBits - 1;

/**
 * Entries in the table's order; the list ends early where the bytes stop making sense (the caller compares what it
 * needs). `unsignedDeltas`: V8 14 writes code deltas without a sign, times four, with two
 * flags in the lowest bits.
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
      // Bit 0 marks positions outside of the script; then the offset plus one; then the inlining id plus one.
      position: (Math.floor(raw / 2) % (positionMask + 1)) - 1,
      inliningId: Math.floor(raw / 2 ** (positionBits + 1)) - 1,
    };
  }
}

/** A negative delta marks an expression: it stands for -(delta + 1). */
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

export class VlqReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  /** Set when a number ran over the end or over 64 bits. */
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
