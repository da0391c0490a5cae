/**
 * Names for plain objects: objects that have the same properties are one kind, shown as `{role, content}`. The kinds are
 * those that at least one in a thousand plain objects has; an object belongs to the one with most properties all of
 * which it has. The rule, its limits and its order are DevTools' (inferInterfaceDefinitions and
 * applyInterfaceDefinitions, chrome-devtools-frontend 1.0.1705227); the work is done once a distinct property list
 * instead of once an object.
 */
import { EdgeType, edgeTypeShift, type HeapSnapshot, NodeType } from '../../formats/heapsnapshot/index.ts';
import { GraphKernel } from './graph-kernel.ts';

const maxNameLength = 120;
const minObjects = 2;
const minProportion = 1000;
/** Objects with more properties are dictionaries, each with a list of its own: not worth a place in the trie. */
const maxListed = 128;

/** A distinct list of properties, in order, and the objects that have it. */
interface PropertyList {
  names: string[];
  count: number;
  firstNode: number;
}

interface ShapeName {
  name: string;
  properties: string[];
  count: number;
}

export interface Shapes {
  /** Calls back with each plain object and its kind's name; not with those that stay `Object`. */
  forEach(callback: (node: number, name: string) => void): void;
}

export function computeShapes(snapshot: HeapSnapshot): Shapes {
  const lists = new PropertyLists(snapshot);
  const tree = buildTree(popularShapes(lists));
  const nameOf = (names: string[]): string | undefined => bestMatch(tree, names)?.name;
  return {
    forEach(callback) {
      const listed = lists.lists.map((list) => list && nameOf(list.names));
      for (let at = 0; at < lists.nodes.length; at++) {
        const node = lists.nodes[at]!;
        const state = lists.states[at]!;
        const name = state >= 0 ? listed[state] : nameOf(lists.namesOf(node));
        if (name !== undefined) callback(node, name);
      }
    },
  };
}

/** Finds each object's property list by a walk down a trie of string indexes. */
class PropertyLists {
  /** By trie state; undefined where no object ends. */
  readonly lists: (PropertyList | undefined)[] = [];
  readonly large: PropertyList[] = [];
  /** All plain objects, and their trie states, -1 for the large ones. */
  readonly nodes: Uint32Array;
  readonly states: Int32Array;
  readonly #snapshot: HeapSnapshot;
  readonly #trie = new IndexTrie();

  constructor(snapshot: HeapSnapshot) {
    this.#snapshot = snapshot;
    const found = findInKernel(snapshot);
    this.nodes = found?.nodes ?? plainObjects(snapshot);
    this.states = found?.states ?? new Int32Array(this.nodes.length);
    for (let at = 0; at < this.nodes.length; at++) {
      const node = this.nodes[at]!;
      const state = found ? found.states[at]! : this.#stateOf(node);
      this.states[at] = state;
      if (state < 0) this.large.push({ names: this.namesOf(node), count: 1, firstNode: node });
      else if (!found) this.#count(state, node);
    }
    if (found) this.#takeCounts(found);
  }

  #takeCounts({ counts, firsts }: KernelShapes): void {
    for (let state = 0; state < counts.length; state++)
      if (counts[state]! > 0)
        this.lists[state] = {
          names: this.namesOf(firsts[state]!),
          count: counts[state]!,
          firstNode: firsts[state]!,
        };
  }

  #count(state: number, node: number): void {
    const list = this.lists[state];
    if (list) list.count++;
    else this.lists[state] = { names: this.namesOf(node), count: 1, firstNode: node };
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

  /** Names of all properties, `__proto__` included. */
  namesOf(node: number): string[] {
    const { firstEdge } = this.#snapshot.nodes;
    const names: string[] = [];
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++)
      if (this.#snapshot.edgeType(edge) === EdgeType.property) names.push(this.#snapshot.edgeName(edge));
    return names;
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

function plainObjects(snapshot: HeapSnapshot): Uint32Array {
  const { count, type, name } = snapshot.nodes;
  const objectName = snapshot.strings.findAscii('Object');
  const isPlain = (node: number): boolean => type[node] === NodeType.object && name[node] === objectName;
  let total = 0;
  for (let node = 0; node < count; node++) if (isPlain(node)) total++;
  const nodes = new Uint32Array(total);
  for (let node = 0, at = 0; node < count; node++) if (isPlain(node)) nodes[at++] = node;
  return nodes;
}

/** Trie states by open addressing on (state, index): three numbers an entry. */
class IndexTrie {
  #states = 1;
  #mask = (1 << 12) - 1;
  #table = new Int32Array(3 << 12);

  next(state: number, index: number): number {
    let slot = this.#find(state, index);
    if (this.#table[slot + 2] === 0) {
      if (this.#states * 2 > this.#mask) {
        this.#grow();
        slot = this.#find(state, index);
      }
      this.#table.set([state, index, this.#states++], slot);
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

/** The most popular lists first; among equals the one that came first in the snapshot. */
function popularShapes(lists: PropertyLists): ShapeName[] {
  const all = [...lists.lists.filter((list) => list !== undefined), ...lists.large];
  const byName = new Map<string, ShapeName>();
  for (const list of all.sort((a, b) => a.firstNode - b.firstNode)) {
    const shape = shapeName(list.names);
    if (!shape) continue;
    const known = byName.get(shape.name);
    if (known) known.count += list.count;
    else byName.set(shape.name, { ...shape, count: list.count });
  }
  const least = Math.max(minObjects, lists.nodes.length / minProportion);
  return [...byName.values()].filter((shape) => shape.count >= least).sort((a, b) => b.count - a.count);
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

/** Quoted where a comma, a quote or a brace would confuse. */
export function propertyText(name: string): string {
  return /[,'"{}]/.test(name) ? JSON.stringify(name) : name;
}

interface TreeNode {
  next: Map<string, TreeNode>;
  match: { name: string; size: number; rank: number } | undefined;
}

/** Each path from the top spells a shape's properties in sorted order. */
function buildTree(shapes: ShapeName[]): TreeNode {
  const top: TreeNode = { next: new Map(), match: undefined };
  for (const [rank, { name, properties }] of shapes.entries()) {
    let at = top;
    for (const property of properties.toSorted()) {
      const next = at.next.get(property) ?? { next: new Map(), match: undefined };
      at.next.set(property, next);
      at = next;
    }
    at.match ??= { name, size: properties.length, rank };
  }
  return top;
}

function bestMatch(tree: TreeNode, names: string[]): TreeNode['match'] {
  const has = new Set(names);
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
