/**
 * Who holds the objects of a group (copies of a string, collections of a class): their nearest holders, merged by class and
 * field. What is internal to V8 (tables of Maps, lists of properties) is told as the object that it belongs to.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapHolder } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { generalPath, retainerOf } from './paths.ts';
import { edgeKey, joinSteps, stepText } from './step-texts.ts';

const mostHolders = 3;
/** Steps from an object up to one that has a name for it. */
const mostInternal = 4;

interface Held {
  count: number;
  node: number;
}

export class NearestHolders {
  readonly #heap: Heap;
  /** By the edges that lead to the object. */
  readonly #held = new Map<string, Held>();

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  add(node: number): void {
    const { steps, holder } = stepsTo(this.#heap, node);
    const keys = steps.map((edge) => edgeKey(this.#heap, edge));
    const key = `${this.#heap.classes.of[holder]} ${keys.join(' ')}`;
    const known = this.#held.get(key);
    if (known) known.count++;
    else this.#held.set(key, { count: 1, node });
  }

  /** The three with the most of the objects. */
  rows(): HeapHolder[] {
    const byText = new Map<string, Held>();
    for (const { count, node } of this.#held.values()) {
      const text = holderText(this.#heap, node);
      const known = byText.get(text);
      if (known) known.count += count;
      else byText.set(text, { count, node });
    }
    return [...byText]
      .sort(([, a], [, b]) => b.count - a.count || a.node - b.node)
      .slice(0, mostHolders)
      .map(([holder, { count, node }]) => ({ holder, count, path: generalPath(this.#heap, node) }));
  }
}

/** The edges from the nearest object that is not internal to V8, the last one first. */
function stepsTo(heap: Heap, node: number): { steps: number[]; holder: number } {
  const steps: number[] = [];
  let at = node;
  do {
    const edge = retainerOf(heap, at);
    if (edge < 0) break;
    steps.push(edge);
    at = heap.retainers.sourceOf(edge);
  } while (isInternal(heap.snapshot.nodes.type[at]!) && steps.length < mostInternal);
  return { steps, holder: at };
}

/** `Session.id`, `Map.get(…)`, `Array[*]`. */
function holderText(heap: Heap, node: number): string {
  const { steps, holder } = stepsTo(heap, node);
  if (!steps.length) return '(nothing strong)';
  const texts = steps.reverse().map((edge) => stepText(heap, edge));
  return texts.some(({ isStart }) => isStart)
    ? joinSteps(texts, '').text
    : `${heap.className(holder)}${joinSteps(texts, '').text}`;
}

const isInternal = (type: number): boolean => type === NodeType.array || type === NodeType.hidden;
