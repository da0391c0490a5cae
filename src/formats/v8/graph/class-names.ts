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

export class ClassNames {
  readonly #heap: V8Heap;
  readonly #ofPrototype = new Map<Tagged, ReadonlyMap<string, OwnProperty>>();

  constructor(heap: V8Heap) {
    this.#heap = heap;
  }

  /** The class name of an object; `map` is the object's map. */
  find(object: Tagged, map: Tagged): string {
    return whereMapped(() => this.#find(object, map)) ?? 'Object';
  }

  #find(object: Tagged, map: Tagged): string {
    const { memory, layout } = this.#heap;
    const bits3 = memory.readUint32(map - 1 + layout.map.bitField3);
    const isPrototype = ((bits3 >>> (layout.map.isDictionaryShift - 1)) & 1) === 1;
    const maker = this.#maker(map);
    const made = maker === undefined ? undefined : findFunctionName(this.#heap, maker);
    if (!isPrototype && (memory.readUint8(map - 1 + layout.map.bitField2) & newTargetIsBase) !== 0)
      if (made && made !== 'Object') return made;
    const tag = this.#lookUp(object, map, '[Symbol.toStringTag]');
    const text = tag === undefined ? undefined : findString(this.#heap, tag, maxNameLength);
    if (text !== undefined) return text;
    const prototype = this.#heap.field(map, layout.map.prototype);
    if (this.#isObject(prototype)) {
      const named = this.#lookUp(prototype, this.#heap.map(prototype), 'constructor');
      const name =
        named !== undefined && this.#heap.isFunction(named) ? findFunctionName(this.#heap, named) : '';
      if (name && name !== 'Object') return name;
    }
    return this.#ofType(map);
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

  /** The value of the first property with this name on an object or one of its prototypes. */
  #lookUp(object: Tagged, map: Tagged, name: string): Tagged | undefined {
    const heap = this.#heap;
    for (let i = 0; i < maxPrototypes; i++) {
      const found = this.#ownOf(object).get(name);
      if (found) return found.isAccessor ? undefined : found.value;
      object = heap.field(i === 0 ? map : heap.map(object), heap.layout.map.prototype);
      if (!this.#isObject(object)) return undefined;
    }
    return undefined;
  }

  #ownOf(object: Tagged): ReadonlyMap<string, OwnProperty> {
    const known = this.#ofPrototype.get(object);
    if (known) return known;
    const own = whereMapped(() => readOwnProperties(this.#heap, object, maxProperties)) ?? [];
    const byName = new Map(
      own
        .filter(({ name }) => name === 'constructor' || name === '[Symbol.toStringTag]')
        .map((property) => [property.name, property]),
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
