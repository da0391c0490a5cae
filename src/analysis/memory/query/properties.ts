/**
 * Evaluates paths such as `.res["x"][0]`: properties, elements, entries of Maps by key, `length` and `size`. Own properties
 * only, since a snapshot has no results of prototypes and getters. It has small integers only if V8 was asked to write them
 * (exposeNumericValues); otherwise such a value is null, and `lacksNumbers` is set.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { arrayLength, kindOf, numberValue, oddballText, valueText } from '../questions/heap-value.ts';
import { findChild, isStringType, stringText } from '../questions/node-rows.ts';
import { collectionSize, tablePairs, tableSlotsOf } from '../questions/tables.ts';
import type { Step } from './syntax.ts';
import { NodeReference, type Value } from './values.ts';

/** V8 truncates longer strings. */
const cutLength = 1024;

export class PropertyReader {
  readonly #heap: Heap;
  /** By a step's name: its index in the string table; -1 if it must be compared as text. */
  readonly #nameIndex = new Map<string, number>();
  /** Set if a missing value may be a small integer. */
  lacksNumbers = false;
  /** By a path: the class of an object that was found where an order was asked for, and objects have none. */
  readonly unordered = new Map<readonly Step[], string>();
  readonly #asked = new Set<readonly Step[]>();
  readonly #found = new Set<readonly Step[]>();
  /** Set if the length of a truncated string was requested. */
  hasCutStrings = false;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** The node at the end of the steps, or -1. */
  find(node: number, steps: readonly Step[]): number {
    return this.#noted(steps, this.#follow(node, steps, steps.length));
  }

  value(node: number, steps: readonly Step[]): Value {
    const last = steps.at(-1);
    if (!last) return this.valueOf(node);
    const parent = this.#follow(node, steps, steps.length - 1);
    const child = this.#noted(steps, parent < 0 ? -1 : this.#child(parent, last));
    if (parent < 0) return null;
    if (child >= 0) return this.valueOf(child);
    if (last.kind === 'name' && (last.name === 'length' || last.name === 'size')) {
      const length = this.lengthOf(parent, last.name);
      if (length !== null) this.#found.add(steps);
      return length;
    }
    this.lacksNumbers = true;
    return null;
  }

  /**
   * Whether this path was followed from some node and never existed, so that it is perhaps misspelt. Where small integers are
   * missing, so are the properties that hold one: then only a name that is nowhere in the heap says so.
   */
  isNowhere(steps: readonly Step[], hasNumbers: boolean): boolean {
    if (!this.#asked.has(steps) || this.#found.has(steps)) return false;
    return hasNumbers || steps.some((step) => step.kind === 'name' && this.#indexOf(step.name) === undefined);
  }

  #noted(steps: readonly Step[], found: number): number {
    this.#asked.add(steps);
    if (found >= 0) this.#found.add(steps);
    return found;
  }

  #follow(node: number, steps: readonly Step[], count: number): number {
    let at = node;
    for (let i = 0; i < count && at >= 0; i++) at = this.#child(at, steps[i]!);
    return at;
  }

  /** A string's text, a number or a boolean; null for JavaScript's null and undefined; otherwise the object. */
  valueOf(node: number): Value {
    const heap = this.#heap;
    const { snapshot } = heap;
    const type = snapshot.nodes.type[node]!;
    if (isStringType(type)) return stringText(heap, node);
    if (type === NodeType.number) {
      const number = numberValue(heap, node);
      if (number === undefined) this.lacksNumbers = true;
      return number ?? null;
    }
    if (type === NodeType.bigint) return null;
    if (type === NodeType.symbol) return valueText(heap, node, 100);
    if (type === NodeType.hidden) {
      const text = oddballText(heap, node);
      if (text === 'true' || text === 'false') return text === 'true';
      if (text === 'null' || text === 'undefined' || text === 'system / Hole') return null;
      // A getter, whose value no snapshot has.
      if (text === 'system / AccessorPair') return null;
    }
    return new NodeReference(node, heap.className(node), snapshot.nodes.id.get(node));
  }

  /** @param name `size` applies to collections only, `length` to arrays and strings. */
  lengthOf(node: number, name: 'length' | 'size' | 'any' = 'any'): number | null {
    const heap = this.#heap;
    const type = heap.snapshot.nodes.type[node]!;
    if (isStringType(type)) return name === 'size' ? null : this.#textLength(node);
    if (type !== NodeType.object) return null;
    if (tableSlotsOf(heap, node)) return name === 'length' ? null : this.#tableSize(node);
    if (name === 'size' || kindOf(heap, node) !== 'array') return null;
    const length = arrayLength(heap, node);
    if (length === undefined) this.lacksNumbers = true;
    return length ?? null;
  }

  #textLength(node: number): number {
    const { length } = stringText(this.#heap, node);
    if (length >= cutLength) this.hasCutStrings = true;
    return length;
  }

  /** Entries with a number as key and value are not visible; if there may be such, `lacksNumbers` is set. */
  #tableSize(node: number): number {
    const { size, mayHaveMore } = collectionSize(this.#heap, node);
    if (mayHaveMore) this.lacksNumbers = true;
    return size;
  }

  #child(node: number, step: Step): number {
    switch (step.kind) {
      case 'name':
        return this.#property(node, step.name);
      case 'symbol':
        return this.#property(node, `<symbol ${step.name}>`);
      case 'index':
        return this.#element(node, step.index);
      case 'key': {
        const property = this.#property(node, step.name);
        if (property >= 0) return property;
        if (/^\d{1,9}$/.test(step.name)) {
          const element = this.#element(node, Number(step.name));
          if (element >= 0) return element;
        }
        return this.#entry(node, step.name);
      }
    }
  }

  #property(node: number, name: string): number {
    const { snapshot } = this.#heap;
    const index = this.#indexOf(name);
    if (index === undefined) return -1;
    if (index < 0) return findChild(this.#heap, node, name, EdgeType.property);
    const { firstEdge } = snapshot.nodes;
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++)
      if (snapshot.edges.nameOrIndex.get(edge) === index && snapshot.edgeType(edge) === EdgeType.property)
        return snapshot.edgeTarget(edge);
    return -1;
  }

  /** Undefined for a name that doesn't occur in the snapshot. */
  #indexOf(name: string): number | undefined {
    let index = this.#nameIndex.get(name);
    if (index === undefined) {
      const isPlain = /^[\x20-\x7e]*$/.test(name) && !/["\\]/.test(name);
      index = isPlain ? this.#heap.snapshot.strings.findAscii(name) : -1;
      if (isPlain && index < 0) index = Number.NaN;
      this.#nameIndex.set(name, index);
    }
    return Number.isNaN(index) ? undefined : index;
  }

  #element(node: number, wanted: number): number {
    const { snapshot } = this.#heap;
    const { firstEdge } = snapshot.nodes;
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++)
      if (snapshot.edgeType(edge) === EdgeType.element && snapshot.edges.nameOrIndex.get(edge) === wanted)
        return snapshot.edgeTarget(edge);
    return -1;
  }

  /** The value of a Map's entry. */
  #entry(node: number, key: string): number {
    const heap = this.#heap;
    if (tableSlotsOf(heap, node) !== 3) return -1;
    for (const pair of tablePairs(heap, node)) {
      if (pair.key === undefined || !isStringType(heap.snapshot.nodes.type[pair.key]!)) continue;
      if (stringText(heap, pair.key) === key) return pair.value ?? -1;
    }
    return -1;
  }
}
