/** References of JavaScript objects: properties, elements, prototypes, and the additional fields of functions. */
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { type DescribedProperty, type MapFacts, MapReader } from './map-facts.ts';
import { NamedWords, Trait } from './named-words.ts';
import type { DispatchTable } from './native/dispatch-table.ts';
import type { ObjectCursor } from './object-cursor.ts';
import { Edge } from './object-kinds.ts';

/** Packed and holey elements. V8's profiler names none of an object that is frozen, sealed or not extensible. */
export const plainKinds: readonly number[] = [2, 3];
/** From this line on V8's profiler refers from the global proxy to what belongs to it. */
const linesOfContexts = 1400;
const boundArgumentsWord = 5;
/** Header of a number dictionary: three counts and the highest number. */
const sparsePrefix = 4;

export interface ObjectPlan {
  facts: MapFacts;
  /** -1 for none. */
  prototype: number;
  /** The properties that are words of the object. */
  fields: NamedWords;
  /** The other properties: accessors, constants, those that are outside of the object. */
  others: readonly DescribedProperty[];
}

export class JsObjectReader {
  readonly #at: ObjectCursor;
  readonly #maps: MapReader;
  readonly #dispatch: DispatchTable;
  /** By the number of the map. */
  readonly #plans: ObjectPlan[] = [];

  constructor(at: ObjectCursor, dispatch: DispatchTable) {
    this.#at = at;
    this.#maps = new MapReader(at.heap, at.names);
    this.#dispatch = dispatch;
  }

  visit(): void {
    const { words } = this.#at;
    const { object: o, types, functionObject } = this.#at.heap.layout;
    const type = this.#at.type;
    if (type === types.globalProxy) this.#globalProxy();
    if (!JsObjectReader.hasNamedParts(this.#at.heap, type)) return;
    const plan = this.planOf();
    const { facts, prototype, fields } = plan;
    this.#at.follow(fields);
    if (facts.isDictionary) this.#dictionary(this.#at.targetAt(o.properties / 8));
    else if (plan.others.length > 0) {
      const properties = this.#at.targetAt(o.properties / 8);
      for (const property of plan.others) this.#property(property, words, properties);
    }
    this.#elements(facts, words);
    if (prototype >= 0) this.#at.emit(Edge.property, this.#at.usual.prototype, prototype);
    const [first, last] = types.function;
    if (type >= first && type <= last) {
      if (facts.hasPrototypeSlot) this.#functionPrototype(functionObject.prototypeOrMap / 8);
      const code = this.#dispatch.codeOf(this.#at.object);
      if (code >= 0) this.#at.emit(Edge.internal, this.#at.text('code'), code);
    } else if (type === types.boundFunction) this.#boundArguments();
  }

  /** V8's profiler names none of the properties of array buffers, and the parts of a global proxy in its own way. */
  static hasNamedParts({ layout: { types } }: V8Heap, type: number): boolean {
    return type !== types.jsArrayBuffer && type !== types.globalProxy;
  }

  #globalProxy(): void {
    const { heap, objects } = this.#at;
    const { object: o, context, map } = heap.layout;
    const own = objects.target(this.#at.object, 0);
    // Before V8 12 the context was a field, and the only one that is no reference to an empty array.
    for (let word = o.elements / 8 + 1; word < this.#at.words; word++)
      this.#at.internal(word, 'native_context');
    if (heap.layout.line < linesOfContexts) return;
    const native = objects.target(own, map.constructorOrBack / 8);
    if (native < 0 || !this.#at.kinds.isNativeContext(objects.typeOf(native))) return;
    this.#at.emit(Edge.shortcut, this.#at.text('native_context'), native);
    const global = objects.target(native, context.data / 8 + context.previous + 1);
    if (global >= 0) this.#at.emit(Edge.shortcut, this.#at.text('global_object'), global);
  }

  /** Of the objects that have the map of the current one. */
  planOf(): ObjectPlan {
    return this.#plans[this.#at.map] ?? this.#plan();
  }

  /** Once for each map. */
  #plan(): ObjectPlan {
    const facts = this.#maps.of(this.#at.objects.words.word(this.#at.object));
    const isPlain = ({ inObject, isAccessor }: DescribedProperty) => inObject !== undefined && !isAccessor;
    const plain = facts.properties.filter(isPlain);
    const plan: ObjectPlan = {
      facts,
      prototype: this.#at.objects.words.objectFor(facts.prototype),
      fields: new NamedWords(
        plain.map(({ inObject: word = 0, name, isNumber }) => ({
          word,
          name,
          type: Edge.property,
          // V8's profiler does not name a number; a hidden edge to it follows, as there.
          traits: isNumber ? Trait.withConstants | Trait.twice : Trait.withConstants,
        })),
      ),
      others: facts.properties.filter((property) => !isPlain(property)),
    };
    this.#plans[this.#at.map] = plan;
    return plan;
  }

  #boundArguments(): void {
    const list = this.#at.targetAt(boundArgumentsWord);
    if (list < 0) return;
    for (let word = 2; word < this.#at.objects.sizeOf(list); word++) {
      const target = this.#at.objects.target(list, word);
      if (target >= 0) this.#at.emit(Edge.shortcut, this.#at.text(`bound_argument_${word - 2}`), target);
    }
  }

  #functionPrototype(word: number): void {
    const target = this.#at.targetAt(word);
    if (target < 0) return;
    const type = this.#at.objects.typeOf(target);
    if (type === this.#at.heap.layout.types.map) {
      const { prototype } = this.#maps.of(this.#at.objects.pointer(target));
      const found = this.#at.objects.words.objectFor(prototype);
      if (found >= 0) this.#at.emit(Edge.property, this.#at.text('prototype'), found);
      this.#at.internal(word, 'initial_map');
    } else if (type > this.#at.heap.layout.types.jsProxy - 1) {
      this.#at.see(word);
      this.#at.emit(Edge.property, this.#at.text('prototype'), target);
    }
  }

  #property(property: DescribedProperty, words: number, array: number): void {
    let target = -1;
    if (property.inObject !== undefined) {
      if (property.inObject >= words) return;
      target = this.#at.targetAt(property.inObject);
      if (target >= 0) this.#at.see(property.inObject);
    } else if (property.inArray !== undefined) {
      if (array < 0 || property.inArray >= this.#at.objects.sizeOf(array)) return;
      target = this.#at.objects.target(array, property.inArray);
    } else {
      this.constantEdges(property);
      return;
    }
    if (target >= 0) this.#value(property, target);
  }

  /** Of a property that is in the descriptors of the map. */
  constantEdges(property: DescribedProperty): void {
    const target = this.#at.objects.words.objectFor(property.constant ?? 0);
    if (target >= 0) this.#value(property, target);
  }

  #value(
    property: Pick<DescribedProperty, 'name' | 'getter' | 'setter' | 'isAccessor'>,
    target: number,
  ): void {
    if (!property.isAccessor) {
      this.#at.emit(Edge.property, property.name, target);
      return;
    }
    const { types } = this.#at.heap.layout;
    if (this.#at.objects.typeOf(target) !== types.accessorPair) return;
    this.#at.emit(Edge.property, property.name, target);
    const [getter, setter] = [this.#at.objects.target(target, 1), this.#at.objects.target(target, 2)];
    const isSet = (value: number) => value >= 0 && this.#at.objects.typeOf(value) !== types.oddball;
    if (isSet(getter)) this.#at.emit(Edge.property, property.getter, getter);
    if (isSet(setter)) this.#at.emit(Edge.property, property.setter, setter);
  }

  /** Entries are key, value and details; those of a global object are cells that contain all three. */
  #dictionary(table: number): void {
    if (table < 0) return;
    const { dictionary, fixedArray, descriptors, types } = this.#at.heap.layout;
    const { objects } = this.#at;
    const { words } = objects;
    const first = fixedArray.data / 8 + dictionary.start;
    const end = objects.sizeOf(table);
    for (let word = first; word < end; ) {
      const key = this.#at.objects.target(table, word);
      if (key >= 0 && objects.typeOf(key) === types.propertyCell) {
        this.#entry(
          this.#at.objects.pointer(this.#at.objects.target(key, 1)),
          this.#at.objects.target(key, 3),
          words.high(key + 2),
          descriptors.kindMask,
        );
        word++;
        continue;
      }
      if (this.#isGlobal()) {
        word++;
        continue;
      }
      if (key >= 0 && (objects.typeOf(key) < 0x80 || objects.typeOf(key) === types.symbol))
        this.#entry(
          this.#at.objects.pointer(key),
          this.#at.objects.target(table, word + 1),
          words.high(table + word + 2),
          descriptors.kindMask,
        );
      word += dictionary.entryWords;
    }
  }

  #isGlobal(): boolean {
    return this.#at.type === this.#at.heap.layout.types.globalObject;
  }

  #entry(key: Tagged, value: number, details: number, kindMask: number): void {
    if (value < 0) return;
    const name = this.#at.names.ofKey(this.#at.heap, key);
    if (name === undefined) return;
    this.#value(this.#maps.namesOf(name, (details & kindMask) !== 0), value);
  }

  #elements({ elementsKind }: MapFacts, words: number): void {
    const { object: o, fixedArray, types, array: jsArray } = this.#at.heap.layout;
    const { objects } = this.#at;
    const elements = this.#at.targetAt(o.elements / 8);
    // Constants are empty.
    if (elements < 0 || !this.#at.isEssential(elements)) return;
    const first = fixedArray.data / 8;
    if (objects.typeOf(elements) === types.fixedArray) {
      if (!plainKinds.includes(elementsKind)) return;
      const isArray = this.#at.type === types.jsArray && words > jsArray.length / 8;
      const length = isArray ? objects.words.high(this.#at.object + jsArray.length / 8) : Infinity;
      const end = Math.min(objects.sizeOf(elements), first + length);
      for (let word = first; word < end; word++) {
        const target = objects.target(elements, word);
        if (target >= 0 && !this.isHole(target)) this.#at.emit(Edge.element, word - first, target);
      }
    } else if (this.#at.kinds.isFixedArray(objects.typeOf(elements)))
      this.#sparse(elements, first + sparsePrefix);
  }

  /** Entries of a number dictionary: key, value and details. */
  #sparse(table: number, first: number): void {
    const { objects } = this.#at;
    const end = objects.sizeOf(table);
    for (let word = first; word + 2 < end; word += 3) {
      const target = objects.target(table, word + 1);
      if (target < 0) continue;
      const key = objects.target(table, word);
      if (key < 0) this.#at.emit(Edge.element, objects.words.high(table + word), target);
      else if (this.#at.objects.typeOf(key) === this.#at.heap.layout.types.heapNumber)
        this.#at.emit(
          Edge.element,
          this.#at.heap.memory.readDouble(this.#at.objects.pointer(key) + 7),
          target,
        );
    }
  }

  isHole(target: number): boolean {
    if (!this.#at.objects.isReadOnly(target)) return false;
    const { types, oddballKind, oddballHole } = this.#at.heap.layout;
    if (this.#at.objects.typeOf(target) === types.hole) return true;
    if (oddballHole === undefined || this.#at.objects.typeOf(target) !== types.oddball) return false;
    return this.#at.heap.findSmi(this.#at.objects.pointer(target), oddballKind) === oddballHole;
  }
}
