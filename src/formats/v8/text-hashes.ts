/**
 * Compares texts with the hashes that V8 stored with them: of each name but those of Node's own files and, since V8 12, of each source
 * of up to 16,383 characters. A text that was damaged still looks like one; its hash does not fit any more. The seed differs in each process. It is
 * in a byte array at the start of V8's read-only heap, and recognised by the texts there: with it, their hashes are right, by
 * one of V8's two functions.
 */
import { whereMapped } from '../../bytes/memory.ts';
import { type Tagged, type TextChecker, V8Heap } from './heap/heap.ts';
import { findParts, findString, isInternalized, isStringType, resolveThin } from './strings.ts';
import { commonSecrets, oneAtATime, rapidHash } from './text-hash.ts';

type HashFunction = (text: string) => number;

/** The lowest bits of a hash field: 2 for a hash, 3 for none yet, otherwise the text is a number or shared. */
const kindMask = 3;
const isHash = 2;
export const emptyHash = 3;

/** The hash of a longer text is its length. */
const longestHashed = 16_383;
/** The seed is among the first objects. */
const searchedBytes = 64 << 10;
const pageBytes = 256 << 10;
/** Of so many texts, more than half must have the hash that a seed gives: one of them may be damaged. */
const samples = 12;
const longestSample = 64;
const maxParts = 64;
/** Lengths in bytes of what may be a seed: one word, in later versions with secrets and more. */
const seedLengths = [8, 128] as const;

export class TextHashes implements TextChecker {
  /** Addresses of the hash fields that fit their texts. */
  readonly confirmed = new Set<number>();
  readonly #known = new Map<Tagged, boolean>();
  readonly #unrecorded: <T>(read: () => T) => T;
  #hash: HashFunction | undefined;
  #isSearched = false;

  /** `unrecorded` reads memory that a mini core needs not keep. */
  constructor(unrecorded: <T>(read: () => T) => T) {
    this.#unrecorded = unrecorded;
  }

  contradicts(heap: V8Heap, value: Tagged): boolean {
    let found = this.#known.get(value);
    if (found === undefined) {
      found = whereMapped(() => this.#compare(heap, value)) ?? false;
      this.#known.set(value, found);
    }
    return found;
  }

  /** A name that V8 inferred is put together from texts that are hashed. */
  #compare(heap: V8Heap, value: Tagged): boolean {
    const open = [value];
    for (let i = 0; i < maxParts; i++) {
      const text = open.pop();
      if (text === undefined) break;
      if (this.#isOther(heap, text)) return true;
      open.push(...(findParts(heap, text) ?? []));
    }
    return false;
  }

  #isOther(heap: V8Heap, value: Tagged): boolean {
    const text = resolveThin(heap, value);
    const at = text - 1 + heap.layout.string.hash;
    const stored = heap.memory.readUint32(at);
    if ((stored & kindMask) !== isHash) return false;
    const length = heap.memory.readInt32(text - 1 + heap.layout.string.length);
    const hash = length > longestHashed ? length : this.#hashOf(heap, text, length);
    if (hash === undefined) return false;
    if (hash !== stored >>> 2) return true;
    this.confirmed.add(at);
    return false;
  }

  #hashOf(heap: V8Heap, value: Tagged, length: number): number | undefined {
    if (!this.#isSearched) {
      this.#isSearched = true;
      this.#hash = this.#findFunction(heap, value);
    }
    const text = this.#hash && findString(heap, value, length);
    return text === undefined ? undefined : this.#hash?.(text);
  }

  /**
   * The maps of strings are in the read-only heap, and so is theirs. A heap of its own, since types that were read unrecorded must
   * not be remembered.
   */
  #findFunction(heap: V8Heap, value: Tagged): HashFunction | undefined {
    const page = Math.floor(heap.map(heap.map(value)) / pageBytes) * pageBytes;
    const { seeds, texts } = this.#unrecorded(() => search(new V8Heap(heap.memory, heap.layout), page));
    // A mini core keeps what was found.
    for (const object of [...seeds, ...texts]) heap.findType(object);
    const known = texts.flatMap((text) => {
      const read = findString(heap, text, longestSample);
      return read === undefined
        ? []
        : [{ read, hash: heap.memory.readUint32(text - 1 + heap.layout.string.hash) >>> 2 }];
    });
    const functions = seeds.flatMap((seed) => functionsOf(heap, seed));
    return functions.find((hash) => known.filter((k) => hash(k.read) === k.hash).length * 2 > known.length);
  }
}

/** Byte arrays that may be seeds, and texts that have hashes. */
function search(heap: V8Heap, page: number): { seeds: Tagged[]; texts: Tagged[] } {
  const { memory, layout } = heap;
  const seeds: Tagged[] = [];
  const texts: Tagged[] = [];
  for (let at = page; at < page + searchedBytes; at += 8) {
    const type = heap.findMapType(memory.findWord(at) ?? 0);
    if (type === undefined) continue;
    if (type === layout.types.byteArray) {
      const length = memory.findWord(at + layout.fixedArray.length) ?? 0;
      if (length >= heap.toSmi(seedLengths[0]) && length <= heap.toSmi(seedLengths[1])) seeds.push(at + 1);
    } else if (texts.length < samples && isStringType(type) && isInternalized(type) && isSample(heap, at + 1))
      texts.push(at + 1);
  }
  return { seeds, texts };
}

function isSample(heap: V8Heap, text: Tagged): boolean {
  const { memory, layout } = heap;
  if (!memory.has(text - 1, layout.string.chars)) return false;
  const length = memory.readInt32(text - 1 + layout.string.length);
  return (
    length > 3 &&
    length <= longestSample &&
    memory.has(text - 1, layout.string.chars + length) &&
    (memory.readUint32(text - 1 + layout.string.hash) & kindMask) === isHash
  );
}

function functionsOf(heap: V8Heap, array: Tagged): HashFunction[] {
  const { memory, layout } = heap;
  const length = heap.findSmi(array, layout.fixedArray.length) ?? 0;
  const word = (i: number) => memory.readBigWord(array - 1 + layout.fixedArray.data + 8 * i);
  const seed = word(0);
  const secrets = length >= 32 ? ([word(1), word(2), word(3)] as const) : commonSecrets;
  return [(text) => oneAtATime(text, seed), (text) => rapidHash(text, seed, secrets)];
}
