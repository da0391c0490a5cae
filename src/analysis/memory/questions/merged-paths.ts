/**
 * The paths from the roots to many objects, merged: what holds the most of them, and where the ways part. Each object is counted
 * on one shortest path, as in Eclipse MAT's "merge shortest paths to GC roots"; weak edges lead nowhere. Steps with the same name to
 * the same class are one step, so that a thousand entries of a list are one line.
 */
import type { HeapPathLine } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { below } from '../query/relations.ts';
import { timerOnWay } from '../suspects/timer-path.ts';
import { pathEdges, pathText, retainerOf, shortPath, weakEntryRetainer } from './paths.ts';
import { edgeKey, generalSteps, joinSteps, stepText } from './step-texts.ts';

export interface MergedPaths {
  objects: number;
  selfSizeBytes: number;
  /** Without counting an object again that another one of them retains. */
  retainedSizeBytes: number;
  /** Objects that no strong path leads to. */
  unheld: number;
  lines: HeapPathLine[];
  /** Lines that the limit leaves out. */
  hidden: number;
}

/** One step of a merged path. */
interface Step {
  parent: number;
  /** Its first edge stands for all. */
  edge: number;
  key: string;
  nodes: number;
  /** The node that retains most. */
  node: number;
  heldBytes: number;
  /** Objects that end here. */
  ends: number;
  objects: number;
  selfSizeBytes: number;
  retainedSizeBytes: number;
  /** Number of steps after which the path is here again (a list, a tree), and where that begins; 0 if it never is. */
  period: number;
  loop: number;
  least: number;
  most: number;
}

/** A list has period 1; a tree of nodes with arrays of children 2; a chain of closures and their contexts 2 or 3. */
const longestPeriod = 3;
/** Lines below lines; deeper ones are counted as hidden. */
const deepest = 64;
const rootStep = 1;

export function mergePaths(heap: Heap, nodes: readonly number[], limit: number): MergedPaths {
  const merger = new PathMerger(heap);
  const wanted = new Uint8Array(heap.nodeCount);
  for (const node of nodes) wanted[node] = 1;
  const inside = below(heap, wanted);
  const sums = { selfSizeBytes: 0, retainedSizeBytes: 0, unheld: 0 };
  for (const node of nodes) {
    const selfSizeBytes = heap.selfSize.get(node);
    const retainedSizeBytes = inside[node] ? 0 : heap.retained[node]!;
    sums.selfSizeBytes += selfSizeBytes;
    sums.retainedSizeBytes += retainedSizeBytes;
    if (!merger.add(node, selfSizeBytes, retainedSizeBytes)) sums.unheld++;
  }
  return { objects: nodes.length, ...sums, ...merger.lines(limit) };
}

class PathMerger {
  readonly #heap: Heap;
  readonly #steps: Step[] = [];
  /** The step of each node on the way to an object, plus zero for unknown. */
  readonly #stepOf: Uint32Array;
  /** Of each node, where its path was last repeated, or 0. */
  readonly #loopOf: Uint32Array;
  readonly #byKey = new Map<string, number>();
  #children: (number[] | undefined)[] = [];

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#stepOf = new Uint32Array(heap.nodeCount);
    this.#loopOf = new Uint32Array(heap.nodeCount);
    this.#steps.push(newStep(0, -1, ''), newStep(0, -1, ''));
    this.#stepOf[heap.root] = rootStep;
    this.#steps[rootStep]!.node = heap.root;
  }

  add(node: number, selfSizeBytes: number, retainedSizeBytes: number): boolean {
    const at = this.#stepTo(node);
    const step = this.#steps[at];
    if (!step || at === 0) return false;
    step.ends++;
    step.objects++;
    step.selfSizeBytes += selfSizeBytes;
    step.retainedSizeBytes += retainedSizeBytes;
    return true;
  }

  #stepTo(node: number): number {
    const { retainers } = this.#heap;
    // The value of a WeakMap's entry, if something with a name holds it too; only for the object itself, which prevents cycles.
    const named = this.#stepOf[node] ? -1 : weakEntryRetainer(this.#heap, node);
    const way: number[] = named < 0 ? [] : [named];
    let at = named < 0 ? node : retainers.sourceOf(named);
    while (!this.#stepOf[at]) {
      const edge = retainerOf(this.#heap, at);
      if (edge < 0 || way.length > this.#heap.nodeCount) return 0;
      way.push(edge);
      at = retainers.sourceOf(edge);
    }
    let step = this.#stepOf[at]!;
    for (const edge of way.reverse()) {
      const target = this.#heap.snapshot.edgeTarget(edge);
      if (!this.#stepOf[target]) this.#stepOf[target] = this.#stepBelow(step, edge, target);
      step = this.#stepOf[target]!;
    }
    return step;
  }

  /** The step that an edge leads to from another one, which is a step above if the path repeats itself. */
  #stepBelow(from: number, edge: number, target: number): number {
    const { classes, distances, retained, retainers } = this.#heap;
    const key = `${edgeKey(this.#heap, edge)} ${classes.of[target]}`;
    const repeated = this.#repeated(from, key);
    this.#loopOf[target] = repeated || this.#loopOf[retainers.sourceOf(edge)]!;
    const at = repeated || this.#childOf(from, edge, key);
    const step = this.#steps[at]!;
    const distance = distances[target]!;
    step.least = Math.min(step.least, distance);
    step.most = Math.max(step.most, distance);
    if (!step.nodes || retained[target]! > retained[step.node]!) step.node = target;
    step.nodes++;
    return at;
  }

  #repeated(from: number, key: string): number {
    for (let at = from, period = 1; period <= longestPeriod && at > rootStep; period++) {
      const step = this.#steps[at]!;
      if (step.key === key) {
        if (!step.period) this.#markLoop(from, at, period);
        return at;
      }
      at = step.parent;
    }
    return 0;
  }

  #markLoop(last: number, first: number, period: number): void {
    for (let at = last; ; at = this.#steps[at]!.parent) {
      const step = this.#steps[at]!;
      step.period = period;
      step.loop = first;
      if (at === first) return;
    }
  }

  #childOf(from: number, edge: number, key: string): number {
    const name = `${from} ${key}`;
    const known = this.#byKey.get(name);
    if (known !== undefined) return known;
    const at = this.#steps.push(newStep(from, edge, key)) - 1;
    this.#byKey.set(name, at);
    return at;
  }

  lines(limit: number): { lines: HeapPathLine[]; hidden: number } {
    this.#addUp();
    const top: HeapPathLine[] = [];
    let hidden = 0;
    // The largest first, wherever they are, so that a limit leaves out what matters least.
    const open = this.#below(rootStep).map((at) => ({ at, into: top, above: '', depth: 0 }));
    const byWorth = (a: { at: number }, b: { at: number }): number => this.#order(a.at, b.at);
    open.sort(byWorth);
    let told = 0;
    for (let next = open.shift(); next; next = open.shift()) {
      if (told >= limit || next.depth >= deepest) {
        hidden++;
        continue;
      }
      told++;
      const { line, end, tail } = this.#line(next.at, next.above);
      next.into.push(line);
      const found = this.#below(end).map((at) => ({
        at,
        into: line.below,
        above: tail,
        depth: next.depth + 1,
      }));
      // What lies below the last line that is told isn't sorted in: there may be a million of them.
      if (told >= limit) hidden += found.length;
      else mergeSorted(open, found.slice(0, limit), byWorth);
      if (told < limit) hidden += Math.max(0, found.length - limit);
    }
    return { lines: top, hidden };
  }

  #addUp(): void {
    const steps = this.#steps;
    // Only where a list or tree begins: its further nodes are a part of that.
    for (let node = 0; node < this.#stepOf.length; node++) {
      const step = steps[this.#stepOf[node]!]!;
      if (!step.loop || this.#loopOf[node] !== step.loop) step.heldBytes += this.#heap.retained[node]!;
    }
    this.#children = new Array<undefined>(steps.length).fill(undefined);
    for (let at = steps.length - 1; at > rootStep; at--) {
      const step = steps[at]!;
      const parent = steps[step.parent]!;
      parent.objects += step.objects;
      parent.selfSizeBytes += step.selfSizeBytes;
      parent.retainedSizeBytes += step.retainedSizeBytes;
      const children = this.#children[step.parent];
      if (children) children.push(at);
      else this.#children[step.parent] = [at];
    }
  }

  #below(at: number): number[] {
    return (this.#children[at] ?? []).sort((a, b) => this.#order(a, b));
  }

  #order(a: number, b: number): number {
    const [left, right] = [this.#steps[a]!, this.#steps[b]!];
    return right.retainedSizeBytes - left.retainedSizeBytes || right.objects - left.objects || a - b;
  }

  /** The one step that all objects here go on with; 0 if they part, or one of them is here. */
  #onlyBelow(at: number): number {
    const below = this.#children[at];
    return below?.length === 1 && !this.#steps[at]!.ends ? below[0]! : 0;
  }

  /** The steps that all objects below have in common are one line. */
  #line(from: number, above: string): { line: HeapPathLine; end: number; tail: string } {
    const chain = [from];
    let end = from;
    for (let only = this.#onlyBelow(end); only; only = this.#onlyBelow(only)) {
      chain.push(only);
      end = only;
    }
    const step = this.#steps[end]!;
    const heap = this.#heap;
    const times = chain.reduce((sum, at) => Math.max(sum, timesOf(this.#steps[at]!)), 1);
    const texts = chain.map((at) => stepText(heap, this.#steps[at]!.edge));
    const { text, tail } = joinSteps(texts, above);
    const isFirst = this.#steps[from]!.parent === rootStep;
    const line: HeapPathLine = {
      path: shortPath((isFirst && timerText(heap, step.node)) || text),
      class: heap.className(step.node),
      id: heap.snapshot.nodes.id.get(step.node),
      nodes: step.nodes,
      nodesRetainedSizeBytes: step.heldBytes,
      objects: step.objects,
      selfSizeBytes: step.selfSizeBytes,
      retainedSizeBytes: step.retainedSizeBytes,
      endHere: step.ends,
      ...(times > 1 ? { times } : {}),
      below: [],
    };
    return { line, end, tail };
  }
}

const timesOf = ({ period, least, most }: Step): number =>
  period ? 1 + Math.round((most - least) / period) : 1;

/** A path through Node's lists of timers, in words. */
function timerText(heap: Heap, node: number): string | undefined {
  const edges = pathEdges(heap, node);
  return timerOnWay(heap, edges) ? generalSteps(pathText(heap, node, edges)) : undefined;
}

const newStep = (parent: number, edge: number, key: string): Step => ({
  ...{ parent, edge, key },
  ...{ nodes: 0, node: -1, heldBytes: 0 },
  ...{ ends: 0, objects: 0, selfSizeBytes: 0, retainedSizeBytes: 0 },
  ...{ period: 0, loop: 0, least: Number.POSITIVE_INFINITY, most: 0 },
});

/** Inserts a few sorted items into a sorted list. */
function mergeSorted<Item>(into: Item[], items: Item[], order: (a: Item, b: Item) => number): void {
  if (!items.length) return;
  into.push(...items);
  into.sort(order);
}
