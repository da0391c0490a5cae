/** Name, type and size of the nodes of most objects: the counterpart of node-facts.ts, and of the hashed texts of names.ts. */
import {
  addWithheld,
  batchNamesAt,
  batchSizesAt,
  batchTypesAt,
  firstReadOnly,
  liveAt,
  mapOf,
  nextOf,
  nodeNamesAt,
  nodeRoom,
  nodeSlotsAt,
  nodeTypesAt,
  nodeWaysAt,
  rowsAt,
  sizeOf,
  slots,
  textsAt,
} from './heap-memory';

/** Values of `NodeWay` in heap-kernel.ts. */
const same: u32 = 1;
const oneByte: u32 = 2;
const twoByte: u32 = 3;
/** Type of a node that must be read in TypeScript. */
const unread: u32 = 0xff;
/** A number of words that gives the size no 32 bits. */
const mostWords: u32 = 1 << 28;
/** V8 truncates names to this length. */
const mostUnits: u32 = 1024;

let textRows: u32 = 0;
/** Rows that are taken. */
let texts: u32 = 0;
let lengthAt: usize = 0;
let charsAt: usize = 0;
let isConstantEmpty: bool = false;
export let next: i32 = 0;

/**
 * `rows`: room for twice as many texts. `length`, `chars`: where a string has them. `empty`: whether constants have size 0.
 */
export function startNodes(rows: u32, length: u32, chars: u32, empty: bool): void {
  textRows = rows;
  lengthAt = length;
  charsAt = chars;
  isConstantEmpty = empty;
  next = 0;
}

/** Reads the next nodes into a batch, up to `most`; returns how many. */
export function readNodes(most: u32): u32 {
  let object = next < 0 ? -1 : nextOf(liveAt, next);
  let row: u32 = 0;
  const end = most < nodeRoom ? most : nodeRoom;
  while (object >= 0 && row < end) {
    const map = mapOf(object);
    const way: u32 = map < 0 ? 0 : <u32>load<u8>(nodeWaysAt + map);
    const words = sizeOf(object);
    let type = unread;
    let name: u32 = 0;
    if (way >= same && way <= twoByte && words < mostWords) {
      type = <u32>load<u8>(nodeTypesAt + map);
      name = way === same ? load<u32>(nodeNamesAt + ((<usize>map) << 2)) : textOf(object, way);
    }
    const isFree = isConstantEmpty && object >= firstReadOnly;
    store<u32>(nodeSlotsAt + ((<usize>row) << 2), object);
    store<u8>(batchTypesAt + row, <u8>type);
    store<u32>(batchNamesAt + ((<usize>row) << 2), name);
    store<u32>(batchSizesAt + ((<usize>row) << 2), isFree ? 0 : words << 3);
    row++;
    object = nextOf(liveAt, object + 1);
  }
  next = object;
  return row;
}

/** The number of the text of a string, which is the same for equal texts. */
function textOf(object: u32, way: u32): u32 {
  const at = rowsAt + ((<usize>object) << 3);
  const end = rowsAt + ((<usize>slots) << 3);
  if (at + charsAt > end) return addWithheld();
  const length = load<i32>(at + lengthAt);
  const units: u32 = length > <i32>mostUnits ? mostUnits : <u32>length;
  const bytes = way === oneByte ? units : units << 1;
  const from = at + charsAt;
  if (length < 0 || from + ((bytes + 3) & ~3) > end) return addWithheld();
  let high: u32 = bytes;
  let low: u32 = ~bytes;
  const whole = from + (bytes & ~3);
  for (let word = from; word < whole; word += 4) {
    const value = load<u32>(word);
    high = (high ^ value ^ (high >>> 15)) * 0x01000193;
    low = ((low << 5) ^ (low >>> 3) ^ value) * 0x5bd1e995;
  }
  if ((bytes & 3) !== 0) {
    const value = load<u32>(whole) & ((1 << ((bytes & 3) << 3)) - 1);
    high = (high ^ value ^ (high >>> 15)) * 0x01000193;
    low = ((low << 5) ^ (low >>> 3) ^ value) * 0x5bd1e995;
  }
  return numberOfText(high ^ (high >>> 16), low);
}

function numberOfText(high: u32, low: u32): u32 {
  let row = <u32>((<u64>((high ^ (low >>> 7)) * 0x9e3779b1) * textRows) >>> 32);
  while (true) {
    const at = textsAt + <usize>row * 12;
    const known = load<u32>(at, 8);
    if (known === 0) {
      const number = addWithheld();
      // A row must stay empty, or the search for a text that is in none has no end.
      if (texts + 1 >= textRows) return number;
      texts++;
      store<u32>(at, high);
      store<u32>(at, low, 4);
      store<u32>(at, number + 1, 8);
      return number;
    }
    if (load<u32>(at) === high && load<u32>(at, 4) === low) return known - 1;
    if (++row === textRows) row = 0;
  }
}
