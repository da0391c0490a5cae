/**
 * The inner loops of the scanner, in AssemblyScript (https://www.assemblyscript.org): WebAssembly is fast from its first
 * pass on, where a small snapshot is read before V8 has compiled the same loops in JavaScript, and twice as fast later.
 * `npm run build:kernel` compiles this file into scan-code.ts. Takes what V8 writes, in whole records; stops before
 * whatever looks different, which the readers in TypeScript then take or refuse. Each window ends with NUL bytes.
 */

/** Where a window of 1 MB starts; below it are the tables. */
export const windowAt: usize = 4096;
/** By the file's number of an edge type (one digit): our code, or 255. */
export const edgeCodesAt: usize = 0;
/** By the file's number of a node type: our code, or 255. */
export const nodeCodesAt: usize = 256;
/** By position in a node's record: the slot in which the number is wanted, in the order of `Slot`. */
export const fieldSlotsAt: usize = 512;
const slotsAt: usize = 1024;
export const outAt: usize = 4096 + (1 << 20) + 4096;
/** Most rows that a call gives. */
export const edgeRows: i32 = 1 << 17;
export const nodeRows: i32 = 1 << 16;
export const stringRows: i32 = 1 << 17;
/** Most numbers that scanNumbers gives. */
export const numberCount: i32 = 1 << 18;

const nameAt: usize = outAt + (edgeRows << 2);
const nameHighAt: usize = nameAt + (edgeRows << 1);

/** Set by each call: the first byte that was not taken. */
export let position: usize = 0;
/** Highest index into the strings so far. */
export let maxName: u32 = 0;
/** Edges of all nodes so far. */
export let edgeSum: u32 = 0;

const comma: u32 = 44;
const newline: u32 = 10;

/** Edges as three numbers, the type first: columns of packed words, names' lower halves, names' third bytes. */
export function scanEdges(start: usize, limit: i32, nodeFields: u32, nodeCount: u32): i32 {
  const perNode: f64 = 1.0 / <f64>nodeFields;
  let recordStart = start;
  let row: i32 = 0;
  let max = maxName;
  while (row < limit) {
    let at = recordStart;
    const kind = <u32>load<u8>(at) - 48;
    if (kind > 9) break;
    const code = <u32>load<u8>(edgeCodesAt + kind);
    if (code > 7 || <u32>load<u8>(at, 1) !== comma) break;
    at += 2;
    const nameStart = at;
    let name: u32 = 0;
    let digit = <u32>load<u8>(at) - 48;
    while (digit <= 9) {
      name = name * 10 + digit;
      digit = <u32>load<u8>(++at) - 48;
    }
    if (digit !== comma - 48 || at - nameStart - 1 > 8 || name >= 0xffffff) break;
    const toStart = ++at;
    let to: u32 = 0;
    digit = <u32>load<u8>(at) - 48;
    while (digit <= 9) {
      to = to * 10 + digit;
      digit = <u32>load<u8>(++at) - 48;
    }
    if (at - toStart - 1 > 8) break;
    // The product is off by less than the half that is added, so the floor is the quotient where there is one.
    const ordinal = <u32>((<f64>to + 0.5) * perNode);
    if (ordinal * nodeFields !== to || ordinal >= nodeCount) break;
    if (digit === comma - 48) at++;
    else if (digit === newline - 48 && <u32>load<u8>(at, 1) === comma) at += 2;
    else break;
    store<u32>(outAt + (row << 2), (code << 29) | ordinal);
    store<u16>(nameAt + (row << 1), <u16>name);
    store<u8>(nameHighAt + row, <u8>(name >>> 16));
    // Elements and hidden edges have an index there.
    if (name > max && code !== 1 && code !== 4) max = name;
    row++;
    recordStart = at;
  }
  position = recordStart;
  maxName = max;
  return row;
}

/** Nodes: columns of type, name, id, self size, row of the first edge, one after the other with room for nodeRows. */
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
    // What few nodes have (a trace, detachedness) has no column here.
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

/** Records of any meaning, their numbers one after the other. */
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

/** From an opening quote: whole strings with a comma between them. Gives the offset of each quote, above `base`. */
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
