/** Type, name and size of single objects, as reported by V8's profiler. */
import { whereMapped } from '../../../bytes/memory.ts';
import { findScopeInfo, type ScopeInfo } from '../frames/scope-info.ts';
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { findFunctionName } from '../properties.ts';
import { findString, findStringLength, isInternalized, isStringType } from '../strings.ts';
import { ClassNames } from './class-names.ts';
import { type HeapKernel, NodeWay } from './kernel/heap-kernel.ts';
import { isPrivateSymbol, maxLength, type Names } from './names.ts';
import { camelCase, type NodeTypeName, nodeTypes, type ObjectKinds } from './object-kinds.ts';
import type { HeapObjects } from './objects/heap-objects.ts';

const maxNameLength = 1024;
/** How a string is stored, in the lowest bits of its type. */
const [sequential, external] = [0, 2];
/** V8's built-ins take some 3 MB. */
const mostBuiltinBytes = 1 << 24;
/** A smaller dictionary is read again as fast as an answer is looked up. */
const wordsWorthKeeping = 256;
/** From this line on V8 counts read-only objects with size 0, and includes the text of external strings. */
const linesThatShareConstants = 1300;
/** From this line on V8's profiler tells the global object from its proxy. */
const linesOfGlobalNames = 1400;
/** Before this line V8's profiler named the instructions instead of the code object that refers to them. */
const linesOfStreams = 1200;

export interface NodeFacts {
  /** Index in `nodeTypes`. */
  type: number;
  name: number;
  sizeBytes: number;
}

/**
 * Name of V8's built-in code at an address, if the executable has symbols. `first`: address of the first built-in, because V8
 * may have copied all of them next to its other code.
 */
export type BuiltinNames = (address: number, first: number) => string | undefined;

/** Of the kernel's table of texts. */
const textRowBytes = 12;
const typeNumbers = new Map<NodeTypeName, number>(nodeTypes.map((name, i) => [name, i]));

interface SameFacts {
  isSame: boolean;
  /** Its name is that of its class. */
  isInstance: boolean;
  /** Instance type. */
  objectType: number;
  type: number;
  name: number;
}

export class NodeReader {
  readonly #heap: V8Heap;
  readonly #objects: HeapObjects;
  readonly #kinds: ObjectKinds;
  readonly #names: Names;
  readonly #classes: ClassNames;
  /** By the number of the map. */
  readonly #classOf: number[] = [];
  readonly #dictionaries: boolean[] = [];
  /** By the table of a large dictionary: whether the tag is a key. A weak map asks for the class of a value at each of its keys. */
  readonly #tagged = new Map<number, boolean>();
  /** The symbol. */
  readonly #toStringTag: number;
  readonly #builtinAt: BuiltinNames;
  readonly #firstBuiltins: readonly number[];
  readonly #functionOfCode: ReadonlyMap<number, string>;
  readonly #functionNames = new Map<Tagged, number>();
  /** By the number of the map. */
  readonly #sameForMap: SameFacts[] = [];
  /** Used again for each object. */
  readonly #facts: NodeFacts = { type: 0, name: 0, sizeBytes: 0 };

  constructor(heap: V8Heap, objects: HeapObjects, kinds: ObjectKinds, names: Names, builtinAt: BuiltinNames) {
    this.#heap = heap;
    this.#objects = objects;
    this.#kinds = kinds;
    this.#names = names;
    this.#builtinAt = builtinAt;
    this.#firstBuiltins = this.#findFirstBuiltins();
    this.#functionOfCode = this.#findFunctionsOfCode();
    this.#classes = new ClassNames(heap);
    this.#toStringTag = this.#findToStringTag();
  }

  /** Valid until the next object is asked for. */
  of(object: number): NodeFacts {
    const map = this.#objects.mapOf(object);
    const same = this.#sameForMap[map] ?? this.#learn(map);
    const facts = this.#facts;
    facts.sizeBytes = this.#sizeOf(object, same.objectType);
    facts.type = same.type;
    if (same.isSame) facts.name = same.name;
    else if (same.isInstance) facts.name = this.#className(object, map, same.objectType);
    else {
      const type = same.objectType;
      const kind = this.#kinds.of(type);
      const nodeType = this.#typeOf(object, type, kind.nodeType);
      facts.type = typeNumbers.get(nodeType)!;
      facts.name = this.#nameOf(object, map, type, nodeType, kind.name);
    }
    return facts;
  }

  /** Before the kernel reads nodes. */
  startKernel(kernel: HeapKernel): void {
    const { code } = kernel;
    const { length, chars } = this.#heap.layout.string;
    const rows = code.strings.value * 2 + 1;
    kernel.answers.addWithheld = () => this.#names.addWithheld();
    // If there is not enough memory, texts are read here.
    if (kernel.addressOf('texts') + rows * textRowBytes > code.memory.buffer.byteLength)
      for (const [map, way] of kernel.bytes('nodeWays', code.mapRoom.value).entries())
        if (way > NodeWay.same) kernel.bytes('nodeWays', 1, map)[0] = NodeWay.reader;
    code.startNodes(rows, length, chars, this.#heap.layout.line >= linesThatShareConstants);
  }

  /** Type and name of all objects of a map, whose number it is, if they are the same; to be asked after one was read. */
  sharedFacts(map: number): { type: number; name: number } | undefined {
    const same = this.#sameForMap[map];
    if (same?.isSame) return same;
    const name = same?.isInstance && this.#dictionaries[map] === false ? this.#classOf[map] : undefined;
    return same && name !== undefined ? { type: same.type, name } : undefined;
  }

  /** Most kinds have one name for all objects of a map. */
  #learn(map: number): SameFacts {
    const { types } = this.#heap.layout;
    const objectType = this.#objects.maps.types[map]!;
    const { nodeType, name } = this.#kinds.of(objectType);
    const named = [types.symbol, types.oddball, types.shared, types.map, types.code, types.script];
    const isSame =
      !['string', 'closure', 'regexp', 'code'].includes(nodeType) &&
      !this.#kinds.isJsObject(objectType) &&
      !named.includes(objectType);
    const isInstance = nodeType === 'object' && this.#kinds.isJsObject(objectType);
    const same = {
      isSame,
      isInstance,
      objectType,
      type: typeNumbers.get(nodeType)!,
      name: this.#names.of(name),
    };
    this.#sameForMap[map] = same;
    return same;
  }

  #typeOf(object: number, type: number, usual: NodeTypeName): NodeTypeName {
    const { types } = this.#heap.layout;
    if (type === types.map && this.#objects.isReadOnly(object)) return 'hidden';
    if (type === types.symbol && this.#isPrivate(object)) return 'hidden';
    return usual;
  }

  #isPrivate(object: number): boolean {
    return isPrivateSymbol(this.#heap, this.#objects.words.high(object + 1));
  }

  #sizeOf(object: number, type: number): number {
    const own = this.#objects.sizeOf(object) * 8;
    if (this.#heap.layout.line < linesThatShareConstants) return own;
    if (this.#objects.isReadOnly(object)) return 0;
    if (type >= 0x80 || (type & 7) !== external) return own;
    const length = findStringLength(this.#heap, this.#objects.pointer(object)) ?? 0;
    return own + length * ((type & 8) !== 0 ? 1 : 2);
  }

  #nameOf(object: number, map: number, type: number, nodeType: NodeTypeName, usual: string): number {
    const { types, regExpSource } = this.#heap.layout;
    const pointer = this.#objects.pointer(object);
    const named = (text: string) => this.#names.of(text);
    switch (nodeType) {
      case 'string':
        return isInternalized(type)
          ? this.#names.ofString(this.#heap, pointer)
          : this.#valueName(object, type);
      case 'closure':
        return type === types.boundFunction ? named('native_bind') : this.#functionName(pointer);
      case 'regexp':
        return named(this.#text(pointer, regExpSource) ?? '');
      default:
    }
    if (type === types.symbol && nodeType === 'hidden') return named('private symbol');
    if (this.#kinds.isJsObject(type)) return this.#className(object, map, type);
    if (type === types.oddball) return named(this.#oddball(pointer));
    if (type === types.shared) return named(this.#sharedName(pointer));
    if (type === types.map) return named(this.#mapName(pointer));
    if (type === types.code) return named(this.#codeName(object));
    if (nodeType === 'code' && this.#kinds.of(type).shape === 'instructions')
      return named(this.#instructionsName(object));
    if (type === types.script) return named(this.#text(pointer, this.#heap.layout.script.name) ?? '');
    return named(usual);
  }

  /** Of a string that names nothing. */
  #valueName(object: number, type: number): number {
    const { words } = this.#objects;
    if (this.#names.hasValues) return this.#names.ofString(this.#heap, this.#objects.pointer(object));
    if ((type & 7) !== sequential) return this.#names.ofWithheldPart();
    const { length, chars } = this.#heap.layout.string;
    const row = words.rowOfSlot(object);
    const first = (object - words.firstOfRow(object)) * 2;
    const units = Math.min(row[first + length / 4] ?? 0, maxLength);
    const bytes = (type & 8) !== 0 ? units : units * 2;
    const from = first + chars / 4;
    const isWhole = units >= 0 && from + Math.ceil(bytes / 4) <= row.length;
    return isWhole ? this.#names.ofWithheld(row, from, bytes) : this.#names.ofWithheldPart();
  }

  #text(pointer: Tagged, offset: number): string | undefined {
    return whereMapped(() => findString(this.#heap, this.#heap.field(pointer, offset), maxNameLength));
  }

  #functionName(pointer: Tagged): number {
    const shared = whereMapped(() => this.#heap.field(pointer, this.#heap.layout.functionObject.shared)) ?? 0;
    const known = this.#functionNames.get(shared);
    if (known !== undefined) return known;
    const name = this.#names.of(whereMapped(() => findFunctionName(this.#heap, pointer)) ?? '');
    this.#functionNames.set(shared, name);
    return name;
  }

  #sharedName(pointer: Tagged): string {
    return (
      this.#ownName(pointer) || (this.#heap.layout.line < linesOfStreams ? '' : '(shared function info)')
    );
  }

  #ownName(shared: Tagged): string {
    const { name } = this.#heap.layout.shared;
    return this.#text(shared, name) ?? this.#scopeOf(shared)?.functionName ?? '';
  }

  #inferredName(shared: Tagged): string {
    return this.#scopeOf(shared)?.inferredName ?? '';
  }

  #scopeOf(shared: Tagged): ScopeInfo | undefined {
    const { name } = this.#heap.layout.shared;
    return whereMapped(() => findScopeInfo(this.#heap, this.#heap.field(shared, name)));
  }

  /** The map of a string type includes the name of that type. */
  #mapName(pointer: Tagged): string {
    const described = whereMapped(() =>
      this.#heap.memory.readUint16(pointer - 1 + this.#heap.layout.map.instanceType),
    );
    const name = isStringType(described) ? this.#kinds.typeName(described ?? 0) : '';
    return name ? `system / Map (${camelCase(name)})` : 'system / Map';
  }

  /** V8's built-in code is in the executable, where symbols name it. */
  #codeName(object: number): string {
    const { code } = this.#heap.layout;
    // Instructions that are not on a known page are not V8's own either.
    if (this.#wordOf(object, code.stream) !== 0) {
      if (this.#heap.layout.line < linesOfStreams) return '';
      const of = this.#functionOfCode.get(object);
      return of === undefined ? '(code)' : of ? `(code for ${of})` : '(BASELINE code)';
    }
    const entry = this.#entryOf(object);
    const name = this.#builtinAt(entry, this.#firstBuiltins.findLast((first) => first <= entry) ?? entry);
    if (name === undefined) return '(builtin code)';
    return `(${name} builtin ${this.#heap.layout.line < linesOfStreams ? 'handle' : 'code'})`;
  }

  /** Optimised code belongs to no function alone, and its instructions have no name. */
  #instructionsName(object: number): string {
    const of = this.#functionOfCode.get(this.#objects.target(object, 1));
    if (of === undefined) return '';
    const what = this.#heap.layout.line < linesOfStreams ? 'code' : 'instruction stream';
    return of ? `(${what} for ${of})` : `(BASELINE ${what})`;
  }

  /** Baseline code, and the function that has it; an empty name for an anonymous one. */
  #findFunctionsOfCode(): Map<number, string> {
    const { types, shared } = this.#heap.layout;
    const found = new Map<number, string>();
    for (const object of this.#objects.allOf(types.shared)) {
      for (const offset of shared.data) {
        const code = this.#objects.target(object, offset / 8);
        if (code < 0 || this.#objects.typeOf(code) !== types.code) continue;
        const pointer = this.#objects.pointer(object);
        found.set(code, this.#ownName(pointer) || this.#inferredName(pointer));
      }
    }
    return found;
  }

  #entryOf(object: number): number {
    return this.#wordOf(object, this.#heap.layout.code.entry);
  }

  #wordOf(object: number, offset: number): number {
    return this.#objects.words.word(object + offset / 8);
  }

  /** Each isolate may have a copy of the built-ins of its own, far away from those of others. In ascending order. */
  #findFirstBuiltins(): number[] {
    const { code, types } = this.#heap.layout;
    const entries: number[] = [];
    for (const object of this.#objects.allOf(types.code))
      if (this.#wordOf(object, code.stream) === 0) entries.push(this.#entryOf(object));
    const firsts: number[] = [];
    for (const entry of entries.sort((a, b) => a - b))
      if (entry > (firsts.at(-1) ?? -Infinity) + mostBuiltinBytes) firsts.push(entry);
    return firsts;
  }

  #oddball(pointer: Tagged): string {
    const { oddballKind, oddballs } = this.#heap.layout;
    const kind = whereMapped(() => this.#heap.findSmi(pointer, oddballKind));
    if (this.#heap.layout.line < linesThatShareConstants) return 'system / Oddball';
    const known = Object.entries(oddballs).find(([, value]) => value === kind);
    return known?.[0] ?? 'system / Oddball';
  }

  /** `map`: its number. */
  #className(object: number, map: number, type: number): number {
    // Objects whose properties are in a dictionary share a map, whatever properties they have.
    if (this.#dictionaries[map] ?? this.#learnDictionary(object, map))
      if (this.#hasTagInDictionary(object)) return this.#findClassName(object, type);
    this.#classOf[map] ??= this.#findClassName(object, type);
    return this.#classOf[map]!;
  }

  #hasTagInDictionary(object: number): boolean {
    const table = this.#objects.target(object, this.#heap.layout.object.properties / 8);
    if (table < 0) return false;
    const known = this.#tagged.get(table);
    if (known !== undefined) return known;
    const words = this.#objects.sizeOf(table);
    const hasTag = this.#hasTag(table, words);
    if (words >= wordsWorthKeeping) this.#tagged.set(table, hasTag);
    return hasTag;
  }

  #hasTag(table: number, end: number): boolean {
    const { dictionary, fixedArray } = this.#heap.layout;
    for (let word = fixedArray.data / 8 + dictionary.start; word < end; word += dictionary.entryWords)
      if (this.#objects.target(table, word) === this.#toStringTag) return true;
    return false;
  }

  #learnDictionary(object: number, map: number): boolean {
    const { bitField3, isDictionaryShift } = this.#heap.layout.map;
    const pointer = this.#objects.words.word(object);
    const bits = whereMapped(() => this.#heap.memory.readUint32(pointer - 1 + bitField3)) ?? 0;
    const isDictionary = ((bits >>> isDictionaryShift) & 1) === 1;
    this.#dictionaries[map] = isDictionary;
    return isDictionary;
  }

  /** One of the constants that every heap has. */
  #findToStringTag(): number {
    const { types, symbolName } = this.#heap.layout;
    const first = this.#objects.firstReadOnly;
    for (let at = this.#objects.next(first); at >= 0; at = this.#objects.next(at + 1))
      if (
        this.#objects.typeOf(at) === types.symbol &&
        this.#text(this.#objects.pointer(at), symbolName) === 'Symbol.toStringTag'
      )
        return at;
    return -1;
  }

  #findClassName(object: number, type: number): number {
    const { types, line } = this.#heap.layout;
    const pointer = this.#objects.pointer(object);
    const name =
      type === types.globalObject ? 'global' : this.#classes.find(pointer, this.#objects.words.word(object));
    const isTold = line >= linesOfGlobalNames;
    if (isTold && type === types.globalObject) return this.#names.of(`${name} (global*)`);
    if (isTold && type === types.globalProxy) return this.#names.of(`${name} (global)`);
    return this.#names.of(name);
  }
}
