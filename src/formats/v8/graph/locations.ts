/**
 * Where functions were written, and the classes of objects, as V8's profiler tells it: the start of the function, or of the one
 * that the class name is from. Source: V8HeapExplorer::ExtractLocation of V8.
 */
import { whereMapped } from '../../../bytes/memory.ts';
import { Functions } from '../frames/functions.ts';
import { Scripts } from '../frames/script.ts';
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { ClassNames } from './class-names.ts';
import type { ObjectKinds } from './object-kinds.ts';
import type { HeapObjects } from './objects/heap-objects.ts';

/** Line and column are 0-based, as in V8's snapshots. */
export interface GraphPlace {
  scriptId: number;
  line: number;
  column: number;
}

/** Nodes and the numbers of their places. Valid until the next batch. */
export interface LocationBatch {
  count: number;
  nodes: Uint32Array;
  places: Uint32Array;
}

/** What is known of the objects of a map instead of their place. */
const [byFunction, byGenerator] = [-1, -2];
const generatorFunction = 3;
const noPlace = 0;

export class LocationReader {
  /** By number; the first one stands for none. */
  readonly places: (GraphPlace | undefined)[] = [undefined];
  readonly #heap: V8Heap;
  readonly #objects: HeapObjects;
  readonly #kinds: ObjectKinds;
  readonly #scripts: Scripts;
  readonly #functions: Functions;
  readonly #classes: ClassNames;
  /** By the number of the map. */
  readonly #ofMap: number[] = [];
  /** By the object that closures of one function literal share. */
  readonly #ofShared = new Map<Tagged, number>();

  constructor(heap: V8Heap, objects: HeapObjects, kinds: ObjectKinds) {
    this.#heap = heap;
    this.#objects = objects;
    this.#kinds = kinds;
    this.#scripts = new Scripts(heap);
    this.#functions = new Functions(heap, this.#scripts);
    this.#classes = new ClassNames(heap);
  }

  /** Number of the place of an object; 0 for none. */
  of(object: number): number {
    const map = this.#objects.mapOf(object);
    this.#ofMap[map] ??= this.#learn(object, this.#objects.maps.types[map]!);
    const known = this.#ofMap[map]!;
    if (known >= 0) return known;
    if (known === byFunction) return this.#ofFunction(object);
    const func = this.#objects.target(object, generatorFunction);
    return func >= 0 && this.#isFunction(this.#objects.typeOf(func)) ? this.#ofFunction(func) : noPlace;
  }

  #learn(object: number, type: number): number {
    if (!this.#kinds.isJsObject(type)) return noPlace;
    if (this.#isFunction(type)) return byFunction;
    if (this.#kinds.of(type).fields.some(({ name }) => name === 'parameters_and_registers'))
      return byGenerator;
    const { words } = this.#objects;
    const maker = this.#classes.makerOf(this.#objects.pointer(object), words.word(object));
    if (maker === undefined) return noPlace;
    return this.#placeOfShared(
      whereMapped(() => this.#heap.field(maker, this.#heap.layout.functionObject.shared)) ?? 0,
    );
  }

  #isFunction(type: number): boolean {
    const [first, last] = this.#heap.layout.types.function;
    return type >= first && type <= last;
  }

  #ofFunction(func: number): number {
    return this.#placeOfShared(this.#objects.words.word(func + this.#heap.layout.functionObject.shared / 8));
  }

  #placeOfShared(shared: Tagged): number {
    const known = this.#ofShared.get(shared);
    if (known !== undefined) return known;
    const place = whereMapped(() => this.#find(shared));
    const number = place ? this.places.push(place) - 1 : noPlace;
    this.#ofShared.set(shared, number);
    return number;
  }

  #find(shared: Tagged): GraphPlace | undefined {
    const found = this.#functions.startOf(shared);
    const place = found && this.#scripts.findPlace(found.script, found.start);
    if (!place || place.line < 1 || place.column < 1) return undefined;
    return { scriptId: found.script.id, line: place.line - 1, column: place.column - 1 };
  }
}
