/**
 * Sorts objects by a number in linear time: an LSD radix sort with digits of 16 bits (Knuth, vol. 3, 5.2.5). A comparison
 * sort of some millions would take seconds.
 */

const digitBits = 16;
const digitValues = 1 << digitBits;
/** Numbers are integers below 2^48. */
const digits = 3;

/** Returns `nodes` in a new order. Stable. */
export function sortByNumber(
  nodes: Uint32Array,
  numberOf: (node: number) => number,
  direction: 'ascending' | 'descending',
): Uint32Array {
  const count = nodes.length;
  let from = nodes.slice();
  let to = new Uint32Array(count);
  const numbers = new Float64Array(count);
  for (let n = 0; n < count; n++) numbers[n] = numberOf(nodes[n]!);
  let keys = numbers;
  let nextKeys = new Float64Array(count);
  const places = new Uint32Array(digitValues);
  for (let digit = 0; digit < digits; digit++) {
    const unit = 2 ** (digit * digitBits);
    places.fill(0);
    for (let n = 0; n < count; n++) places[digitOf(keys[n]!, unit)]!++;
    // All numbers have the same digit here: already in order.
    if (count === 0 || places[digitOf(keys[0]!, unit)] === count) continue;
    sumUp(places, direction);
    for (let n = 0; n < count; n++) {
      const place = places[digitOf(keys[n]!, unit)]!++;
      to[place] = from[n]!;
      nextKeys[place] = keys[n]!;
    }
    [from, to] = [to, from];
    [keys, nextKeys] = [nextKeys, keys];
  }
  return from;
}

/** Concatenated lists of nodes; list `n` is the range from `first[n]` to `first[n + 1]`. */
export interface NodeLists {
  first: Uint32Array;
  nodes: Uint32Array;
}

/** Puts each node into its list, keeping the order. */
export function splitIntoLists(
  nodes: Uint32Array,
  lists: number,
  listOf: (node: number) => number | undefined,
): NodeLists {
  const first = new Uint32Array(lists + 1);
  let count = 0;
  for (const node of nodes) {
    const list = listOf(node);
    if (list === undefined) continue;
    first[list + 1]!++;
    count++;
  }
  for (let list = 0; list < lists; list++) first[list + 1]! += first[list]!;
  const next = first.slice();
  const split = new Uint32Array(count);
  for (const node of nodes) {
    const list = listOf(node);
    if (list !== undefined) split[next[list]!++] = node;
  }
  return { first, nodes: split };
}

export const listOf = ({ first, nodes }: NodeLists, list: number): Uint32Array =>
  nodes.subarray(first[list], first[list + 1]);

const digitOf = (key: number, unit: number): number => Math.floor(key / unit) % digitValues;

/** Computes where the first number with each digit goes. */
function sumUp(places: Uint32Array, direction: 'ascending' | 'descending'): void {
  let sum = 0;
  for (let n = 0; n < digitValues; n++) {
    const value = direction === 'ascending' ? n : digitValues - 1 - n;
    const count = places[value]!;
    places[value] = sum;
    sum += count;
  }
}
