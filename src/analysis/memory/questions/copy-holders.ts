/**
 * Who holds the copies of a string: their nearest holders, merged by class and field. What is internal to V8 (tables of Maps,
 * lists of properties) is told as the object that it belongs to.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapStringHolder } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { generalPath, retainerOf } from './paths.ts';
import { joinSteps, stepText } from './step-texts.ts';

const mostHolders = 3;
/** Steps from a string up to an object that has a name for it. */
const mostInternal = 4;

interface Held {
  count: number;
  node: number;
}

export class CopyHolders {
  readonly #heap: Heap;
  readonly #held = new Map<string, Held>();

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  add(copy: number): void {
    const holder = holderOf(this.#heap, copy);
    const known = this.#held.get(holder);
    if (known) known.count++;
    else this.#held.set(holder, { count: 1, node: copy });
  }

  /** The three with the most copies. */
  rows(): HeapStringHolder[] {
    return [...this.#held]
      .sort(([, a], [, b]) => b.count - a.count || a.node - b.node)
      .slice(0, mostHolders)
      .map(([holder, { count, node }]) => ({ holder, count, path: generalPath(this.#heap, node) }));
  }
}

/** `Session.id`, `Map.get(…)`, `Array[*]`. */
function holderOf(heap: Heap, copy: number): string {
  const steps: number[] = [];
  let at = copy;
  do {
    const edge = retainerOf(heap, at);
    if (edge < 0) break;
    steps.push(edge);
    at = heap.retainers.sourceOf(edge);
  } while (isInternal(heap.snapshot.nodes.type[at]!) && steps.length < mostInternal);
  if (!steps.length) return '(nothing strong)';
  const texts = steps.reverse().map((edge) => stepText(heap, edge));
  return texts.some(({ isStart }) => isStart)
    ? joinSteps(texts, '').text
    : `${heap.className(at)}${joinSteps(texts, '').text}`;
}

const isInternal = (type: number): boolean => type === NodeType.array || type === NodeType.hidden;
