/**
 * Names for plain objects: objects with the same properties are one kind, shown as `{role, content}`. A kind needs at least
 * one in a thousand plain objects; an object belongs to the kind with the most properties, all of which it has. Rule, limits
 * and order are DevTools' (inferInterfaceDefinitions and applyInterfaceDefinitions, chrome-devtools-frontend 1.0.1705227),
 * but the work is done once per distinct property list instead of once per object.
 */
import { EdgeType, edgeTypeShift, type HeapSnapshot, NodeType } from '../../../formats/heapsnapshot/index.ts';
import { GraphKernel } from '../kernel/graph-kernel.ts';

const maxNameLength = 120;
const minObjects = 2;
const minProportion = 1000;
/** Objects with more properties are dictionaries with lists of their own, which would only fill the trie. */
const maxListed = 128;

/** A distinct list of properties, in order, and the objects that have it. */
interface PropertyList {
  count: number;
  firstNode: number;
}

interface Shape {
  name: string;
  properties: string[];
  count: number;
  firstNode: number;
}

export interface Shapes {
  /** The names of the kinds. */
  names: string[];
  /** Called with each plain object and the row of its kind's name; not for objects that remain `Object`. */
  forEach(callback: (node: number, kind: number) => void): void;
}

export function computeShapes(snapshot: HeapSnapshot): Shapes {
  const lists = new PropertyLists(snapshot);
  const shapes = popularShapes(lists);
  const tree = buildTree(shapes);
  const wanted = lists.textsOf(shapes);
  const kindOf = (node: number): number => bestMatch(tree, lists.wantedOf(node, wanted))?.rank ?? -1;
  return {
    names: shapes.map(({ name }) => name),
    forEach(callback) {
      const listed = lists.lists.map((list) => (list ? kindOf(list.firstNode) : -1));
      lists.forEach((node, state) => {
        const kind = state >= 0 ? listed[state]! : kindOf(node);
        if (kind >= 0) callback(node, kind);
      });
    },
  };
}

/** Finds each object's property list by walking down a trie of string indexes. */
class PropertyLists {
  /** By trie state; undefined if no object ends there. */
  readonly lists: (PropertyList | undefined)[] = [];
  readonly large: PropertyList[] = [];
  /** Number of plain objects. */
  total = 0;
  /** Their ordinals, if the kernel lists them. For a large snapshot they are searched again, which needs no memory. */
  readonly #nodes: Uint32Array | undefined;
  /** The trie states of all plain objects in order, -1 for large ones. */
  readonly #states: Int32Array;
  readonly #snapshot: HeapSnapshot;
  readonly #trie = new IndexTrie();

  constructor(snapshot: HeapSnapshot) {
    this.#snapshot = snapshot;
    const found = findInKernel(snapshot);
    // Pages that are never written cost nothing.
    this.#states = found?.states ?? new Int32Array(snapshot.nodes.count);
    this.#nodes = found?.nodes;
    this.#forEachPlain((node) => {
      const state = found ? found.states[this.total]! : this.#stateOf(node);
      this.#states[this.total++] = state;
      if (state < 0) this.large.push({ count: 1, firstNode: node });
      else if (!found) this.#count(state, node);
    });
    if (found) this.#takeCounts(found);
  }

  /** Called with each plain object and its trie state, -1 for a large one. */
  forEach(callback: (node: number, state: number) => void): void {
    let at = 0;
    this.#forEachPlain((node) => callback(node, this.#states[at++]!));
  }

  #forEachPlain(callback: (node: number) => void): void {
    if (this.#nodes) {
      for (let at = 0; at < this.#nodes.length; at++) callback(this.#nodes[at]!);
      return;
    }
    const { count, type, name } = this.#snapshot.nodes;
    const objectName = this.#snapshot.strings.findAscii('Object');
    for (let node = 0; node < count; node++)
      if (type[node] === NodeType.object && name[node] === objectName) callback(node);
  }

  #takeCounts({ counts, firsts }: KernelShapes): void {
    for (let state = 0; state < counts.length; state++)
      if (counts[state]! > 0) this.lists[state] = { count: counts[state]!, firstNode: firsts[state]! };
  }

  #count(state: number, node: number): void {
    const list = this.lists[state];
    if (list) list.count++;
    else this.lists[state] = { count: 1, firstNode: node };
  }

  #stateOf(node: number): number {
    const { firstEdge } = this.#snapshot.nodes;
    const { packed, nameOrIndex } = this.#snapshot.edges;
    let state = 0;
    let length = 0;
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
      if (packed[edge]! >>> edgeTypeShift !== EdgeType.property) continue;
      if (++length > maxListed) return -1;
      state = this.#trie.next(state, nameOrIndex.get(edge));
    }
    return state;
  }

  /** Name indexes of all properties, including `__proto__`. */
  *#indexesOf(node: number): Generator<number> {
    const { firstEdge } = this.#snapshot.nodes;
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++)
      if (this.#snapshot.edgeType(edge) === EdgeType.property)
        yield this.#snapshot.edges.nameOrIndex.get(edge);
  }

  namesOf(node: number): string[] {
    return Array.from(this.#indexesOf(node), (index) => this.#snapshot.strings.get(index));
  }

  /** Name index of the first property in a shape's name, -1 if there is none. */
  firstIndex(node: number, proto: number): number {
    for (const index of this.#indexesOf(node)) if (index !== proto) return index;
    return -1;
  }

  /** Name texts of all properties of the shapes' first objects, by index. V8 writes each text once. */
  textsOf(shapes: Shape[]): Map<number, string> {
    const texts = new Map<number, string>();
    for (const { firstNode } of shapes)
      for (const index of this.#indexesOf(firstNode)) texts.set(index, this.#snapshot.strings.get(index));
    return texts;
  }

  /** The texts of those properties that are in `texts`. */
  wantedOf(node: number, texts: ReadonlyMap<number, string>): Set<string> {
    const { firstEdge } = this.#snapshot.nodes;
    const { packed, nameOrIndex } = this.#snapshot.edges;
    const names = new Set<string>();
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
      if (packed[edge]! >>> edgeTypeShift !== EdgeType.property) continue;
      const text = texts.get(nameOrIndex.get(edge));
      if (text !== undefined) names.add(text);
    }
    return names;
  }

  /** Index of `__proto__`, which no shape shows. */
  get proto(): number {
    return this.#snapshot.strings.findAscii('__proto__');
  }
}

interface KernelShapes {
  nodes: Uint32Array;
  states: Int32Array;
  /** By state. */
  counts: Uint32Array;
  firsts: Uint32Array;
}

function findInKernel(snapshot: HeapSnapshot): KernelShapes | undefined {
  const kernel = snapshot.edges.nameOrIndex.hasWide ? undefined : GraphKernel.of(snapshot);
  if (!kernel) return undefined;
  const objectName = snapshot.strings.findAscii('Object');
  const found = kernel.code.findShapes(NodeType.object, objectName, EdgeType.property, maxListed);
  if (found < 0) return undefined;
  const states = kernel.code.states.value;
  return {
    nodes: kernel.words('plain', found),
    states: kernel.numbers('plainState', found),
    counts: kernel.words('stateCount', states),
    firsts: kernel.words('stateFirst', states),
  };
}

/**
 * Trie states, by open addressing on (state, index); three numbers per entry. Objects of one kind come one after the other, so
 * that the way on from a state is mostly the one that was taken last.
 */
class IndexTrie {
  #states = 1;
  /** By state: the last index, and the state that it led to. */
  readonly #lastIndex: number[] = [-1];
  readonly #lastNext: number[] = [-1];
  #mask = (1 << 12) - 1;
  #table = new Int32Array(3 << 12);

  next(state: number, index: number): number {
    if (this.#lastIndex[state] === index) return this.#lastNext[state]!;
    this.#lastIndex[state] = index;
    this.#lastNext[state] = this.#lookUp(state, index);
    return this.#lastNext[state]!;
  }

  #lookUp(state: number, index: number): number {
    let slot = this.#find(state, index);
    if (this.#table[slot + 2] === 0) {
      if (this.#states * 2 > this.#mask) {
        this.#grow();
        slot = this.#find(state, index);
      }
      this.#table.set([state, index, this.#states++], slot);
      this.#lastIndex.push(-1);
      this.#lastNext.push(-1);
    }
    return this.#table[slot + 2]!;
  }

  #find(state: number, index: number): number {
    const table = this.#table;
    let hash = (Math.imul(state, 0x9e3779b1) ^ Math.imul(index, 0x85ebca6b)) >>> 0;
    hash ^= hash >>> 15;
    for (let at = hash & this.#mask; ; at = (at + 1) & this.#mask) {
      const slot = 3 * at;
      if (table[slot + 2] === 0 || (table[slot] === state && table[slot + 1] === (index | 0))) return slot;
    }
  }

  #grow(): void {
    const old = this.#table;
    this.#mask = this.#mask * 2 + 1;
    this.#table = new Int32Array(3 * (this.#mask + 1));
    for (let slot = 0; slot < old.length; slot += 3)
      if (old[slot + 2] !== 0)
        this.#table.set(old.subarray(slot, slot + 3), this.#find(old[slot]!, old[slot + 1]!));
  }
}

/** Most frequent shapes first; ties in the order of the snapshot. */
function popularShapes(lists: PropertyLists): Shape[] {
  const least = Math.max(minObjects, lists.total / minProportion);
  const byName = new Map<string, Shape>();
  for (const list of likelyLists(lists, least)) {
    const shape = shapeName(lists.namesOf(list.firstNode));
    if (!shape) continue;
    const known = byName.get(shape.name);
    if (known) known.count += list.count;
    else byName.set(shape.name, { ...shape, count: list.count, firstNode: list.firstNode });
  }
  return [...byName.values()].filter((shape) => shape.count >= least).sort((a, b) => b.count - a.count);
}

/** Lists of one shape start with the same property: if too few lists start with a property, their names aren't read. */
function likelyLists(lists: PropertyLists, least: number): PropertyList[] {
  const all = [...lists.lists.filter((list) => list !== undefined), ...lists.large];
  const { proto } = lists;
  const firsts = all.map(({ firstNode }) => lists.firstIndex(firstNode, proto));
  const counts = new Map<number, number>();
  for (const [at, first] of firsts.entries()) counts.set(first, (counts.get(first) ?? 0) + all[at]!.count);
  const likely = all.filter((_, at) => firsts[at]! >= 0 && counts.get(firsts[at]!)! >= least);
  return likely.sort((a, b) => a.firstNode - b.firstNode);
}

function shapeName(names: string[]): { name: string; properties: string[] } | undefined {
  const properties: string[] = [];
  let name = '{';
  for (const property of names) {
    if (property === '__proto__') continue;
    const shown = propertyText(property);
    if (name.length > 1 && name.length + shown.length > maxNameLength) break;
    name += name.length === 1 ? shown : `, ${shown}`;
    properties.push(property);
  }
  return properties.length ? { name: `${name}}`, properties } : undefined;
}

/** Quoted if it contains a comma, a quote or a brace. */
function propertyText(name: string): string {
  return /[,'"{}]/.test(name) ? JSON.stringify(name) : name;
}

interface TreeNode {
  next: Map<string, TreeNode>;
  match: { size: number; rank: number } | undefined;
}

/** Each path from the top consists of a shape's properties in sorted order. */
function buildTree(shapes: Shape[]): TreeNode {
  const top: TreeNode = { next: new Map(), match: undefined };
  for (const [rank, { properties }] of shapes.entries()) {
    let at = top;
    for (const property of properties.toSorted()) {
      const next = at.next.get(property) ?? { next: new Map(), match: undefined };
      at.next.set(property, next);
      at = next;
    }
    at.match ??= { size: properties.length, rank };
  }
  return top;
}

function bestMatch(tree: TreeNode, has: ReadonlySet<string>): TreeNode['match'] {
  const open = [tree];
  let best: TreeNode['match'];
  for (let at = open.pop(); at; at = open.pop()) {
    const { match, next } = at;
    if (match && (!best || match.size > best.size || (match.size === best.size && match.rank < best.rank)))
      best = match;
    if (has.size < next.size) {
      for (const name of has) if (next.has(name)) open.push(next.get(name)!);
    } else for (const [name, child] of next) if (has.has(name)) open.push(child);
  }
  return best;
}
