/**
 * The inner loops of the scanner, in AssemblyScript (https://www.assemblyscript.org). WebAssembly is fast from its first pass
 * on, whereas a small snapshot is read before V8 has compiled the same loops in JavaScript; later it is twice as fast. `npm
 * run build:kernel` compiles this file into scan-code.ts. Accepts whole records in the form in which V8 writes them, and
 * stops before anything else, which the readers in TypeScript then parse or reject. Each window ends with NUL bytes.
 */

/** Start of the window of 1 MB; the tables are below it. */
export const windowAt: usize = 4096;
/** By the first byte of an edge: `noKind`, or our code in the upper bits; the lower 24 bits are set if it has a name. */
export const edgeKindsAt: usize = 0;
const noKind: u32 = 1 << 28;
const codeBits: u32 = 0xe0000000;
/** By the file's number of a node type: our code, or 255. */
export const nodeCodesAt: usize = 1024;
/** By field position in a node's record: the slot for its number, in the order of `Slot`. */
export const fieldSlotsAt: usize = 1280;
const slotsAt: usize = 1792;
/** By the length of a number: masks for its digits among the eight bytes before its end, keeping their lower four bits. */
const masksAt: usize = 2048;
const constantsAt: usize = 2304;
export const outAt: usize = 4096 + (1 << 20) + 4096;
/** Maximum number of rows per call. */
export const edgeRows: i32 = 1 << 17;
export const nodeRows: i32 = 1 << 16;
export const stringRows: i32 = 1 << 17;
/** Maximum number of numbers per call of scanNumbers. */
export const numberCount: i32 = 1 << 18;

const nameAt: usize = outAt + (edgeRows << 2);
const nameHighAt: usize = nameAt + (edgeRows << 1);

/** Set by each call: position of the first byte that was not consumed. */
export let position: usize = 0;
/** Highest index into the strings so far. */
export let maxName: u32 = 0;
/** Number of edges of all nodes so far. */
export let edgeSum: u32 = 0;

const comma: u32 = 44;
const newline: u32 = 10;

const lowerHalves: u64 = u64.MAX_VALUE / 17;
for (let length: u32 = 0; length < 32; length++)
  store<u64>(length << 3, lowerHalves << (length > 7 ? 0 : 64 - 8 * <u64>length), masksAt);
// After adding 70, exactly the digits are 118 or more as signed bytes.
v128.store(constantsAt, i8x16.splat(70));
v128.store(constantsAt, i8x16.splat(118), 16);
v128.store(constantsAt, i16x8.splat(10 * 256 + 1), 32);
v128.store(constantsAt, i32x4.splat((1 << 16) + 100), 48);
v128.store(constantsAt, i32x4.splat((1 << 16) + 10_000), 64);

/**
 * Edges as three numbers, the type first. Output columns: packed words, lower halves of names, third bytes of names. There is
 * no branch on the length of a number: the ends are looked up in a mask, and the digits of both numbers are combined at once.
 * Only the step from one end to the next depends on the previous record.
 */
export function scanEdges(start: usize, limit: i32, nodeFields: u32, nodeCount: u32): i32 {
  // Exact for numbers of nine digits (Granlund, Montgomery 1994); checked against the product below.
  const shift: u64 = 94 - clz(<u64>nodeFields - 1);
  const inverse: u64 = ((<u64>1) << shift) / nodeFields + 1;
  // Loaded from memory, because the compiler would materialise a constant again for each record.
  const upwards = v128.load(constantsAt);
  const nine = v128.load(constantsAt, 16);
  const tens = v128.load(constantsAt, 32);
  const hundreds = v128.load(constantsAt, 48);
  const thousands = v128.load(constantsAt, 64);
  let at = start;
  let row: i32 = 0;
  let max = maxName;
  while (row < limit) {
    const kind = load<u32>((<u32>load<u8>(at)) << 2, edgeKindsAt);
    // A bit for each byte that is not a digit, starting at the name: the first ends the name, the second the target.
    let ends = i8x16.bitmask(i8x16.lt_s(i8x16.add(v128.load(at, 2), upwards), nine));
    let rest = ends & (ends - 1);
    if (rest === 0) {
      ends |= i8x16.bitmask(i8x16.lt_s(i8x16.add(v128.load(at, 18), upwards), nine)) << 16;
      rest = ends & (ends - 1);
      if (rest === 0) break;
    }
    const nameLength = <u32>ctz(ends);
    const bothLength = <u32>ctz(rest);
    const toLength = bothLength - nameLength - 1;
    const nameEnd = at + nameLength;
    const toEnd = at + bothLength;
    if ((<u32>load<u8>(at, 1) ^ comma) | (<u32>load<u8>(nameEnd, 2) ^ comma) | (kind & noKind)) break;
    // Combines the last eight digits of both numbers in pairs, then fours, then eights.
    let digits = v128.load64_lane(toEnd - 6, v128.load64_zero(nameEnd - 6), 1);
    const kept = v128.load64_lane(toLength << 3, v128.load64_zero(nameLength << 3, masksAt), 1, masksAt);
    digits = i16x8.shr_u(i16x8.mul(v128.and(digits, kept), tens), 8);
    digits = i32x4.dot_i16x8_s(digits, hundreds);
    digits = i32x4.dot_i16x8_s(i16x8.narrow_i32x4_u(digits, digits), thousands);
    const both = <u64>i64x2.extract_lane(digits, 0);
    const name = <u32>both;
    let to = <u32>(both >>> 32);
    if (((nameLength - 1) | (toLength - 1)) & ~7) {
      if (nameLength - 1 > 7 || toLength !== 9) break;
      to += 100_000_000 * (<u32>load<u8>(nameEnd, 3) - 48);
    }
    const ordinal = <u32>((<u64>to * inverse) >>> shift);
    if (((name + 1) >>> 24) | ((ordinal * nodeFields) ^ to)) break;
    if (ordinal >= nodeCount) break;
    const end = <u32>load<u8>(toEnd, 2);
    if (end === comma) at = toEnd + 3;
    else if (end === newline && <u32>load<u8>(toEnd, 3) === comma) at = toEnd + 4;
    else break;
    store<u32>(row << 2, (kind & codeBits) | ordinal, outAt);
    store<u16>(row << 1, <u16>name, nameAt);
    store<u8>(row, <u8>(name >>> 16), nameHighAt);
    const text = name & kind;
    max = text > max ? text : max;
    row++;
  }
  position = at;
  maxName = max;
  return row;
}

/** Nodes. Output columns: type, name, id, self size, row of the first edge, one after the other with space for nodeRows. */
export function scanNodes(start: usize, limit: i32, fieldCount: i32): i32 {
  let recordStart = start;
  let row: i32 = 0;
  let max = maxName;
  let edges: u64 = edgeSum;
  while (row < limit) {
    let at = recordStart;
    let field = 0;
    for (; field < fieldCount; field++) {
      const first = at;
      let value: u32 = 0;
      let digit = <u32>load<u8>(at) - 48;
      while (digit <= 9) {
        value = value * 10 + digit;
        digit = <u32>load<u8>(++at) - 48;
      }
      if (at - first - 1 > 8) break;
      if (digit === comma - 48) at++;
      else if (digit === newline - 48 && <u32>load<u8>(at, 1) === comma) at += 2;
      else break;
      store<u32>(slotsAt + ((<usize>load<u8>(fieldSlotsAt + field)) << 2), value);
    }
    if (field < fieldCount) break;
    const type = load<u32>(slotsAt);
    if (type > 255) break;
    const code = <u32>load<u8>(nodeCodesAt + type);
    // There is no column for values that few nodes have (a trace, detachedness).
    if (code === 255 || (load<u32>(slotsAt, 20) | load<u32>(slotsAt, 24)) !== 0) break;
    const next = edges + load<u32>(slotsAt, 16);
    if (next > 0xffffffff) break;
    const name = load<u32>(slotsAt, 4);
    if (name > max) max = name;
    const word = outAt + nodeRows + (row << 2);
    store<u8>(outAt + row, <u8>code);
    store<u32>(word, name);
    store<u32>(word + (nodeRows << 2), load<u32>(slotsAt, 8));
    store<u32>(word + (nodeRows << 3), load<u32>(slotsAt, 12));
    store<u32>(word + 3 * (nodeRows << 2), <u32>edges);
    edges = next;
    row++;
    recordStart = at;
  }
  position = recordStart;
  maxName = max;
  edgeSum = <u32>edges;
  return row;
}

/** Records of any meaning; the output is their numbers one after the other. */
export function scanNumbers(start: usize, limit: i32, fieldCount: i32): i32 {
  let recordStart = start;
  let out = outAt;
  let row: i32 = 0;
  while (row < limit) {
    let at = recordStart;
    let field = 0;
    for (; field < fieldCount; field++) {
      const first = at;
      let value: u32 = 0;
      let digit = <u32>load<u8>(at) - 48;
      while (digit <= 9) {
        value = value * 10 + digit;
        digit = <u32>load<u8>(++at) - 48;
      }
      if (at - first - 1 > 8) break;
      if (digit === comma - 48) at++;
      else if (digit === newline - 48 && <u32>load<u8>(at, 1) === comma) at += 2;
      else break;
      store<u32>(out + (field << 2), value);
    }
    if (field < fieldCount) break;
    out += (<usize>fieldCount) << 2;
    row++;
    recordStart = at;
  }
  position = recordStart;
  return row;
}

/** Number of commas in [start, end); -1 if there is anything but numbers. */
export function countCommas(start: usize, end: usize): i32 {
  const commas = i8x16.splat(44);
  const nines = i8x16.splat(57);
  let others = i8x16.splat(0);
  let count: i32 = 0;
  let at = start;
  for (; at + 16 <= end; at += 16) {
    const bytes = v128.load(at);
    others = v128.or(others, i8x16.gt_u(bytes, nines));
    count += popcnt(i8x16.bitmask(i8x16.eq(bytes, commas)));
  }
  for (; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (byte > 57) return -1;
    if (byte === comma) count++;
  }
  return v128.any_true(others) ? -1 : count;
}

/** Scans whole strings separated by commas, from an opening quote. Outputs the offset of each opening quote, plus `base`. */
export function scanStrings(start: usize, end: usize, limit: i32, base: f64): i32 {
  const quotes = i8x16.splat(34);
  const backslashes = i8x16.splat(92);
  let row: i32 = 0;
  let taken = start;
  let opening = start;
  while (row < limit) {
    let at = opening + 1;
    while (at < end) {
      const bytes = v128.load(at);
      const hits = i8x16.bitmask(v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, backslashes)));
      if (hits === 0) {
        at += 16;
        continue;
      }
      at += ctz(hits);
      if (<u32>load<u8>(at) === 34) break;
      at += 2;
    }
    if (at >= end) break;
    store<f64>(outAt + (row << 3), base + <f64>(opening - start));
    row++;
    taken = at + 1;
    if (<u32>load<u8>(taken) !== comma) break;
    opening = taken + 1;
    if (<u32>load<u8>(opening) === newline) opening++;
    if (<u32>load<u8>(opening) !== 34 || opening >= end) break;
  }
  position = taken;
  return row;
}
