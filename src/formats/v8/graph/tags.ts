/**
 * Names that V8's profiler gives to arrays, which have no class, by the object that refers to them; and which internal
 * objects it counts as code or as shapes. Source: TagObject in src/profiler/heap-snapshot-generator.cc of V8.
 */

import type { V8Layout } from '../heap/object-layout.ts';
import type { EdgeList } from './edges/edge-list.ts';
import type { Names } from './names.ts';
import { Edge, type NodeTypeName, nodeTypes, type ObjectKinds } from './object-kinds.ts';
import type { HeapObjects } from './objects/heap-objects.ts';
import type { SlotSet } from './objects/slot-set.ts';

interface Tag {
  /** Absent if V8 only changes the type. */
  text?: string;
  type?: NodeTypeName;
  /** Only for arrays with weak elements. */
  isOfWeak?: boolean;
  /** Only for plain arrays and those with weak elements. */
  isOfPlain?: boolean;
  /** For objects of any kind. */
  isOfAny?: boolean;
  /** Replaces the name of an array that has one. */
  isReplacing?: boolean;
  /** Arrays in plain arrays get the tag too, down to this many levels. */
  levels?: number;
  /** Only from this hidden edge on: the fields of the owner that have no other name, in their order. */
  fromHidden?: number;
  /** The tag of the fields before. */
  before?: Tag;
}

/** By the name of the internal edge to the array. */
const byEdge: Readonly<Record<string, Tag>> = {
  properties: { text: '(object properties)' },
  shared: { text: '(shared function info)', isOfAny: true },
  elements: { text: '(object elements)' },
  bindings: { text: '(bound arguments)' },
  constant_elements: { text: '(constant elements)', type: 'code' },
  transition: { text: '(transition)' },
  line_ends: { text: '(script line ends)', type: 'code' },
  interpreter_data: { text: '(interpreter data)' },
  bytecode_offset_table: { text: '(bytecode offset table)', type: 'code' },
  deoptimization_data: { text: '(code deopt data)', type: 'code' },
  source_position_table: { text: '(source position table)', type: 'code' },
  relocation_info: { text: '(code relocation info)', type: 'code' },
};

/** What the type of a referring object tells. */
interface Owner {
  tag: Tag | undefined;
  /** Whether the type of the target may tell more. */
  hasPairs: boolean;
}

/** By the type of the referring object, for arrays of any kind. */
const byOwner: Readonly<Record<string, Tag>> = {
  FEEDBACK_VECTOR: { text: '(feedback)', type: 'code', isOfPlain: true },
  ENUM_CACHE: { text: '(enum cache)', type: 'object shape' },
  PROTOTYPE_INFO: { text: '(prototype users)', type: 'object shape' },
  SCRIPT: { text: '(infos)', type: 'code', isOfWeak: true },
  TRANSITION_ARRAY: { text: '(prototype transitions)', type: 'object shape' },
  ALLOCATION_SITE: { text: '(dependent code)', type: 'code' },
  SCOPE_INFO: { text: '(context local names)', type: 'code' },
};
const pool: Tag = { text: '(constant pool)', type: 'code', isReplacing: true, levels: 3 };
/** By the types of the referring object and of its target. */
const byPair: Readonly<Record<string, Tag>> = {
  // The names of a wrapper's parameters, which are in such an array too, come before.
  'SCRIPT FIXED_ARRAY': { text: '(host-defined options)', type: 'code', fromHidden: 4 },
  'BYTECODE_ARRAY FIXED_ARRAY': pool,
  'BYTECODE_ARRAY TRUSTED_FIXED_ARRAY': pool,
  'BYTECODE_ARRAY BYTE_ARRAY': {
    text: '(source position table)',
    type: 'code',
    fromHidden: 2,
    before: { text: '(handler table)', type: 'code' },
  },
  'MAP CELL': { type: 'object shape' },
  'CODE PROTECTED_FIXED_ARRAY': { type: 'code' },
};
/** The arrays that the data for deoptimisation refers to, whose names V8 sets too: frames, values, and inlined positions. */
const deoptimizationData = 'deoptimization_data';
const isAt = ({ fromHidden }: Tag, type: number, name: number) =>
  fromHidden === undefined || (type === Edge.hidden && name >= fromHidden);
const [textMask, typeShift] = [0xff, 8];
/** Words before the first element. */
const arrayHeader = 2;
const nestedTypes = /^(?:FIXED_ARRAY|NAME_DICTIONARY|NUMBER_DICTIONARY)$/;
const arrayTypes = /^(?:TRUSTED_FIXED_ARRAY|WEAK_FIXED_ARRAY|WEAK_ARRAY_LIST|DEPENDENT_CODE)$/;

/** Whether what refers to an object of this type names it. */
export const isTaggedArray = (kinds: ObjectKinds, type: number): boolean =>
  kinds.of(type).nodeType === 'array' || arrayTypes.test(kinds.typeName(type));

export class Tagger {
  readonly #objects: HeapObjects;
  readonly #kinds: ObjectKinds;
  /** By text number. */
  readonly #byEdge: (Tag | undefined)[] = [];
  readonly #owners: Owner[] = [];
  /** By type. */
  readonly #arrays: boolean[] = [];
  /** By the owner's type times 65,536 plus that of the target. */
  readonly #byPair = new Map<number, Tag | undefined>();
  readonly #ownersOfPairs = new Set(Object.keys(byPair).map((pair) => pair.split(' ')[0]));
  readonly #texts: number[];
  readonly #numberOf = new Map<string, number>();
  /** By node: index in `#combinations`. */
  readonly #tags: Uint8Array;
  /** One more than the index of a text in the lower half, and than that of a type in the upper; zero for none. */
  readonly #combinations = [0];
  /** By array: the levels that were walked below it. */
  readonly #levelsWalked = new Map<number, number>();
  readonly #empty: number;
  readonly #replacing: number;
  readonly #deoptimizationData: number;
  /** Indexes in the data for deoptimisation. */
  readonly #deoptimizationArrays: readonly number[];

  /** `nodes`: number of nodes that may be tagged; `column`: a byte for each, zeroed, of the caller's. */
  constructor(
    objects: HeapObjects,
    kinds: ObjectKinds,
    names: Names,
    { literals, inliningPositions }: V8Layout['deoptimization'],
    nodes: number,
    column?: Uint8Array,
  ) {
    this.#deoptimizationData = names.of(deoptimizationData);
    this.#deoptimizationArrays = [0, literals, inliningPositions];
    this.#objects = objects;
    this.#kinds = kinds;
    const named = new Map(Object.entries(byEdge).map(([edge, tag]) => [names.of(edge), tag]));
    for (let i = 0; i <= Math.max(...named.keys()); i++) this.#byEdge.push(named.get(i));
    this.#empty = names.of('');
    const tags = [byEdge, byOwner, byPair]
      .flatMap((table) => Object.values(table))
      .flatMap((tag) => (tag.before ? [tag, tag.before] : [tag]));
    const texts = [...new Set(tags.flatMap(({ text }) => (text === undefined ? [] : [text])))];
    this.#texts = texts.map((text) => names.of(text));
    for (const [i, text] of texts.entries()) this.#numberOf.set(text, i + 1);
    this.#replacing = this.#numberOf.get(pool.text!)!;
    this.#tags = column ?? new Uint8Array(nodes);
  }

  /** For the kernel: the number of the tag of internal edges with this name, from 1 on, or 0, and what it may be of. */
  edgeTag(name: number): { tag: number; isOfAny: boolean } {
    const found = this.#byEdge[name];
    return {
      tag: found ? Object.values(byEdge).indexOf(found) + 1 : 0,
      isOfAny: found?.isOfAny === true,
    };
  }

  /** The combination that a tag leads to from another combination. */
  step(combination: number, tag: number): number {
    return this.#add(combination, Object.values(byEdge)[tag - 1]!);
  }

  /** Whether edges of such objects tag by their names alone. */
  isPlainOwner(type: number): boolean {
    const { tag, hasPairs } = this.#owners[type] ?? this.#learn(type);
    return !tag && !hasPairs;
  }

  isTagged(node: number): boolean {
    return this.#tags[node] !== 0;
  }

  /** The name of a node that would have the name `usual` without tags. */
  nameOf(node: number, object: number, usual: number): number {
    const text = this.#combinations[this.#tags[node]!]! & textMask;
    const isUnnamed = usual === this.#empty || (text === this.#replacing && this.#isPool(object));
    return text > 0 && isUnnamed ? this.#texts[text - 1]! : usual;
  }

  /** Index in `nodeTypes`. */
  typeOf(node: number, usual: number): number {
    const type = this.#combinations[this.#tags[node]!]! >>> typeShift;
    return type > 0 ? type - 1 : usual;
  }

  /** Must be called for each live object, in their order, with its edges. */
  tag(owner: number, { count, types, names, targets }: EdgeList, live: SlotSet): void {
    const ownerType = this.#objects.typeOf(owner);
    const { tag, hasPairs } = this.#owners[ownerType] ?? this.#learn(ownerType);
    const byEdge = this.#byEdge;
    const isPlain = !tag && !hasPairs;
    for (let i = 0; i < count; i++) {
      const type = types[i]!;
      if (type === Edge.weak) continue;
      const name = names[i]!;
      const byName = type === Edge.internal && name < byEdge.length ? byEdge[name] : undefined;
      if (!byName && isPlain) continue;
      const target = targets[i]!;
      const ofPair = hasPairs ? this.#ofPair(ownerType, this.#objects.typeOf(target)) : undefined;
      if (byName || ofPair || (tag && this.#isArray(target)))
        this.#tagTarget(type, name, target, tag, byName, ofPair, live);
    }
  }

  #tagTarget(
    type: number,
    name: number,
    target: number,
    tag: Tag | undefined,
    byName: Tag | undefined,
    ofPair: Tag | undefined,
    live: SlotSet,
  ): void {
    const node = live.numberOf(target);
    const isArray = this.#isArray(target);
    if (byName && (isArray || byName.isOfAny)) this.#set(node, byName, target);
    if (byName && name === this.#deoptimizationData) this.#tagDeoptimization(byName, target, live);
    const atField = ofPair && (isAt(ofPair, type, name) ? ofPair : ofPair.before);
    if (atField) {
      this.#set(node, atField, target);
      if (atField.levels) this.#tagNested(atField, atField.levels, target, live);
    }
    if (tag && isArray) this.#set(node, tag, target);
  }

  #tagDeoptimization(tag: Tag, data: number, live: SlotSet): void {
    for (const index of this.#deoptimizationArrays) {
      const array = this.#objects.target(data, arrayHeader + index);
      if (array >= 0 && live.has(array) && index < this.#objects.sizeOf(data) - arrayHeader)
        this.#set(live.numberOf(array), tag, array);
    }
  }

  /** What a plain array contains, and plain arrays in it. An array that many others contain is walked once for each level. */
  #tagNested(tag: Tag, levels: number, array: number, live: SlotSet): void {
    if (levels <= Math.max(1, this.#levelsWalked.get(array) ?? 0)) return;
    if (this.#typeName(array) !== 'FIXED_ARRAY') return;
    this.#levelsWalked.set(array, levels);
    for (let word = arrayHeader; word < this.#objects.sizeOf(array); word++) {
      const target = this.#objects.target(array, word);
      if (target < 0 || !live.has(target) || !nestedTypes.test(this.#typeName(target))) continue;
      this.#set(live.numberOf(target), tag, target);
      this.#tagNested(tag, levels - 1, target, live);
    }
  }

  #ofPair(owner: number, target: number): Tag | undefined {
    const key = owner * 2 ** 16 + target;
    if (!this.#byPair.has(key))
      this.#byPair.set(key, byPair[`${this.#kinds.typeName(owner)} ${this.#kinds.typeName(target)}`]);
    return this.#byPair.get(key);
  }

  #learn(type: number): Owner {
    const name = this.#kinds.typeName(type);
    const owner = { tag: byOwner[name], hasPairs: this.#ownersOfPairs.has(name) };
    this.#owners[type] = owner;
    return owner;
  }

  #isArray(object: number): boolean {
    const type = this.#objects.typeOf(object);
    this.#arrays[type] ??= isTaggedArray(this.#kinds, type);
    return this.#arrays[type];
  }

  #set(node: number, tag: Tag, object: number): void {
    const { isOfWeak, isOfPlain } = tag;
    if (isOfWeak || isOfPlain) {
      const typeName = this.#typeName(object);
      if (typeName !== 'WEAK_FIXED_ARRAY' && (isOfWeak || typeName !== 'FIXED_ARRAY')) return;
    }
    this.#tags[node] = this.#add(this.#tags[node]!, tag);
  }

  #add(before: number, { text, type, isReplacing }: Tag): number {
    let tag = this.#combinations[before]!;
    if (text !== undefined && ((tag & textMask) === 0 || isReplacing))
      tag = (tag & ~textMask) | this.#numberOf.get(text)!;
    if (type) tag = (tag & textMask) | ((nodeTypes.indexOf(type) + 1) << typeShift);
    const known = this.#combinations.indexOf(tag);
    return known < 0 ? this.#combinations.push(tag) - 1 : known;
  }

  #isPool(object: number): boolean {
    return this.#typeName(object) === 'TRUSTED_FIXED_ARRAY';
  }

  #typeName(object: number): string {
    return this.#kinds.typeName(this.#objects.typeOf(object));
  }
}
