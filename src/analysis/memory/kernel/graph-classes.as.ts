/** Shapes of plain objects, class rows and their sums: the counterpart of shapes.ts, classes.ts and class-aggregates.ts. */
import {
  classCountAt,
  classDistanceAt,
  classOpenAt,
  classRetainedAt,
  classSelfAt,
  distanceAt,
  dominatedAt,
  edgeNameAt,
  edgeNameHighAt,
  firstAt,
  firstEdgeAt,
  nameAt,
  nodes,
  packedAt,
  placeOfAt,
  plainAt,
  plainStateAt,
  queueAt,
  retainedAt,
  rowAt,
  rowAtPlaceAt,
  rowOf,
  rowOfNameAt,
  rowOfTypeAt,
  shallowAt,
  stateCountAt,
  stateFirstAt,
  stateRoom,
  trieAt,
  typeAt,
  typeShift,
} from './graph-columns';

let tableAt: usize = 0;
let mask: u32 = 0;
export let states: i32 = 0;
const firstSlots: u32 = 1 << 12;

/**
 * PropertyLists of shapes.ts: walks down a trie of names for each plain object. Writes the plain objects with their states
 * (-1: more than `mostListed` properties) and, by state, how many objects have it and the first of them. Returns the number
 * of plain objects, or -1 if there are more states than fit.
 */
export function findShapes(object: u32, objectName: u32, property: u32, mostListed: u32): i32 {
  let plain: i32 = 0;
  states = 1;
  mask = firstSlots - 1;
  tableAt = trieAt;
  memory.fill(tableAt, 0, <usize>firstSlots * 12);
  store<u32>(stateCountAt, 0);
  for (let node: u32 = 0; node < nodes; node++) {
    if (<u32>load<u8>(typeAt + node) !== object) continue;
    if (load<u32>(nameAt + ((<usize>node) << 2)) !== objectName) continue;
    let state: i32 = 0;
    let length: u32 = 0;
    const end = load<u32>(firstEdgeAt + ((<usize>node) << 2), 4);
    for (let edge = load<u32>(firstEdgeAt + ((<usize>node) << 2)); edge < end; edge++) {
      if (load<u32>(packedAt + ((<usize>edge) << 2)) >>> typeShift !== property) continue;
      length++;
      if (length > mostListed) {
        state = -1;
        break;
      }
      const high = <u32>load<u8>(edgeNameHighAt + edge);
      state = next(state, <u32>load<u16>(edgeNameAt + ((<usize>edge) << 1)) | (high << 16));
      if (state < 0) return -1;
    }
    store<u32>(plainAt + ((<usize>plain) << 2), node);
    store<i32>(plainStateAt + ((<usize>plain) << 2), state);
    plain++;
    if (state < 0) continue;
    const count = stateCountAt + ((<usize>state) << 2);
    if (load<u32>(count) === 0) store<u32>(stateFirstAt + ((<usize>state) << 2), node);
    store<u32>(count, load<u32>(count) + 1);
  }
  return plain;
}

/** IndexTrie.next of shapes.ts; -1 if there is no room for another state. */
function next(state: i32, index: u32): i32 {
  let slot = findSlot(state, index);
  if (load<i32>(slot, 8) === 0) {
    if (states === <i32>stateRoom) return -1;
    if (<u32>states * 2 > mask) {
      growTrie();
      slot = findSlot(state, index);
    }
    store<i32>(slot, state);
    store<u32>(slot, index, 4);
    store<i32>(slot, states, 8);
    store<u32>(stateCountAt + ((<usize>states) << 2), 0);
    states++;
  }
  return load<i32>(slot, 8);
}

function findSlot(state: i32, index: u32): usize {
  let hash: u32 = (<u32>state * 0x9e3779b1) ^ (index * 0x85ebca6b);
  hash ^= hash >>> 15;
  let at = hash & mask;
  while (true) {
    const slot = tableAt + <usize>at * 12;
    if (load<i32>(slot, 8) === 0) return slot;
    if (load<i32>(slot) === state && load<u32>(slot, 4) === index) return slot;
    at = (at + 1) & mask;
  }
}

/** Each table is placed after the previous one. */
function growTrie(): void {
  const old = tableAt;
  const end = tableAt + <usize>(mask + 1) * 12;
  mask = mask * 2 + 1;
  tableAt = end;
  memory.fill(tableAt, 0, <usize>(mask + 1) * 12);
  for (let slot = old; slot < end; slot += 12) {
    if (load<i32>(slot, 8) === 0) continue;
    const to = findSlot(load<i32>(slot), load<u32>(slot, 4));
    store<i32>(to, load<i32>(slot));
    store<u32>(to, load<u32>(slot, 4), 4);
    store<i32>(to, load<i32>(slot, 8), 8);
  }
}

/**
 * The rows of classes.ts. A type other than `object` and `native` is one class. For these two a class is a name at a place,
 * and for objects only the last name at a place is cached. Unknown rows are requested from TypeScript.
 */
export function assignRows(object: u32, native: u32, strings: u32, places: u32): void {
  memory.fill(rowOfTypeAt, 0, rowOfNameAt - rowOfTypeAt + ((<usize>strings) << 2));
  memory.fill(rowAtPlaceAt, 0, (<usize>places) << 3);
  for (let node: u32 = 0; node < nodes; node++) {
    const type = <u32>load<u8>(typeAt + node);
    const name = load<u32>(nameAt + ((<usize>node) << 2));
    const place: u32 = type === object ? load<u32>(placeOfAt + ((<usize>node) << 2)) : 0;
    let known: usize = 0;
    let row: i32 = 0;
    if (type !== object && type !== native) known = rowOfTypeAt + ((<usize>type) << 2);
    else if (place === 0) known = rowOfNameAt + ((<usize>name) << 2);
    else {
      known = rowAtPlaceAt + ((<usize>place) << 3);
      if (load<u32>(known, 4) !== name) store<i32>(known, 0);
      store<u32>(known, name, 4);
    }
    row = load<i32>(known);
    if (row === 0) {
      row = rowOf(node) + 1;
      store<i32>(known, row);
    }
    store<u32>(rowAt + ((<usize>node) << 2), row - 1);
  }
}

/** sumUp of class-aggregates.ts. */
export function sumClasses(rows: u32, noDistance: i32): void {
  memory.fill(classCountAt, 0, (<usize>rows) << 2);
  memory.fill(classSelfAt, 0, (<usize>rows) << 3);
  memory.fill(classRetainedAt, 0, (<usize>rows) << 3);
  memory.fill(classOpenAt, 0, <usize>rows);
  for (let row: u32 = 0; row < rows; row++) store<i32>(classDistanceAt + ((<usize>row) << 2), noDistance);
  for (let node: u32 = 0; node < nodes; node++) {
    const size = load<u32>(shallowAt + ((<usize>node) << 2));
    if (size === 0) continue;
    const row = <usize>load<u32>(rowAt + ((<usize>node) << 2));
    const count = classCountAt + (row << 2);
    store<u32>(count, load<u32>(count) + 1);
    const sum = classSelfAt + (row << 3);
    store<f64>(sum, load<f64>(sum) + <f64>size);
    const distance = load<i32>(distanceAt + ((<usize>node) << 2));
    if (distance < load<i32>(classDistanceAt + (row << 2)))
      store<i32>(classDistanceAt + (row << 2), distance);
  }
}

/** addRetained of class-aggregates.ts. */
export function sumClassesRetained(root: u32): void {
  let depth: u32 = 1;
  store<i32>(queueAt, root);
  while (depth > 0) {
    depth--;
    const node = load<i32>(queueAt + ((<usize>depth) << 2));
    if (node < 0) {
      store<u8>(classOpenAt + <usize>~node, 0);
      continue;
    }
    let at = load<u32>(firstAt + ((<usize>node) << 2));
    const end = load<u32>(firstAt + ((<usize>node) << 2), 4);
    const row = <usize>load<u32>(rowAt + ((<usize>node) << 2));
    if (!load<u8>(classOpenAt + row) && load<u32>(shallowAt + ((<usize>node) << 2)) !== 0) {
      const sum = classRetainedAt + (row << 3);
      store<f64>(sum, load<f64>(sum) + load<f64>(retainedAt + ((<usize>node) << 3)));
      if (at !== end) {
        store<u8>(classOpenAt + row, 1);
        store<i32>(queueAt + ((<usize>depth) << 2), ~(<i32>row));
        depth++;
      }
    }
    for (; at < end; at++) {
      store<u32>(queueAt + ((<usize>depth) << 2), load<u32>(dominatedAt + ((<usize>at) << 2)));
      depth++;
    }
  }
}
