/**
 * Renders values of a dead V8 on one line, in JavaScript notation: numbers, strings of any kind, objects and collections.
 * Depth, breadth and the number of visited objects are limited; cycles are marked. An unreadable value is `(not in the
 * core)`, never `undefined`.
 */
import { AbsentMemory } from '../../bytes/memory.ts';
import { readCollection } from './collections.ts';
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
import { elementCountOf, elementsOf, readHeldBytes, textOf } from './typed-arrays.ts';

export interface RenderLimits {
  depth: number;
  properties: number;
  stringLength: number;
  /** Total number of objects. */
  objects: number;
}

const defaultLimits: RenderLimits = { depth: 2, properties: 8, stringLength: 120, objects: 60 };
const absent = '(not in the core)';
const empty = '(empty)';
const maxBigIntDigits = 64;
/** For objects that are not arrays, indexed elements up to this index are searched. */
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

  /** Never throws because of memory contents. */
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

  /**
   * Compilers keep private fields in a WeakMap, whose keys are objects: without a name beside it a password there can't be told
   * from other text, so it is not even read, or a mini core would contain it.
   */
  #isString(value: Tagged): boolean {
    const type = this.#heap.isSmi(value) ? undefined : this.#heap.findType(value);
    return type !== undefined && isStringType(type);
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

  /**
   * A hole, the marker for "no value yet": an oddball up to V8 12, since then a type of its own, which V8 14 does not
   * describe.
   */
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
    if (type === types.globalProxy || type === types.globalObject) return 'globalThis';
    if (type === types.boundFunction) return this.#boundFunction(value);
    const name = type === types.jsProxy ? 'Proxy' : (findConstructorName(this.#heap, value) ?? '');
    if (depth < 0 || ++this.#objects > this.#limits.objects)
      return type === types.jsArray ? '[Array]' : `[${name || 'Object'}]`;
    this.#path.push(value);
    const text = this.#contents(value, type, name, depth);
    this.#path.pop();
    return text;
  }

  #contents(value: Tagged, type: number, name: string, depth: number): string {
    const heap = this.#heap;
    const { types } = heap.layout;
    switch (type) {
      case types.jsArray:
        return this.#array(value, name, depth);
      case types.jsMap:
      case types.jsSet:
      case types.jsWeakMap:
      case types.jsWeakSet:
        return this.#collection(value, type, name || 'collection', depth);
      case types.jsWeakRef:
        return `WeakRef { ${this.#safely(heap.field(value, heap.layout.weakRefTarget), depth - 1)} }`;
      case types.jsProxy:
        return this.#proxy(value, depth);
      case types.jsDate:
        return this.#date(value);
      case types.jsRegExp:
        return renderRegExp(heap, value);
      case types.jsPromise:
        return this.#promise(value, depth);
      case types.jsTypedArray:
      case types.jsArrayBuffer:
      case types.jsDataView:
      case types.jsResizableDataView:
        return this.#bytes(value, name);
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

  /** The marker for a class's private methods. */
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

  #collection(value: Tagged, type: number, name: string, depth: number): string {
    const found = readCollection(this.#heap, value, this.#limits.properties);
    if (!found) return absent;
    const isWeakMap = type === this.#heap.layout.types.jsWeakMap;
    const parts = found.entries.map(({ key, value: held }) => {
      const text = this.#safely(key, depth - 1);
      if (held === undefined) return text;
      return `${text} => ${isWeakMap && this.#isString(held) ? '(a string)' : this.#safely(held, depth - 1)}`;
    });
    return `${name}(${found.count}) ${braces(parts, parts.length, found.count > parts.length)}`;
  }

  /**
   * Text if the bytes are readable as such, otherwise numbers. Text is checked first, so that it is redacted according to the
   * name before it.
   */
  #bytes(value: Tagged, name: string): string {
    const { properties, stringLength } = this.#limits;
    const held = readHeldBytes(this.#heap, value, Math.max(stringLength, properties * 8));
    if (!held) return absent;
    const count = elementCountOf(held);
    if (!held.bytes) return `${name}(${count}) ${absent}`;
    const text = textOf(held);
    if (text !== undefined)
      return `${JSON.stringify(text)}${held.bytes.length < held.byteLength ? '…' : ''} in ${name}(${count})`;
    const parts = elementsOf(held).slice(0, properties).map(elementText);
    if (count > parts.length) parts.push('…');
    return `${name}(${count}) ${parts.length === 0 ? '[]' : `[ ${parts.join(', ')} ]`}`;
  }

  /** A revoked proxy has neither target nor handler. */
  #proxy(value: Tagged, depth: number): string {
    const { proxy, types } = this.#heap.layout;
    const [target, handler] = [proxy.target, proxy.handler].map((at) => this.#heap.field(value, at));
    if (target === undefined || handler === undefined || this.#heap.isType(handler, types.oddball))
      return 'Proxy (revoked)';
    return `Proxy of ${this.#safely(target, depth - 1)}, handled by ${this.#safely(handler, depth - 1)}`;
  }

  #boundFunction(value: Tagged): string {
    const target = this.#heap.field(value, this.#heap.layout.boundFunction.target);
    return `[Function: bound ${this.#functions.ofClosure(target)?.name || '(anonymous)'}]`;
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

  /** Class and message, followed by added properties: `[SystemError: no such file { code: "ENOENT" }]`. */
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

/** JavaScript objects are the last instance types, starting with proxies. */
function isReceiver(type: number, firstReceiver: number): boolean {
  return type >= firstReceiver;
}

function braces(parts: string[], limit: number, more = parts.length > limit): string {
  if (parts.length === 0) return '{}';
  return `{ ${parts.slice(0, limit).join(', ')}${more ? ', …' : ''} }`;
}

const elementText = (value: number | bigint) => (typeof value === 'bigint' ? `${value}n` : number(value));
const number = (value: number) => (Object.is(value, -0) ? '-0' : `${value}`);

function date(value: number | undefined): string {
  // A value outside of the range of JavaScript dates is a misread.
  if (value === undefined || Math.abs(value) > maxTime || !Number.isInteger(value || 0)) return absent;
  return Number.isNaN(value) ? '[Date: invalid]' : new Date(value).toISOString();
}

/** Letters of JSRegExp::Flag by bit, in the order in which JavaScript prints them. Source: src/regexp/regexp-flags.h. */
const flagBits = 'gimyusldv';
const flagOrder = 'dgimsuvy';

/** The flags are in the word after the source. */
function renderRegExp(heap: V8Heap, value: Tagged): string {
  const at = heap.layout.regExpSource;
  const source = findString(heap, heap.field(value, at), 200) ?? '';
  const flags = heap.findSmi(value, at + 8) ?? 0;
  const isSound = flags >= 0 && flags < 1 << flagBits.length;
  const isSet = (letter: string) => ((flags >> flagBits.indexOf(letter)) & 1) === 1;
  return `/${source}/${isSound ? [...flagOrder].filter(isSet).join('') : ''}`;
}
