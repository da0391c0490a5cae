/**
 * Writes batches of records as decimal text, in AssemblyScript (https://www.assemblyscript.org). `npm run build:kernel` compiles
 * this file into digits-code.ts.
 */

/** Most records in a batch. */
export const room: u32 = 1 << 13;
/** The four digits of each number below 10,000, the first in the lowest byte. */
const quadsAt: usize = 4096;
export const typesAt: usize = 45056;
export const namesAt: usize = typesAt + room;
/** Of nodes: the number of edges; of edges: type and target. */
export const wordsAt: usize = namesAt + 4 * room;
export const sizesAt: usize = wordsAt + 4 * room;
export const textAt: usize = sizesAt + 8 * room;

const comma: u8 = 44;
const zero: u8 = 48;
const typeShift: u32 = 29;
const targetMask: u32 = (1 << typeShift) - 1;

let at: usize = 0;

export function start(): void {
  for (let i: u32 = 0; i < 10000; i++) {
    const quad = (i / 1000) | (((i / 100) % 10) << 8) | (((i / 10) % 10) << 16) | ((i % 10) << 24);
    store<u32>(quadsAt + ((<usize>i) << 2), quad | 0x30303030);
  }
}

/** A number below 10,000. All four bytes are written; those behind the digits are overwritten by what follows. */
function putShort(value: u32): void {
  const length = 1 + u32(value > 9) + u32(value > 99) + u32(value > 999);
  store<u32>(at, load<u32>(quadsAt + ((<usize>value) << 2)) >>> ((4 - length) << 3));
  at += length;
}

function putQuad(value: u32): void {
  store<u32>(at, load<u32>(quadsAt + ((<usize>value) << 2)));
  at += 4;
}

function put(value: u32): void {
  if (value < 10000) putShort(value);
  else if (value < 100000000) {
    const upper = value / 10000;
    putShort(upper);
    putQuad(value - upper * 10000);
  } else {
    const top = value / 100000000;
    const rest = value - top * 100000000;
    putShort(top);
    putQuad(rest / 10000);
    putQuad(rest % 10000);
  }
  store<u8>(at++, comma);
}

/** Of a number up to 2^53. */
function putLong(value: u64): void {
  if (value <= 0xffffffff) {
    put(<u32>value);
    return;
  }
  const low = <u32>(value % 100000000);
  put(<u32>(value / 100000000));
  at--;
  putQuad(low / 10000);
  putQuad(low % 10000);
  store<u8>(at++, comma);
}

/** Node records: type, name, id, size, number of edges, and detachedness, which is 0. Returns where the text ends. */
export function writeNodes(count: u32, firstId: u32): u32 {
  at = textAt;
  for (let i: u32 = 0; i < count; i++) {
    put(load<u8>(typesAt + i));
    put(load<u32>(namesAt + ((<usize>i) << 2)));
    put(firstId + 2 * i);
    putLong(<u64>load<f64>(sizesAt + ((<usize>i) << 3)));
    put(load<u32>(wordsAt + ((<usize>i) << 2)));
    store<u8>(at++, zero);
    store<u8>(at++, comma);
  }
  return <u32>at;
}

/** Edge records: type, name or index, position of the target in the list of nodes. Returns where the text ends. */
export function writeEdges(count: u32, fieldsOfNode: u32): u32 {
  at = textAt;
  for (let i: u32 = 0; i < count; i++) {
    const packed = load<u32>(wordsAt + ((<usize>i) << 2));
    put(packed >>> typeShift);
    put(load<u32>(namesAt + ((<usize>i) << 2)));
    put((packed & targetMask) * fieldsOfNode);
  }
  return <u32>at;
}
