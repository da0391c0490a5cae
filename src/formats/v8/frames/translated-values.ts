/**
 * Values of one translation: where optimised code keeps the values of a frame's variables, and the objects whose allocation
 * it eliminated. Translations are read at a call, so values in registers are lost. Sources:
 * src/deoptimizer/translated-state.cc of V8; OptimizedJSFrame::StackSlotOffsetRelativeToFp for the slots.
 */
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { findString } from '../strings.ts';
import type { VirtualMemory } from '../virtual-memory.ts';
import { type Operation, signed } from './translation-reader.ts';

/** An operation with its nested values: the fields of an object that was never allocated. */
export interface TranslatedValue {
  operation: Operation;
  fields: TranslatedValue[];
}

const maxFields = 4096;
const maxDepth = 32;
/** Two words of the frame, the saved frame pointer and the return address, are above the frame pointer. */
const aboveFramePointer = 16;
/** The double that marks a hole. */
const holeBits = 0xfff7_ffff_fff7_ffffn;
const holeBitsSigned = BigInt.asIntN(64, holeBits);
const smiLimit = 2 ** 31;
/** Map, properties, elements. */
const structuralWords = 3;
/** Limits for a string: what an account shows of it, and what is concatenated to determine its length. */
const shownCharacters = 120;
const longestText = 1 << 16;
export const optimisedAway = '(optimised away)';

/** The value that starts at `operations[at]` with all its fields, and the index of the next value. */
export function nestValue(
  operations: readonly Operation[],
  at: number,
): [TranslatedValue, number] | undefined {
  return nest(operations, at, 0);
}

function nest(
  operations: readonly Operation[],
  at: number,
  depth: number,
): [TranslatedValue, number] | undefined {
  const operation = operations[at];
  const count = operation && fieldCount(operation);
  if (!operation || count === undefined || count > maxFields || depth > maxDepth) return undefined;
  const fields: TranslatedValue[] = [];
  let next = at + 1;
  for (let i = 0; i < count; i++) {
    const nested = nest(operations, next, depth + 1);
    if (!nested) return undefined;
    fields.push(nested[0]);
    next = nested[1];
  }
  return [{ operation, fields }, next];
}

function fieldCount({ name, operands: [first = 0] }: Operation): number | undefined {
  if (name === 'CAPTURED_OBJECT') return signed(first) < 0 ? undefined : signed(first);
  return name === 'STRING_CONCAT' ? 2 : 0;
}

export interface ValueSources {
  /** Must read from a VirtualMemory. */
  heap: V8Heap;
  virtual: VirtualMemory;
  framePointer: number;
  /** The literal of the code; undefined if there is none with this number. */
  literal(index: number): Tagged | undefined;
}

/** Turns operations into values; undefined for values that were optimised away or were in a register. */
export class ValueResolver {
  readonly #from: ValueSources;
  /** Objects by the number that later operations use. All objects of the translation are counted, in order. */
  readonly #objects: (TranslatedValue | undefined)[] = [];
  readonly #made = new Map<TranslatedValue, Tagged | undefined>();
  /** Texts of the notes that represent strings. */
  readonly #texts = new Map<Tagged, string>();
  #depth = 0;

  constructor(from: ValueSources) {
    this.#from = from;
  }

  /** Numbers the objects of a value. Must be called once for each value of the translation, in order. */
  number(value: TranslatedValue): void {
    const { name, operands } = value.operation;
    if (name === 'CAPTURED_OBJECT' || name === 'STRING_CONCAT' || name === 'ARGUMENTS_ELEMENTS')
      this.#objects.push(value);
    else if (name === 'DUPLICATED_OBJECT') this.#objects.push(this.#objects[signed(operands[0] ?? 0)]);
    for (const field of value.fields) this.number(field);
  }

  resolve(value: TranslatedValue): Tagged | undefined {
    if (this.#depth >= maxDepth) return undefined;
    this.#depth++;
    try {
      return this.#resolve(value);
    } finally {
      this.#depth--;
    }
  }

  #resolve(value: TranslatedValue): Tagged | undefined {
    const { name, operands } = value.operation;
    const operand = operands[0] ?? 0;
    if (name === 'LITERAL') return this.#from.literal(signed(operand));
    if (name === 'CAPTURED_OBJECT') return this.#make(value);
    if (name === 'STRING_CONCAT') return this.#join(value);
    if (name === 'DUPLICATED_OBJECT') {
      const object = this.#objects[signed(operand)];
      return object && this.resolve(object);
    }
    const storage = /^(?:(\w+)_)?STACK_SLOT$/.exec(name);
    if (!storage) return undefined;
    return this.#fromSlot(storage[1], this.#slot(signed(operand)));
  }

  /** A string concatenation that was never performed. */
  #join(value: TranslatedValue): Tagged | undefined {
    if (this.#made.has(value)) return this.#made.get(value);
    this.#made.set(value, undefined);
    const [left, right] = value.fields.map((field) => this.#text(field));
    if (left === undefined || right === undefined) return undefined;
    const text = (left + right).slice(0, longestText);
    const shown = text.slice(0, shownCharacters);
    const more = text.length > shown.length ? `… ${text.length} characters` : '';
    const note = this.#from.virtual.note(JSON.stringify(shown) + more);
    this.#made.set(value, note);
    if (note !== undefined) this.#texts.set(note, text);
    return note;
  }

  #text(value: TranslatedValue): string | undefined {
    const part = this.resolve(value);
    if (part === undefined) return undefined;
    return this.#texts.get(part) ?? findString(this.#from.heap, part, longestText);
  }

  #slot(index: number): number {
    return this.#from.framePointer + aboveFramePointer - (index + 1) * 8;
  }

  #fromSlot(storage: string | undefined, address: number): Tagged | undefined {
    const { heap, virtual } = this.#from;
    if (storage === undefined) return heap.memory.readWord(address);
    if (storage === 'BOOL') return virtual.note(heap.memory.readUint32(address) === 0 ? 'false' : 'true');
    const bits = heap.memory.readBigWord(address);
    if (storage === 'SIGNED_BIGINT64') return virtual.note(`${BigInt.asIntN(64, bits)}n`);
    if (storage === 'UNSIGNED_BIGINT64') return virtual.note(`${bits}n`);
    if (storage === 'HOLEY_DOUBLE' && bits === holeBits) return virtual.note('undefined');
    const value = this.#number(storage, address);
    if (value === undefined) return undefined;
    const isSmi = Number.isInteger(value) && Math.abs(value) < smiLimit && !Object.is(value, -0);
    return isSmi ? value * 2 ** 32 : virtual.note(Object.is(value, -0) ? '-0' : `${value}`);
  }

  #number(storage: string, address: number): number | undefined {
    const { memory } = this.#from.heap;
    switch (storage) {
      case 'INT32':
        return memory.readInt32(address);
      case 'UINT32':
        return memory.readUint32(address);
      case 'INT64':
        return Number(BigInt.asIntN(64, memory.readBigWord(address)));
      case 'DOUBLE':
      case 'HOLEY_DOUBLE':
        return memory.readDouble(address);
      case 'FLOAT': {
        const view = new DataView(new ArrayBuffer(4));
        view.setUint32(0, memory.readUint32(address));
        return view.getFloat32(0);
      }
      default:
        return undefined;
    }
  }

  /**
   * Writes the object into virtual memory word by word. It is registered before its fields are, because they may refer back
   * to it.
   */
  #make(value: TranslatedValue): Tagged | undefined {
    if (this.#made.has(value)) return this.#made.get(value);
    const { heap, virtual } = this.#from;
    const address = virtual.allocate(value.fields.length);
    const [first] = value.fields;
    const map = first && this.resolve(first);
    const type = map === undefined ? undefined : heap.findMapType(map);
    const isMade = address !== undefined && type !== undefined;
    this.#made.set(value, isMade ? address + 1 : undefined);
    if (!isMade) return undefined;
    for (const [i, field] of value.fields.entries()) {
      const word = this.#isBareDouble(type, i) ? this.#doubleBits(field) : this.#word(field, i);
      if (word === undefined) {
        this.#made.set(value, undefined);
        return undefined;
      }
      virtual.writeWord(address + i * 8, word);
    }
    return address + 1;
  }

  #isBareDouble(type: number, index: number): boolean {
    const { types } = this.#from.heap.layout;
    return (type === types.heapNumber && index === 1) || (type === types.fixedDoubleArray && index > 1);
  }

  /** The object can't exist without its structural words, but may lack a property. */
  #word(field: TranslatedValue, index: number): bigint | undefined {
    const value = this.resolve(field);
    const known = value ?? (index < structuralWords ? undefined : this.#from.virtual.note(optimisedAway));
    return known === undefined ? undefined : BigInt(known);
  }

  /** A hole if it is not a number. */
  #doubleBits({ operation: { name, operands } }: TranslatedValue): bigint {
    const operand = signed(operands[0] ?? 0);
    const storage = /^(\w+)_STACK_SLOT$/.exec(name)?.[1];
    const value = storage ? this.#number(storage, this.#slot(operand)) : this.#literalNumber(name, operand);
    if (value === undefined) return holeBitsSigned;
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    return view.getBigInt64(0);
  }

  #literalNumber(name: string, index: number): number | undefined {
    const { heap, literal } = this.#from;
    const value = name === 'LITERAL' ? literal(index) : undefined;
    if (value === undefined) return undefined;
    if (heap.isSmi(value)) return heap.smi(value);
    return heap.isType(value, heap.layout.types.heapNumber)
      ? heap.memory.readDouble(value - 1 + heap.layout.heapNumber)
      : undefined;
  }
}
