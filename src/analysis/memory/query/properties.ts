/**
 * What stands behind `.res["x"][0]`: properties, elements, entries of Maps by their key, `length` and `size`. Own ones
 * only: what a prototype or a getter would give is not in a snapshot. Small integers are in it only where V8 was asked
 * for them (exposeNumericValues); a value that is not there is null, and it is noted that it may be a number.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { arrayLength, kindOf, numberValue, oddballText, valueText } from '../questions/heap-value.ts';
import { findChild, isStringType, stringText } from '../questions/node-rows.ts';
import { collectionSize, tablePairs, tableSlotsOf } from '../questions/tables.ts';
import type { Step } from './syntax.ts';
import { NodeReference, type Value } from './values.ts';

/** V8 cuts the text of a longer string. */
const cutLength = 1024;

export class PropertyReader {
  readonly #heap: Heap;
  /** By a step's name: its number in the table of strings; -1 where it has to be compared as a text. */
  readonly #nameIndex = new Map<string, number>();
  /** Whether something was missing that may be a small integer. */
  lacksNumbers = false;
  /** Whether a string's length was asked for that is longer than its text. */
  hasCutStrings = false;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** The node at the end of the steps, or -1. */
  find(node: number, steps: readonly Step[]): number {
    let at = node;
    for (const step of steps) {
      at = this.#child(at, step);
      if (at < 0) return -1;
    }
    return at;
  }

  value(node: number, steps: readonly Step[]): Value {
    const last = steps.at(-1)!;
    const parent = steps.length > 1 ? this.find(node, steps.slice(0, -1)) : node;
    if (parent < 0) return null;
    const child = this.#child(parent, last);
    if (child >= 0) return this.valueOf(child);
    if (last.kind === 'name' && (last.name === 'length' || last.name === 'size'))
      return this.lengthOf(parent, last.name);
    this.lacksNumbers = true;
    return null;
  }

  /** A string's text, a number, a truth value; null for JavaScript's null and undefined; else the object. */
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
    }
    return new NodeReference(node, heap.className(node));
  }

  /** @param name `size` for what has one. */
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

  /** Entries with a number as key and as value can't be seen; where there may be such, it is noted. */
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

  /** Undefined for a name that the snapshot does not have at all. */
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
