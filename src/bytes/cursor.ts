/**
 * A bounds-checked reader of little-endian bytes. Every read beyond the end throws MalformedInput with format, field and
 * offset. LEB128 as in DWARF 5, §7.6. Independent of formats.
 */
import { MalformedInput } from '../errors.ts';

export class ByteCursor {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  readonly #format: string;
  /** Index of the next byte, 0-based; may be set to any position up to the end. */
  position: number;

  constructor(bytes: Uint8Array, format: string, position = 0) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#format = format;
    this.position = position;
  }

  get remaining(): number {
    return this.bytes.length - this.position;
  }

  u8(field: string): number {
    return this.#view.getUint8(this.#take(1, field));
  }

  i8(field: string): number {
    return this.#view.getInt8(this.#take(1, field));
  }

  u16(field: string): number {
    return this.#view.getUint16(this.#take(2, field), true);
  }

  i16(field: string): number {
    return this.#view.getInt16(this.#take(2, field), true);
  }

  u32(field: string): number {
    return this.#view.getUint32(this.#take(4, field), true);
  }

  i32(field: string): number {
    return this.#view.getInt32(this.#take(4, field), true);
  }

  u64(field: string): bigint {
    return this.#view.getBigUint64(this.#take(8, field), true);
  }

  i64(field: string): bigint {
    return this.#view.getBigInt64(this.#take(8, field), true);
  }

  /** A 64-bit value that must be a safe integer: an offset, a size, a user-space address. */
  size64(field: string): number {
    const at = this.position;
    const value = this.u64(field);
    if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
    throw this.error(field, at, 'a number below 2^53', `${value}`);
  }

  /** Unsigned LEB128 of at most 64 bits. */
  uleb(field: string): bigint {
    return BigInt.asUintN(64, this.#leb(field).value);
  }

  /** Signed LEB128 of at most 64 bits. */
  sleb(field: string): bigint {
    const { value, bits, negative } = this.#leb(field);
    return negative && bits < 64 ? value - (1n << BigInt(bits)) : BigInt.asIntN(64, value);
  }

  take(length: number, field: string): Uint8Array {
    const at = this.#take(length, field);
    return this.bytes.subarray(at, at + length);
  }

  /** A zero-terminated string, decoded as Latin-1 (which preserves every byte). */
  cString(field: string): string {
    const end = this.bytes.indexOf(0, this.position);
    if (end < 0) throw this.error(field, this.position, 'a zero byte', 'the end');
    const text = Buffer.from(this.bytes.buffer, this.bytes.byteOffset + this.position, end - this.position);
    this.position = end + 1;
    return text.toString('latin1');
  }

  error(field: string, offset: number, wanted: string, available: string): MalformedInput {
    return new MalformedInput(`${this.#format}: ${field}: wanted ${wanted}, found ${available}`, {
      format: this.#format,
      field,
      offset,
      wanted,
      available,
    });
  }

  #leb(field: string): { value: bigint; bits: number; negative: boolean } {
    let value = 0n;
    let bits = 0;
    for (;;) {
      const at = this.position;
      const byte = this.u8(field);
      value |= BigInt(byte & 0x7f) << BigInt(bits);
      bits += 7;
      if (byte < 0x80) return { value, bits, negative: (byte & 0x40) !== 0 };
      if (bits >= 70) throw this.error(field, at, 'a LEB128 of at most 10 bytes', 'a longer one');
    }
  }

  #take(length: number, field: string): number {
    const at = this.position;
    if (length < 0 || at < 0 || at + length > this.bytes.length)
      throw this.error(field, at, `${length} bytes`, `${Math.max(0, this.bytes.length - at)}`);
    this.position = at + length;
    return at;
  }
}
