/**
 * The references of each object, named as V8's profiler names them. First the known fields of its kind; then every other word
 * that points exactly to the start of an object becomes a hidden edge, so that no reference of an unknown kind is lost.
 * Source: V8HeapExplorer in src/profiler/heap-snapshot-generator.cc of V8.
 */
import type { V8Heap } from '../heap/heap.ts';
import { CodeReader } from './code-references.ts';
import { ContextReader } from './context-names.ts';
import type { EdgeList } from './edges/edge-list.ts';
import { JsObjectReader, type ObjectPlan } from './js-object-references.ts';
import type { DescribedProperty } from './map-facts.ts';
import { internalWord, NamedWords } from './named-words.ts';
import type { Names } from './names.ts';
import { DispatchTable } from './native/dispatch-table.ts';
import { ObjectCursor, type UsualNames } from './object-cursor.ts';
import { Edge, headerWords, type ObjectKind, type ObjectKinds } from './object-kinds.ts';
import type { HeapObjects } from './objects/heap-objects.ts';

/** An entry of a weak map: `value` lives as long as both table and key do. */
export interface Ephemeron {
  table: number;
  key: number;
  value: number;
}

export interface KindOfMap {
  kind: ObjectKind;
  /** The words that are named alike in all objects of the kind; those of arrays and the like have names of their own. */
  named: NamedWords;
  /** The map, if it is all that the objects refer to, as numbers and strings do; -1 if V8's profiler leaves it out. */
  onlyMap: number | undefined;
}

/** Header of a weak map's table: map, length, and three counts. */
const ephemeronPrefix = 5;

export class ReferenceReader {
  readonly #at: ObjectCursor;
  readonly #dispatch: DispatchTable;
  readonly #jsObjects: JsObjectReader;
  readonly #code: CodeReader;
  readonly #contexts: ContextReader;
  /** By the number of the map. */
  readonly #kinds: KindOfMap[] = [];
  /** Called for each entry of a weak map. */
  onEphemeron: (entry: Ephemeron) => void = () => {};

  /** `native`: memory outside of V8's heap, where the dispatch table is. */
  constructor(
    heap: V8Heap,
    objects: HeapObjects,
    kinds: ObjectKinds,
    names: Names,
    native: readonly (readonly [start: number, end: number])[],
  ) {
    this.#at = new ObjectCursor(heap, objects, kinds, names);
    this.#dispatch = new DispatchTable(heap, objects, native);
    this.#jsObjects = new JsObjectReader(this.#at, this.#dispatch);
    this.#code = new CodeReader(this.#at);
    this.#contexts = new ContextReader(heap, names);
  }

  /** The edges of an object, until the next one is visited. */
  visit(object: number): EdgeList {
    const at = this.#at;
    const map = at.objects.mapOf(object);
    const { kind, named, onlyMap } = this.#kinds[map] ?? this.#learn(map, object);
    if (onlyMap !== undefined) return at.only(Edge.internal, at.usual.map, onlyMap);
    at.begin(object, at.objects.maps.types[map]!, map);
    this.#known(kind);
    at.follow(named);
    // All words of such an array have been looked at.
    if (kind.shape !== 'array') this.#rest(kind);
    return at.edges;
  }

  /** Whether functions refer to their code by a handle. */
  get hasCodes(): boolean {
    return this.#dispatch.isFound;
  }

  /** How the objects of a map are read, by one of them. */
  describe(object: number): KindOfMap & { plan: ObjectPlan | undefined; names: UsualNames } {
    const at = this.#at;
    const map = at.objects.mapOf(object);
    const known = this.#kinds[map] ?? this.#learn(map, object);
    const type = at.objects.maps.types[map]!;
    at.begin(object, type, map);
    const isNamed = known.kind.shape === 'js-object' && JsObjectReader.hasNamedParts(at.heap, type);
    return { ...known, plan: isNamed ? this.#jsObjects.planOf() : undefined, names: at.usual };
  }

  /** The edges of a property that is the same for all objects of a map. */
  constantEdges(property: DescribedProperty): { name: number; target: number }[] {
    const { edges } = this.#at;
    edges.count = 0;
    this.#jsObjects.constantEdges(property);
    return Array.from({ length: edges.count }, (_, i) => ({
      name: edges.names[i]!,
      target: edges.targets[i]!,
    }));
  }

  /** Whether the constants that every heap has get no edges, or are no elements; by object. */
  constants(): { inessential: Uint8Array; isHole(target: number): boolean } {
    return { inessential: this.#at.inessential, isHole: (target) => this.#jsObjects.isHole(target) };
  }

  /** Scopes that claim more variables than their contexts have slots. */
  get tornScopes(): number {
    return this.#contexts.torn;
  }

  /** The code of a function that refers to it by a handle; otherwise -1. */
  codeOf(func: number): number {
    return this.#dispatch.codeOf(func);
  }

  #learn(map: number, object: number): KindOfMap {
    const at = this.#at;
    const kind = at.kinds.of(at.objects.maps.types[map]!);
    const fields = kind.fields.map(({ word, name, isWeak }) => internalWord(word, at.text(name), isWeak));
    const { properties, elements } = at.heap.layout.object;
    const ofObject = [
      internalWord(properties / 8, at.usual.properties),
      internalWord(elements / 8, at.usual.elements),
    ];
    const isObject =
      kind.shape === 'js-object' && JsObjectReader.hasNamedParts(at.heap, at.objects.maps.types[map]!);
    const named = new NamedWords([...(isObject ? ofObject : []), ...fields, internalWord(0, at.usual.map)]);
    const mapObject = at.objects.target(object, 0);
    const isBare = kind.shape === 'raw' && fields.length === 0;
    const onlyMap = isBare ? (at.isEssential(mapObject) ? mapObject : -1) : undefined;
    this.#kinds[map] = { kind, named, onlyMap };
    return this.#kinds[map];
  }

  #known(kind: ObjectKind): void {
    const { header } = this.#at.heap.layout.descriptors;
    switch (kind.shape) {
      case 'js-object':
        this.#jsObjects.visit();
        break;
      case 'context':
        this.#context();
        break;
      case 'map':
        this.#map();
        break;
      case 'array':
        this.#at.indexed(2);
        break;
      case 'weak-array':
        this.#at.indexed(this.#at.typeName === 'WEAK_FIXED_ARRAY' ? 2 : 3);
        break;
      case 'descriptors':
        this.#at.internal(header / 8 - 1, 'enum_cache');
        this.#at.indexed(header / 8);
        break;
      case 'code':
        this.#code.visitCode();
        break;
      case 'ephemerons':
        this.#ephemerons();
        break;
      default:
    }
  }

  #rest({ shape }: ObjectKind): void {
    if (shape === 'raw') return;
    if (shape === 'instructions') this.#code.visitInstructions();
    else if (shape === 'header' || shape === 'code')
      this.#at.rest(Math.min(this.#at.words, headerWords(this.#at.typeName)));
    else this.#at.rest();
  }

  #context(): void {
    const { words } = this.#at;
    const { context: c } = this.#at.heap.layout;
    const scope = this.#at.targetAt((c.data + c.scopeInfo * 8) / 8);
    const isNative = this.#at.kinds.isNativeContext(this.#at.type);
    const found =
      scope < 0 || isNative
        ? undefined
        : this.#contexts.of(this.#at.objects.pointer(scope), words - c.data / 8);
    found?.names.forEach((name, i) => {
      const word = c.data / 8 + found.first + i;
      const target = word < words ? this.#at.targetAt(word) : -1;
      if (target < 0) return;
      // Otherwise a hidden edge to it follows, as in V8's snapshot.
      if (found.isDeclaration) this.#at.see(word);
      this.#at.emit(Edge.context, name, target);
    });
    this.#at.internal(c.data / 8 + c.scopeInfo, 'scope_info');
    this.#at.internal(c.data / 8 + c.previous, 'previous');
    if (isNative) {
      this.#at.internal(c.data / 8 + c.previous + 1, 'global_object');
      // The next context in V8's list of all contexts, which is weak.
      this.#at.see(words - 1);
    } else if (found && found.first > c.minSlots) this.#at.internal(c.data / 8 + c.minSlots, 'extension');
  }

  #map(): void {
    const { map: m, types } = this.#at.heap.layout;
    const [transitions, back] = [m.transitions / 8, m.constructorOrBack / 8];
    const next = this.#at.targetAt(transitions);
    if (next >= 0) {
      const name = this.#at.kinds.typeName(this.#at.objects.typeOf(next));
      this.#at.internal(
        transitions,
        name === 'PROTOTYPE_INFO'
          ? 'prototype_info'
          : name === 'TRANSITION_ARRAY'
            ? 'transitions'
            : 'transition',
      );
    }
    if (this.#at.kinds.isJsObject(this.#describedType())) this.#at.internal(m.descriptors / 8, 'descriptors');
    this.#at.internal(m.prototype / 8, 'prototype');
    const from = this.#at.targetAt(back);
    const isNative =
      from >= 0 &&
      this.#at.objects.typeOf(from) >= types.context[0] &&
      this.#at.objects.typeOf(from) <= types.context[1];
    this.#at.internal(
      back,
      isNative
        ? 'native_context'
        : from >= 0 && this.#at.objects.typeOf(from) === types.map
          ? 'back_pointer'
          : from >= 0 && this.#at.kinds.typeName(this.#at.objects.typeOf(from)) === 'FUNCTION_TEMPLATE_INFO'
            ? 'constructor_function_data'
            : 'constructor',
    );
    this.#at.internal(m.dependentCode / 8, 'dependent_code');
  }

  /** The type of the objects that a map describes. */
  #describedType(): number {
    const at = this.#at.heap.layout.map.instanceType;
    const { words } = this.#at.objects;
    const half =
      (at & 4) === 0 ? words.low(this.#at.object + (at >> 3)) : words.high(this.#at.object + (at >> 3));
    return (half >>> ((at & 3) * 8)) & 0xffff;
  }

  /** Three counts, then key and value of each entry. */
  #ephemerons(): void {
    const { words } = this.#at;
    for (let word = ephemeronPrefix; word + 1 < words; word += 2) {
      const [key, value] = [this.#at.targetAt(word), this.#at.targetAt(word + 1)];
      this.#at.see(word);
      this.#at.see(word + 1);
      if (key < 0 || this.#at.objects.isReadOnly(key)) continue;
      this.#at.emit(Edge.weak, this.#at.names.ofIndex(word - 2), key);
      if (value >= 0) this.onEphemeron({ table: this.#at.object, key, value });
    }
  }
}
