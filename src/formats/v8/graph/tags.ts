/**
 * Names that V8's profiler gives to arrays, which have no class, by the object that refers to them; and which internal
 * objects it counts as code or as shapes. Source: TagObject in src/profiler/heap-snapshot-generator.cc of V8.
 */
import type { GraphColumns } from './graph-columns.ts';
import type { HeapObjects } from './heap-objects.ts';
import type { Names } from './names.ts';
import { Edge, type NodeTypeName, nodeTypes, type ObjectKinds } from './object-kinds.ts';

interface Tag {
  /** Absent if V8 only changes the type. */
  text?: string;
  type?: NodeTypeName;
  /** Only for arrays with weak elements. */
  isOfWeak?: boolean;
}

/** By the name of the internal edge to the array. */
const byEdge: Readonly<Record<string, Tag>> = {
  properties: { text: '(object properties)' },
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

/** By the type of the referring object, for arrays of any kind. */
const byOwner: Readonly<Record<string, Tag>> = {
  BYTECODE_ARRAY: { text: '(constant pool)', type: 'code' },
  FEEDBACK_VECTOR: { text: '(feedback)', type: 'code' },
  ENUM_CACHE: { text: '(enum cache)', type: 'object shape' },
  PROTOTYPE_INFO: { text: '(prototype users)', type: 'object shape' },
  SCRIPT: { text: '(infos)', type: 'code', isOfWeak: true },
  TRANSITION_ARRAY: { text: '(prototype transitions)', type: 'object shape' },
  ALLOCATION_SITE: { text: '(dependent code)', type: 'code' },
  SCOPE_INFO: { text: '(context local names)', type: 'code' },
};
/** By the types of the referring object and of its target. */
const byPair: Readonly<Record<string, Tag>> = {
  'MAP CELL': { type: 'object shape' },
  'CODE PROTECTED_FIXED_ARRAY': { type: 'code' },
  'PROTECTED_FIXED_ARRAY TRUSTED_WEAK_FIXED_ARRAY': { type: 'code' },
};
const arrayTypes = /^(?:TRUSTED_FIXED_ARRAY|WEAK_FIXED_ARRAY|WEAK_ARRAY_LIST|DEPENDENT_CODE)$/;

export class Tagger {
  readonly #objects: HeapObjects;
  readonly #kinds: ObjectKinds;
  readonly #names: Names;
  readonly #columns: GraphColumns;
  readonly #byEdge: ReadonlyMap<number, Tag>;
  readonly #byOwnerType = new Map<number, Tag | undefined>();
  /** By the owner's type times 65,536 plus that of the target. */
  readonly #byPair = new Map<number, Tag | undefined>();
  readonly #empty: number;
  #owner = -1;
  #ownerTag: Tag | undefined;

  constructor(objects: HeapObjects, kinds: ObjectKinds, names: Names, columns: GraphColumns) {
    this.#objects = objects;
    this.#kinds = kinds;
    this.#names = names;
    this.#columns = columns;
    this.#byEdge = new Map(Object.entries(byEdge).map(([edge, tag]) => [names.of(edge), tag]));
    this.#empty = names.of('');
  }

  /** Must be called for each edge. `owner` and `target` are objects; `node` is the node of the target. */
  tag(owner: number, type: number, name: number, target: number, node: number): void {
    if (owner !== this.#owner) {
      this.#owner = owner;
      this.#ownerTag = this.#ofOwner(this.#objects.type[owner]!);
    }
    if (type === Edge.weak) return;
    const ofPair = this.#ofPair(this.#objects.type[owner]!, this.#objects.type[target]!);
    if (ofPair) this.#set(node, ofPair, target);
    if (this.#ownerTag && this.#isArray(target)) this.#set(node, this.#ownerTag, target);
    if (type === Edge.internal) {
      const tag = this.#byEdge.get(name);
      if (tag && this.#isArray(target)) this.#set(node, tag, target);
    }
  }

  #ofPair(owner: number, target: number): Tag | undefined {
    const key = owner * 2 ** 16 + target;
    if (!this.#byPair.has(key))
      this.#byPair.set(key, byPair[`${this.#kinds.typeName(owner)} ${this.#kinds.typeName(target)}`]);
    return this.#byPair.get(key);
  }

  #ofOwner(type: number): Tag | undefined {
    if (!this.#byOwnerType.has(type)) this.#byOwnerType.set(type, byOwner[this.#kinds.typeName(type)]);
    return this.#byOwnerType.get(type);
  }

  #isArray(object: number): boolean {
    const type = this.#objects.type[object]!;
    return this.#kinds.of(type).nodeType === 'array' || arrayTypes.test(this.#kinds.typeName(type));
  }

  #set(node: number, { text, type, isOfWeak }: Tag, object: number): void {
    const columns = this.#columns;
    const names = this.#names;
    const typeName = this.#kinds.typeName(this.#objects.type[object]!);
    const isPool = typeName === 'TRUSTED_FIXED_ARRAY';
    if (isOfWeak && typeName !== 'WEAK_FIXED_ARRAY') return;
    if (text !== undefined && (columns.name[node] === this.#empty || isPool))
      columns.name[node] = names.of(text);
    if (type) columns.type[node] = nodeTypes.indexOf(type);
  }
}
