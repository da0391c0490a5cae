/**
 * The class name of an object, determined as V8's profiler does: from the function in the map, a `Symbol.toStringTag`, or the
 * `constructor` of a prototype. Source: JSReceiver::GetConstructorName in src/objects/js-objects.cc of V8.
 */
import { whereMapped } from '../../../bytes/memory.ts';
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { findFunctionName, type OwnProperty, readOwnProperties } from '../properties.ts';
import { findString } from '../strings.ts';

const maxTransitions = 2000;
const maxPrototypes = 64;
const maxProperties = 2000;
const maxNameLength = 256;
const newTargetIsBase = 1;
const linesOfSetNames = 1400;
/** Properties that name a class. */
const telling = new Set(['constructor', '[Symbol.toStringTag]', 'name']);

interface Named {
  name?: string | undefined;
  /** The function whose name it is. */
  maker?: Tagged | undefined;
}

export class ClassNames {
  readonly #heap: V8Heap;
  readonly #ofPrototype = new Map<Tagged, ReadonlyMap<string, OwnProperty>>();

  constructor(heap: V8Heap) {
    this.#heap = heap;
  }

  /** The class name of an object; `map` is the object's map. */
  find(object: Tagged, map: Tagged): string {
    return whereMapped(() => this.#find(object, map).name ?? this.#ofType(map)) ?? 'Object';
  }

  /** The function that the class name is from, if it is from one. */
  makerOf(object: Tagged, map: Tagged): Tagged | undefined {
    return whereMapped(() => this.#find(object, map).maker);
  }

  #find(object: Tagged, map: Tagged): Named {
    const { memory, layout } = this.#heap;
    const bits3 = memory.readUint32(map - 1 + layout.map.bitField3);
    const isPrototype = ((bits3 >>> (layout.map.isDictionaryShift - 1)) & 1) === 1;
    const maker = this.#maker(map);
    const made = maker === undefined ? undefined : this.#nameOf(maker);
    if (!isPrototype && (memory.readUint8(map - 1 + layout.map.bitField2) & newTargetIsBase) !== 0)
      if (made && made !== 'Object') return { name: made, maker };
    return this.#inherited(object);
  }

  /** If nothing names a class, as for prototypes that V8 creates. */
  #ofType(map: Tagged): string {
    const { types } = this.#heap.layout;
    const type = this.#heap.findMapType(map);
    if (type === types.jsArray) return 'Array';
    if (type === types.jsMap) return 'Map';
    if (type === types.jsSet) return 'Set';
    if (type === types.jsDate) return 'Date';
    if (type === types.jsPromise) return 'Promise';
    if (type === types.jsError) return 'Error';
    if (type === types.asyncFunctionObject) return 'Generator';
    return 'Object';
  }

  /**
   * The first name on the object or one of its prototypes: a tag, or the constructor of a prototype. What is an accessor, or has
   * another type, is passed over.
   */
  #inherited(object: Tagged): Named {
    const heap = this.#heap;
    let current = object;
    for (let i = 0; i < maxPrototypes && this.#isObject(current); i++) {
      const own = this.#ownOf(current);
      const tag = dataOf(own.get('[Symbol.toStringTag]'));
      const text = tag === undefined ? undefined : findString(heap, tag, maxNameLength);
      if (text !== undefined) return { name: text };
      const maker = i === 0 ? undefined : dataOf(own.get('constructor'));
      const name = maker !== undefined && heap.isFunction(maker) ? this.#nameOf(maker) : undefined;
      if (name && name !== 'Object') return { name, maker };
      current = heap.field(heap.map(current), heap.layout.map.prototype);
    }
    return {};
  }

  /** The name in the source; in newer versions of V8 the property `name`, if the program has set it. */
  #nameOf(maker: Tagged): string | undefined {
    const name =
      this.#heap.layout.line < linesOfSetNames ? undefined : dataOf(this.#ownOf(maker).get('name'));
    const set = name === undefined ? undefined : findString(this.#heap, name, maxNameLength);
    return set ?? findFunctionName(this.#heap, maker);
  }

  #ownOf(object: Tagged): ReadonlyMap<string, OwnProperty> {
    const known = this.#ofPrototype.get(object);
    if (known) return known;
    const own = whereMapped(() => readOwnProperties(this.#heap, object, maxProperties)) ?? [];
    const byName = new Map(
      own.filter(({ name }) => telling.has(name)).map((property) => [property.name, property]),
    );
    this.#ofPrototype.set(object, byName);
    return byName;
  }

  #isObject(value: Tagged): boolean {
    const { jsProxy } = this.#heap.layout.types;
    return (this.#heap.findType(value) ?? 0) > jsProxy;
  }

  #maker(map: Tagged): Tagged | undefined {
    const heap = this.#heap;
    const { map: m, types } = heap.layout;
    let value = heap.field(map, m.constructorOrBack);
    for (let i = 0; i < maxTransitions && heap.isType(value, types.map); i++)
      value = heap.field(value, m.constructorOrBack);
    return heap.isFunction(value) ? value : undefined;
  }
}

const dataOf = (property: OwnProperty | undefined) => (property?.isAccessor ? undefined : property?.value);
