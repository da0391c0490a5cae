/**
 * Values of a dead V8 in one line, as a person would write them: numbers, strings of any kind, objects and
 * collections to a depth. Bounded in depth, in breadth and in the number of objects visited; cycles are marked. What
 * cannot be read is `(not in the core)`, never `undefined`.
 */
import { AbsentMemory } from '../../bytes/memory.ts';
import type { Functions } from './frames/functions.ts';
import type { Tagged, V8Heap } from './heap/heap.ts';
import {
  type Element,
  findConstructorName,
  type OwnProperty,
  readElements,
  readOwnProperties,
} from './properties.ts';
import { findString, findStringLength, isStringType } from './strings.ts';

export interface RenderLimits {
  depth: number;
  properties: number;
  stringLength: number;
  /** Objects in all. */
  objects: number;
}

const defaultLimits: RenderLimits = { depth: 2, properties: 8, stringLength: 120, objects: 60 };
const absent = '(not in the core)';
const empty = '(empty)';
const maxBigIntDigits = 64;
/** Indexes of an object that is no array are looked for so far. */
const maxIndexed = 64;
/** ECMA-262, "Time Values and Time Range". */
const maxTime = 8.64e15;
const identifier = /^#?[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

export class ValueRenderer {
  readonly #heap: V8Heap;
  readonly #functions: Functions;
  readonly #limits: RenderLimits;
  #objects = 0;
  readonly #path: Tagged[] = [];

  constructor(heap: V8Heap, functions: Functions, limits: Partial<RenderLimits> = {}) {
    this.#heap = heap;
    this.#functions = functions;
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** Never throws on what memory holds. */
  render(value: Tagged): string {
    this.#objects = 0;
    return this.#safely(value, this.#limits.depth);
  }

  #safely(value: Tagged, depth: number): string {
    const length = this.#path.length;
    try {
      return this.#value(value, depth);
    } catch (error) {
      if (!(error instanceof AbsentMemory)) throw error;
      this.#path.length = length;
      return absent;
    }
  }

  #value(value: Tagged, depth: number): string {
    const heap = this.#heap;
    const { types } = heap.layout;
    if (heap.isSmi(value)) return `${heap.smi(value)}`;
    const type = heap.findType(value);
    if (type === undefined) return heap.notes?.findNote(value) ?? absent;
    if (isStringType(type)) return this.#string(value);
    if (type === types.heapNumber) return number(heap.memory.readDouble(value - 1 + heap.layout.heapNumber));
    if (type === types.oddball) return this.#oddball(value);
    if (type === types.symbol)
      return `Symbol(${findString(heap, heap.field(value, heap.layout.symbolName), 80) ?? ''})`;
    if (type === types.bigInt) return this.#bigInt(value);
    if (heap.isFunction(value))
      return `[Function: ${this.#functions.ofClosure(value)?.name || '(anonymous)'}]`;
    if (this.#isHole(value, type)) return '(uninitialised)';
    if (!isReceiver(type, types.jsProxy))
      return `(V8's ${heap.layout.instanceTypes.get(type) ?? `type ${type}`})`;
    return this.#receiver(value, type, depth);
  }

  #string(value: Tagged): string {
    const length = findStringLength(this.#heap, value) ?? 0;
    const text = findString(this.#heap, value, this.#limits.stringLength) ?? '';
    return length > text.length ? `${JSON.stringify(text)}… ${length} characters` : JSON.stringify(text);
  }

  #oddball(value: Tagged): string {
    const { oddballs, oddballKind } = this.#heap.layout;
    const kind = this.#heap.findSmi(value, oddballKind);
    for (const [name, number] of Object.entries(oddballs)) if (number === kind) return name;
    return '(uninitialised)';
  }

  /** What stands for "nothing yet": an oddball until V8 12, then of a type of its own, which V8 14 does not describe. */
  #isHole(value: Tagged, type: number): boolean {
    const { types, oddballs, oddballKind, instanceTypes } = this.#heap.layout;
    if (type === types.oddball)
      return !Object.values(oddballs).includes(this.#heap.findSmi(value, oddballKind) ?? -1);
    if (types.hole !== undefined) return type === types.hole;
    return (
      !instanceTypes.has(type) && type > types.oddball && type < types.jsProxy && !this.#heap.isContext(value)
    );
  }

  /** Sign in bit 0, number of 64-bit digits above it. */
  #bigInt(value: Tagged): string {
    const { memory, layout } = this.#heap;
    const bits = memory.readUint32(value - 1 + layout.bigInt.bits);
    const digits = (bits >>> 1) & 0x3fff_ffff;
    if (digits > maxBigIntDigits) return `(a BigInt of ${digits * 64} bits)`;
    let sum = 0n;
    for (let i = digits - 1; i >= 0; i--)
      sum = (sum << 64n) | memory.readBigWord(value - 1 + layout.bigInt.digits + i * 8);
    return `${bits & 1 ? '-' : ''}${sum}n`;
  }

  #receiver(value: Tagged, type: number, depth: number): string {
    const { types } = this.#heap.layout;
    if (this.#path.includes(value)) return '[Circular]';
    if (type === types.jsProxy) return '[Proxy]';
    if (type === types.globalProxy || type === types.globalObject) return 'globalThis';
    const name = findConstructorName(this.#heap, value) ?? '';
    if (depth < 0 || ++this.#objects > this.#limits.objects)
      return type === types.jsArray ? '[Array]' : `[${name || 'Object'}]`;
    this.#path.push(value);
    const text = this.#contents(value, type, name, depth);
    this.#path.pop();
    return text;
  }

  #contents(value: Tagged, type: number, name: string, depth: number): string {
    const heap = this.#heap;
    const { types, layout } = { types: heap.layout.types, layout: heap.layout };
    switch (type) {
      case types.jsArray:
        return this.#array(value, name, depth);
      case types.jsMap:
        return this.#collection(value, name || 'Map', 2, depth);
      case types.jsSet:
        return this.#collection(value, name || 'Set', 1, depth);
      case types.jsDate:
        return this.#date(value);
      case types.jsRegExp:
        return renderRegExp(heap, value);
      case types.jsPromise:
        return this.#promise(value, depth);
      case types.jsTypedArray:
        return `${name}(${heap.memory.readBigWord(value - 1 + layout.typedArray.byteLength)} bytes)`;
      case types.jsError:
        return this.#error(value, name, depth);
      default:
        return this.#object(value, name, depth);
    }
  }

  #object(value: Tagged, name: string, depth: number): string {
    const { properties: limit } = this.#limits;
    const own = readOwnProperties(this.#heap, value, limit + 2).filter((p) => !this.#isHidden(p));
    const parts = own.map((p) => this.#property(p, depth));
    if (parts.length <= limit)
      readElements(this.#heap, value, maxIndexed).forEach((element, i) => {
        const text = this.#element(element, depth - 1);
        if (text !== empty && parts.length <= limit) parts.push(`${i}: ${text}`);
      });
    const prefix = name === 'Object' || name === '' ? '' : `${name} `;
    return `${prefix}${braces(parts, limit)}`;
  }

  #property({ name, value, isAccessor }: OwnProperty, depth: number): string {
    const key = identifier.test(name) || name.startsWith('[') ? name : JSON.stringify(name);
    return `${key}: ${isAccessor ? '[Getter]' : this.#safely(value, depth - 1)}`;
  }

  /** The mark of a class's private methods. */
  #isHidden({ name, value }: OwnProperty): boolean {
    return name.startsWith('[') && this.#heap.isContext(value);
  }

  #array(value: Tagged, name: string, depth: number): string {
    const length = this.#number(this.#heap.field(value, this.#heap.layout.array.length)) ?? 0;
    const limit = this.#limits.properties;
    const parts = readElements(this.#heap, value, Math.min(length, limit)).map((e) =>
      this.#element(e, depth - 1),
    );
    if (length > parts.length) parts.push(`… ${length} in all`);
    const prefix = name === 'Array' || name === '' ? '' : `${name} `;
    return `${prefix}${parts.length === 0 ? '[]' : `[ ${parts.join(', ')} ]`}`;
  }

  #element(element: Element, depth: number): string {
    if (element === 'hole') return empty;
    if ('number' in element) return number(element.number);
    const type = this.#heap.findType(element.value);
    if (type !== undefined && this.#isHole(element.value, type)) return empty;
    return this.#safely(element.value, depth);
  }

  /** Ordered hash tables: counts of elements, of deleted ones, of buckets; the buckets; then the entries. */
  #collection(value: Tagged, name: string, words: 1 | 2, depth: number): string {
    const heap = this.#heap;
    const { fixedArray, collectionTable, types } = heap.layout;
    const table = heap.field(value, collectionTable);
    const slot = (i: number) => heap.field(table, fixedArray.data + i * 8);
    const [count, deleted, buckets] = [0, 1, 2].map((i) => heap.smi(slot(i)));
    const length = heap.findSmi(table, fixedArray.length) ?? 0;
    const parts: string[] = [];
    for (let i = 0; i < (count ?? 0) + (deleted ?? 0) && parts.length < this.#limits.properties; i++) {
      const at = 3 + (buckets ?? 0) + i * (words + 1);
      if (!Number.isInteger(at) || at + words > length) break;
      const key = slot(at);
      // A deleted entry's key is V8's own marker.
      if (!heap.isSmi(key) && !isValue(heap, key, types.jsProxy)) continue;
      const text = this.#safely(key, depth - 1);
      parts.push(words === 2 ? `${text} => ${this.#safely(slot(at + 1), depth - 1)}` : text);
    }
    return `${name}(${count}) ${braces(parts, parts.length, (count ?? 0) > parts.length)}`;
  }

  #date(value: Tagged): string {
    const { memory, layout } = this.#heap;
    const at = layout.date.value;
    return date(
      layout.date.isBare ? memory.readDouble(value - 1 + at) : this.#number(this.#heap.field(value, at)),
    );
  }

  #promise(value: Tagged, depth: number): string {
    const { promise } = this.#heap.layout;
    const status = (this.#heap.findSmi(value, promise.flags) ?? 0) & promise.statusMask;
    if (status === 0) return 'Promise { <pending> }';
    const result = this.#safely(this.#heap.field(value, promise.result), depth - 1);
    return `Promise { ${status === 2 ? '<rejected> ' : ''}${result} }`;
  }

  /** As its class says, and what was added to it: `[SystemError: no such file { code: "ENOENT" }]`. */
  #error(value: Tagged, name: string, depth: number): string {
    const own = readOwnProperties(this.#heap, value, 16);
    const message = own.find((p) => p.name === 'message');
    const text = message && findString(this.#heap, message.value, this.#limits.stringLength);
    const added = own.filter((p) => !p.isAccessor && !/^(?:message|stack)$|^\[/.test(p.name));
    const parts = added.slice(0, this.#limits.properties).map((p) => this.#property(p, depth));
    const more = parts.length > 0 ? ` ${braces(parts, this.#limits.properties)}` : '';
    return `[${name || 'Error'}${text ? `: ${text}` : ''}${more}]`;
  }

  #number(value: Tagged): number | undefined {
    const heap = this.#heap;
    if (heap.isSmi(value)) return heap.smi(value);
    if (heap.findType(value) !== heap.layout.types.heapNumber) return undefined;
    return heap.memory.readDouble(value - 1 + heap.layout.heapNumber);
  }
}

/** JavaScript objects come last among instance types, proxies first of them. */
function isReceiver(type: number, firstReceiver: number): boolean {
  return type >= firstReceiver;
}

/** Something that a program can hold. */
function isValue(heap: V8Heap, value: Tagged, firstReceiver: number): boolean {
  const type = heap.findType(value);
  if (type === undefined) return false;
  const { types } = heap.layout;
  const primitive = [types.heapNumber, types.symbol, types.bigInt, types.oddball];
  return isStringType(type) || primitive.includes(type) || isReceiver(type, firstReceiver);
}

function braces(parts: string[], limit: number, more = parts.length > limit): string {
  if (parts.length === 0) return '{}';
  return `{ ${parts.slice(0, limit).join(', ')}${more ? ', …' : ''} }`;
}

const number = (value: number) => (Object.is(value, -0) ? '-0' : `${value}`);

function date(value: number | undefined): string {
  // What no program can put into a date was not its time.
  if (value === undefined || Math.abs(value) > maxTime || !Number.isInteger(value || 0)) return absent;
  return Number.isNaN(value) ? '[Date: invalid]' : new Date(value).toISOString();
}

/** Letters of JSRegExp::Flag by their bits, and in the order in which JavaScript prints them. Source: src/regexp/regexp-flags.h. */
const flagBits = 'gimyusldv';
const flagOrder = 'dgimsuvy';

/** The flags are the word behind the source. */
function renderRegExp(heap: V8Heap, value: Tagged): string {
  const at = heap.layout.regExpSource;
  const source = findString(heap, heap.field(value, at), 200) ?? '';
  const flags = heap.findSmi(value, at + 8) ?? 0;
  const isSound = flags >= 0 && flags < 1 << flagBits.length;
  const isSet = (letter: string) => ((flags >> flagBits.indexOf(letter)) & 1) === 1;
  return `/${source}/${isSound ? [...flagOrder].filter(isSet).join('') : ''}`;
}
