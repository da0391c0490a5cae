/**
 * The references of objects with their names, by the program of their map: the counterpart of references.ts, object-cursor.ts and
 * js-object-references.ts for the kinds that most objects are of. Programs are written by programs.ts.
 */
import { codeOf } from './heap-marking';
import {
  byReader,
  constantsAt,
  countsAt,
  edgeRoom,
  firstReadOnly,
  flagsAt,
  indexesAt,
  indexRoom,
  isFixedArray,
  isHole,
  isInessential,
  isMap,
  isOtherFixed,
  isReceiver,
  isTaggedArray,
  largeCount,
  learnIndex,
  learnProgram,
  learnTag,
  liveAt,
  mapOf,
  namesAt,
  nextOf,
  nodeWaysAt,
  numberOf,
  objectAt,
  packedAt,
  programsAt,
  readObject,
  sizeOf,
  tagStepsAt,
  tagsAt,
  takeEdges,
  wordOf,
} from './heap-memory';

/** Values of `Edge` in object-kinds.ts. */
const element: u32 = 1;
const property: u32 = 2;
const internal: u32 = 3;
const hidden: u32 = 4;
const weak: u32 = 6;
const typeShift: u32 = 29;
const weakTag: u32 = 3;
/** Values of `Trait` in named-words.ts, and of a program that is told of an edge to an array only, or of any. */
const withConstants: u32 = 1;
const twice: u32 = 2;
const tagsAny: u32 = 4;
/** Values of `ProgramShape` in programs.ts. */
const onlyMap: u32 = 0;
const array: u32 = 2;
const ofObject: u32 = 3;
const fieldsFrom: u32 = 13;
const recordWords: u32 = 4;
const arrayHeader: u32 = 2;
const mostCount: u32 = 255;

/** Edges that are ready, and how many were taken before. */
export let edges: u32 = 0;
export let index: u32 = 0;
/** Edges that were ready before those of the object that is being read. */
let first: u32 = 0;
/** Strings whose characters are compared, among what was read. */
export let strings: u32 = 0;
let firstNode: u32 = 0;
let hasCodes: bool = false;
let isTagging: bool = false;

/** `node`: that of the first object. `tags`: whether edges tag their targets. `codes`: whether functions have a handle. */
export function start(node: u32, tags: bool, codes: bool): void {
  firstNode = node;
  hasCodes = codes;
  strings = 0;
  isTagging = tags;
  index = 0;
  edges = 0;
}

export function clearEdges(): void {
  edges = 0;
}

/** Reads up to `most` live objects, from the slot `from`; returns the slot of the next one, or -1. */
export function readFrom(from: u32, most: u32): i32 {
  let object = nextOf(liveAt, from);
  for (let left = most; object >= 0 && left > 0; left--) {
    first = edges;
    if (run(object)) count(edges - first);
    else {
      edges = first;
      readObject(object, index);
    }
    index++;
    object = nextOf(liveAt, object + 1);
  }
  return object;
}

function count(found: u32): void {
  if (found < mostCount) store<u8>(countsAt + index, <u8>found);
  else {
    store<u8>(countsAt + index, <u8>mostCount);
    largeCount(index, found);
  }
}

function emit(type: u32, name: u32, target: u32): void {
  const at = (<usize>edges) << 2;
  edges++;
  store<u32>(packedAt + at, (type << typeShift) | (firstNode + numberOf(target)));
  store<u32>(namesAt + at, name);
}

function isEssential(target: i32): bool {
  return (
    target < firstReadOnly || (<u32>load<u8>(constantsAt + (target - firstReadOnly)) & isInessential) === 0
  );
}

function nameOf(index: u32): u32 {
  if (index >= indexRoom) return learnIndex(index);
  const known = load<u32>(indexesAt + ((<usize>index) << 2));
  return known === 0 ? learnIndex(index) : known - 1;
}

function part(program: usize, word: u32): u32 {
  return load<u32>(program + ((<usize>word) << 2));
}

/** False if the object must be read in TypeScript. The room for its edges is there before the first is written. */
function run(object: i32): bool {
  const map = mapOf(object);
  if (map < 0) return false;
  const at = programsAt + ((<usize>map) << 2);
  let program = <usize>load<u32>(at);
  if (program === 0) {
    program = learnProgram(object, map);
    store<u32>(at, <u32>program);
  }
  if (program === byReader) return false;
  const shape = part(program, 0);
  if (shape === onlyMap) {
    if (!hasRoom(1)) return false;
    const target = <i32>part(program, 1);
    if (target >= 0) emit(internal, part(program, 4), target);
    if (<u32>load<u8>(nodeWaysAt + map) > 1) strings++;
    return true;
  }
  const words = sizeOf(object);
  if (words === 0) return false;
  if (shape === array) {
    if (!hasRoom(words + part(program, 4))) return false;
    indexed(object, words);
    const seen: u64 = 0;
    return follow(object, words, program + (fieldsFrom << 2), part(program, 4), seen) !== failed;
  }
  return shape === ofObject ? readJsObject(object, words, program) : readPlain(object, words, program);
}

/** What `follow` returns if an object must be read in TypeScript: more words than it can mark. */
const failed: u64 = ~(<u64>0);

function hasRoom(wanted: u32): bool {
  if (edges + wanted <= edgeRoom) return true;
  if (wanted > edgeRoom) return false;
  // What precedes this object is complete.
  takeEdges();
  first = edges;
  return edges + wanted <= edgeRoom;
}

function readPlain(object: i32, words: u32, program: usize): bool {
  if (!hasRoom(words * 2 + part(program, 4))) return false;
  const seen = follow(object, words, program + (fieldsFrom << 2), part(program, 4), 0);
  if (seen === failed) return false;
  rest(object, words, seen);
  return true;
}

function readJsObject(object: i32, words: u32, program: usize): bool {
  const fields = part(program, 2);
  const others = part(program, 3);
  const elementsWay = part(program, 6);
  let elements: i32 = -1;
  let elementsEnd: u32 = 0;
  if (elementsWay !== 0 && part(program, 9) < words) {
    elements = objectAt(wordOf(object + part(program, 9)));
    if (elements >= 0 && isEssential(elements)) {
      const map = mapOf(elements);
      if (map < 0) return false;
      const flags = <u32>load<u8>(flagsAt + map);
      if ((flags & isOtherFixed) !== 0) return false;
      if ((flags & isFixedArray) !== 0 && elementsWay === 1) {
        elementsEnd = sizeOf(elements);
        const lengthWord = part(program, 7);
        if (lengthWord !== 0 && words > lengthWord) {
          const length = <i32>(wordOf(object + lengthWord) >>> 32);
          const end: u32 = length < 0 ? 0 : <u32>length + arrayHeader;
          if (end < elementsEnd) elementsEnd = end;
        }
      }
    }
  }
  const prototypeWord = part(program, 8);
  if (prototypeWord > 1 && prototypeWord < words) {
    const target = objectAt(wordOf(object + prototypeWord));
    if (target >= 0) {
      const map = mapOf(target);
      if (map < 0 || (<u32>load<u8>(flagsAt + map) & (isMap | isReceiver)) !== 0) return false;
    }
  }
  let code: u32 = 1;
  if (prototypeWord > 0 && hasCodes) {
    code = codeOf(object);
    if (code === 0) return false;
  }
  // Torn descriptors may give one word many names.
  if (!hasRoom(words * 2 + elementsEnd + fields + others + part(program, 4) + 2)) return false;
  let seen = follow(object, words, program + (fieldsFrom << 2), fields, 0);
  if (seen === failed) return false;
  let at = program + ((fieldsFrom + fields * recordWords) << 2);
  if (others > 0) {
    const properties = part(program, 10) < words ? objectAt(wordOf(object + part(program, 10))) : -1;
    const size: u32 = properties < 0 ? 0 : sizeOf(properties);
    for (let i: u32 = 0; i < others; i++) {
      const value = part(at, 1);
      let target = <i32>value;
      if (part(at, 0) === 0) target = value < size ? objectAt(wordOf(properties + value)) : -1;
      if (target >= 0) emit(property, part(at, 2), target);
      at += recordWords << 2;
    }
  }
  for (let word = arrayHeader; word < elementsEnd; word++) {
    const target = objectAt(wordOf(elements + word));
    if (target < 0) continue;
    if (target >= firstReadOnly && (<u32>load<u8>(constantsAt + (target - firstReadOnly)) & isHole) !== 0)
      continue;
    emit(element, word - arrayHeader, target);
  }
  const prototype = <i32>part(program, 5);
  if (prototype >= 0) emit(property, part(program, 11), prototype);
  if (code > 1) emit(internal, part(program, 12), code - 2);
  seen = follow(object, words, at, part(program, 4), seen);
  if (seen === failed) return false;
  rest(object, words, seen);
  return true;
}

/** Adds an edge for each word of a list that refers to an object; returns which words have one now. */
function follow(object: i32, words: u32, records: usize, count: u32, before: u64): u64 {
  let seen = before;
  for (let at = records, end = records + ((count * recordWords) << 2); at < end; at += recordWords << 2) {
    const word = part(at, 0);
    if (word >= words) continue;
    const value = wordOf(object + word);
    const target = objectAt(value);
    if (target < 0) continue;
    const kind = part(at, 1);
    const traits = (kind >>> 8) & 0xff;
    if ((traits & withConstants) === 0 && !isEssential(target)) continue;
    if ((traits & twice) === 0) seen |= (<u64>1) << word;
    let type = kind & 0xff;
    if (type === internal && (<u32>value & weakTag) === weakTag) type = weak;
    emit(type, part(at, 2), target);
    const tag = kind >>> 16;
    if (tag !== 0 && type === internal && isTagging && !setTag(tag, traits, target)) return failed;
  }
  return seen;
}

function setTag(tag: u32, traits: u32, target: i32): bool {
  if ((traits & tagsAny) === 0) {
    const map = mapOf(target);
    if (map < 0) return false;
    if ((<u32>load<u8>(flagsAt + map) & isTaggedArray) === 0) return true;
  }
  const at = tagsAt + numberOf(target);
  const combination = <u32>load<u8>(at);
  const step = tagStepsAt + ((combination << 4) | tag);
  const known = <u32>load<u8>(step);
  if (known !== 0) store<u8>(at, <u8>(known - 1));
  else {
    const next = learnTag(combination, tag);
    store<u8>(step, <u8>(next + 1));
    store<u8>(at, <u8>next);
  }
  return true;
}

function indexed(object: i32, words: u32): void {
  for (let word = arrayHeader; word < words; word++) {
    const value = wordOf(object + word);
    const target = objectAt(value);
    if (target < 0 || !isEssential(target)) continue;
    emit((<u32>value & weakTag) === weakTag ? weak : internal, nameOf(word - arrayHeader), target);
  }
}

/** Edges for the words that have none yet. Strong references become hidden edges with consecutive numbers. */
function rest(object: i32, words: u32, seen: u64): void {
  let name: u32 = 0;
  for (let word: u32 = 0; word < words; word++) {
    if (word < 64 && ((seen >>> word) & 1) !== 0) continue;
    const value = wordOf(object + word);
    const target = objectAt(value);
    if (target < 0) continue;
    const own = name++;
    if (!isEssential(target)) continue;
    if ((<u32>value & weakTag) === weakTag) emit(weak, nameOf(own), target);
    else emit(hidden, own, target);
  }
}
