/** The steps of a path without what only tells entries of one kind apart: indexes, keys of dictionaries and WeakMaps. */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { appendStep, isOneOfMany } from './paths.ts';

export interface StepText {
  text: string;
  /** The text stands for the whole path: what leads to a root is of no interest. */
  isStart: boolean;
}

/** The same for edges that a path has as one step, if they also lead to the same class. */
export function edgeKey(heap: Heap, edge: number): string {
  const { snapshot } = heap;
  const type = snapshot.edgeType(edge);
  if (isFromRoots(heap, edge)) {
    const target = snapshot.edgeTarget(edge);
    const isPart = snapshot.nodes.type[target] === NodeType.synthetic;
    return isPart ? `root ${snapshot.nodes.name[target]}` : 'root';
  }
  if (type === EdgeType.element || type === EdgeType.hidden || type === EdgeType.ephemeron) return `${type}`;
  if (isOneOfMany(heap, edge)) return 'key';
  if (type === EdgeType.internal && isIndex(snapshot.edgeName(edge))) return 'slot';
  return `${type} ${snapshot.edges.nameOrIndex.get(edge)}`;
}

const isIndex = (name: string): boolean => /^\d+$/.test(name);

export function stepText(heap: Heap, edge: number): StepText {
  const { snapshot } = heap;
  const target = snapshot.edgeTarget(edge);
  if (isFromRoots(heap, edge)) {
    if (heap.retainers.sourceOf(edge) === heap.root)
      return { text: appendStep(heap, '', edge), isStart: true };
    const isPart = snapshot.nodes.type[target] === NodeType.synthetic;
    return { text: isPart ? snapshot.nodeName(target) : heap.className(target), isStart: true };
  }
  if (isOneOfMany(heap, edge)) return { text: '[*]', isStart: false };
  const text = appendStep(heap, '', edge);
  return { text: generalSteps(text), isStart: text === 'global' };
}

function isFromRoots(heap: Heap, edge: number): boolean {
  const source = heap.retainers.sourceOf(edge);
  if (source === heap.root) return true;
  const { snapshot } = heap;
  return snapshot.nodes.type[source] === NodeType.synthetic && snapshot.edgeType(edge) === EdgeType.element;
}

export function generalSteps(path: string): string {
  return path
    .replace(/\[\d+\]/g, '[*]')
    .replace(/\{\d+\}/g, '{*}')
    .replace(/\{WeakMap value of ([^{}]*?) @\d+\}/g, '{WeakMap value of $1}');
}

/** The table of a Map or Set, which is internal to V8, is told together with its slots. */
const tableStep = '{table}';

/**
 * @param above what the line above left for this one.
 * @returns the text, and what it leaves for the lines below.
 */
export function joinSteps(steps: readonly StepText[], above: string): { text: string; tail: string } {
  const start = steps.findLastIndex(({ isStart }) => isStart);
  const own = steps.slice(Math.max(0, start)).map(({ text }) => text);
  const text = `${start < 0 ? above : ''}${own.join('')}`.replaceAll(`${tableStep}{*}`, '.get(…)');
  if (!text.endsWith(tableStep) || text === tableStep) return { text, tail: '' };
  return { text: text.slice(0, -tableStep.length), tail: tableStep };
}
