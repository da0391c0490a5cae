/** V8's strings: sequential, concatenated, sliced, thin (an alias) and external, with one or two bytes per character. */
import type { Tagged, V8Heap } from './heap/heap.ts';

/** Instance types below this are strings; their low bits state the kind. Stable since V8 7. */
const firstNonString = 0x80;
const representationMask = 7;
const oneByte = 8;
const notInternalized = 0x20;
const [sequential, cons, external, sliced, thin] = [0, 1, 2, 3, 5];
/** Chains of slices and aliases are short; concatenations may be as deep as they are long. */
const maxPieces = 100_000;
const maxIndirections = 32;
/** Whether a text is complete is checked for the part of it that a name can be. */
const longestDoubted = 512;

/** Internalized strings are unique: all names, and some other strings. */
export const isInternalized = (type: number): boolean => (type & notInternalized) === 0;

export function isStringType(type: number | undefined): boolean {
  return type !== undefined && type < firstNonString;
}

/** Length in UTF-16 units; undefined if it is not a string. */
export function findStringLength(heap: V8Heap, value: Tagged): number | undefined {
  if (!isStringType(heap.findType(value))) return undefined;
  const length = heap.memory.readInt32(value - 1 + heap.layout.string.length);
  return length >= 0 ? length : undefined;
}

/** Whether V8 writes such a value in place of a missing text: a small integer, or `undefined`. */
function isAbsent(heap: V8Heap, value: Tagged): boolean {
  return heap.isSmi(value) || heap.isType(value, heap.layout.types.oddball);
}

/** Why what should be a text is none, or not the one that V8 hashed; undefined if nothing is wrong with it. */
export function doubtText(heap: V8Heap, value: Tagged): string | undefined {
  if (!isStringType(heap.findType(value))) return isAbsent(heap, value) ? undefined : 'is no text';
  if (heap.texts?.contradicts(heap, value)) return 'is not the text that V8 hashed';
  const length = Math.min(findStringLength(heap, value) ?? 0, longestDoubted);
  return findString(heap, value, length)?.length === length ? undefined : 'is not complete';
}

/** The two parts of a text that was put together and not copied since. */
export function findParts(heap: V8Heap, value: Tagged): [Tagged, Tagged] | undefined {
  const { consFirst, consSecond } = heap.layout.string;
  const type = heap.findType(value);
  if (type === undefined || !isStringType(type) || (type & representationMask) !== cons) return undefined;
  return [heap.field(value, consFirst), heap.field(value, consSecond)];
}

/** The string that an alias stands for. */
export function resolveThin(heap: V8Heap, value: Tagged): Tagged {
  let found = value;
  for (let i = 0; i < maxIndirections && ((heap.findType(found) ?? 0) & representationMask) === thin; i++)
    found = heap.field(found, heap.layout.string.thinActual);
  return found;
}

/** At most `maxLength` UTF-16 units from the start. Undefined if it is not a string. */
export function findString(heap: V8Heap, value: Tagged, maxLength = 1 << 20): string | undefined {
  const length = findStringLength(heap, value);
  return length === undefined ? undefined : readRange(heap, value, 0, Math.min(length, maxLength));
}

/** Location of the characters of an external string, which are outside of V8's heap; undefined for any other. */
export function findExternalText(
  heap: V8Heap,
  value: Tagged,
): { address: number; bytesPerUnit: 1 | 2; length: number } | undefined {
  const length = findStringLength(heap, value);
  const flat = length === undefined ? undefined : unwrap(heap, { value, start: 0, end: length });
  if (!flat || flat.kind !== external || length === undefined) return undefined;
  const address = heap.field(flat.value, heap.layout.string.externalData) + flat.start * flat.bytesPerUnit;
  return { address, bytesPerUnit: flat.bytesPerUnit, length };
}

interface Piece {
  value: Tagged;
  start: number;
  end: number;
}

/** Iterative: `pending` is the stack of pieces to be read. */
function readRange(heap: V8Heap, value: Tagged, start: number, end: number): string {
  const { string } = heap.layout;
  const pending: Piece[] = [{ value, start, end }];
  let text = '';
  for (let count = 0; count < maxPieces; count++) {
    const piece = pending.pop();
    if (!piece) break;
    const flat = unwrap(heap, piece);
    if (!flat || flat.start >= flat.end) continue;
    if (flat.kind !== cons) {
      text += readFlat(heap, flat);
      continue;
    }
    const first = heap.field(flat.value, string.consFirst);
    const split = findStringLength(heap, first) ?? 0;
    pending.push({
      value: heap.field(flat.value, string.consSecond),
      start: Math.max(0, flat.start - split),
      end: flat.end - split,
    });
    pending.push({ value: first, start: flat.start, end: Math.min(flat.end, split) });
  }
  return text;
}

type Unwrapped = Piece & { kind: number; bytesPerUnit: 1 | 2 };

/** Follows slices and aliases to the string that contains the characters. */
function unwrap(heap: V8Heap, { value, start, end }: Piece): Unwrapped | undefined {
  const { string } = heap.layout;
  for (let i = 0; i < maxIndirections; i++) {
    const type = heap.findType(value);
    if (type === undefined || !isStringType(type)) return undefined;
    const kind = type & representationMask;
    if (kind === sliced) {
      const offset = heap.findSmi(value, string.slicedOffset) ?? 0;
      value = heap.field(value, string.slicedParent);
      start += offset;
      end += offset;
    } else if (kind === thin) value = heap.field(value, string.thinActual);
    else {
      const length = heap.memory.readInt32(value - 1 + string.length);
      return { value, start, end: Math.min(end, length), kind, bytesPerUnit: type & oneByte ? 1 : 2 };
    }
  }
  return undefined;
}

function readFlat(heap: V8Heap, { value, start, end, kind, bytesPerUnit }: Unwrapped): string {
  const { string } = heap.layout;
  let address: number;
  if (kind === sequential) address = value - 1 + string.chars;
  else if (kind === external) address = heap.field(value, string.externalData);
  else return '';
  const bytes = heap.memory.readBytes(address + start * bytesPerUnit, (end - start) * bytesPerUnit);
  return Buffer.from(bytes.buffer).toString(bytesPerUnit === 1 ? 'latin1' : 'utf16le');
}
