/**
 * CRC-32 (ISO-HDLC, as in zlib and PNG) over part of a buffer, with a seed. zlib's implementation is faster for long inputs,
 * but each call has an overhead of 130–200 ns. Below 450 bytes, the size of most records, a table is faster (232 bytes: 116
 * against 177 ns, 60 bytes: 31 against 130; Node 22). Algorithm: slicing-by-8 of Kounavis and Berry, "A Systematic Approach
 * to Building High Performance Software-Based CRC Generators" (ISCC 2005).
 */
import { crc32 } from 'node:zlib';

const tablePays = 450;
let table: Int32Array | undefined;

/** Checksum of bytes [start, end) of the buffer. `view` is a view of the buffer from its first byte. */
export function checksumOf(buffer: Buffer, view: DataView, start: number, end: number, seed: number): number {
  if (end - start >= tablePays) return crc32(buffer.subarray(start, end), seed);
  table ??= makeTable();
  return sliceByEight(table, view, start, end, seed);
}

function sliceByEight(T: Int32Array, view: DataView, start: number, end: number, seed: number): number {
  let crc = ~seed;
  let at = start;
  for (; at + 8 <= end; at += 8) {
    const low = view.getInt32(at, true) ^ crc;
    const high = view.getInt32(at + 4, true);
    crc =
      T[1792 + (low & 255)]! ^
      T[1536 + ((low >>> 8) & 255)]! ^
      T[1280 + ((low >>> 16) & 255)]! ^
      T[1024 + (low >>> 24)]! ^
      T[768 + (high & 255)]! ^
      T[512 + ((high >>> 8) & 255)]! ^
      T[256 + ((high >>> 16) & 255)]! ^
      T[high >>> 24]!;
  }
  for (; at < end; at++) crc = T[(crc ^ view.getUint8(at)) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** Row k contains the checksums of a byte followed by k zero bytes. */
function makeTable(): Int32Array {
  const T = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
    T[byte] = crc;
  }
  for (let at = 256; at < T.length; at++) T[at] = T[T[at - 256]! & 255]! ^ (T[at - 256]! >>> 8);
  return T;
}
