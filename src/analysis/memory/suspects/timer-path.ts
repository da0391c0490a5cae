/**
 * Describes the part of a path that leads through Node's timers: from a list by delay along one timer after the other to the
 * timer whose callback holds the node (lib/internal/timers.js, the same in Node 20 to 26). Only that last timer is
 * informative. Timers that the program holds itself are not handled here, since their path is the program's own.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild } from '../questions/node-rows.ts';
import { sourceOf } from '../questions/scripts.ts';

export interface TimerOnWay {
  /** Number of edges that the text replaces. */
  edges: number;
  text: string;
}

const listLinks = new Set(['_idleNext', '_idlePrev', 'head', 'tail']);
const callbacks = new Set(['_onTimeout', '_onImmediate']);

/** The last timer on the path that Node's own lists lead to; undefined if there is none. */
export function timerOnWay(heap: Heap, edges: readonly number[]): TimerOnWay | undefined {
  const { snapshot } = heap;
  for (let at = edges.length - 1; at > 0; at--) {
    const edge = edges[at]!;
    if (!callbacks.has(snapshot.edgeName(edge)) || !listLinks.has(snapshot.edgeName(edges[at - 1]!)))
      continue;
    const timer = heap.retainers.sourceOf(edge);
    const callback = snapshot.edgeTarget(edge);
    if (!/^(Timeout|Immediate)$/.test(snapshot.nodeName(timer))) continue;
    const name = snapshot.nodes.type[callback] === NodeType.closure && snapshot.nodeName(callback);
    if (isOfNode(heap, callback))
      return { edges: at + 1, text: `a timer of Node's own${name ? ` → ${name}()` : ''}` };
    const text = `a timer (${kindOf(heap, timer, edges.slice(0, at))}) → its callback${name ? ` ${name}()` : ''}`;
    return { edges: at + 1, text };
  }
  return undefined;
}

/** A timer that the program did not set and can't clear, such as the check of an HTTP server's connections. */
function isOfNode(heap: Heap, callback: number): boolean {
  const bound = findChild(heap, callback, 'bound_function', EdgeType.internal);
  const source = sourceOf(heap, heap.snapshot.location(bound < 0 ? callback : bound));
  return source?.file?.startsWith('node:') === true;
}

/** The steps from a callback to a variable that it closes over are shortened to the variable's name. */
export function afterCallback(rest: string): string {
  return rest.replace(/^(?:\{context\}|\{previous\})+\./, ' → ');
}

function kindOf(heap: Heap, timer: number, way: readonly number[]): string {
  if (heap.snapshot.nodeName(timer) === 'Immediate') return 'setImmediate';
  const delay = delayOn(heap, way);
  return `${repeats(heap, timer) ? 'setInterval' : 'setTimeout'}${delay ? `, ${delay} ms` : ''}`;
}

/** The delay is read from the key of its list, since numbers are not in a snapshot. */
function delayOn({ snapshot }: Heap, way: readonly number[]): string | undefined {
  const toList = way.find((edge) => snapshot.nodeName(snapshot.edgeTarget(edge)) === 'TimersList');
  const isKey = toList !== undefined && /^\d+$/.test(snapshot.edgeName(toList));
  return isKey && snapshot.edgeType(toList) !== EdgeType.hidden ? snapshot.edgeName(toList) : undefined;
}

/** `_repeat` is null for a timeout, and the delay for an interval: a number, which has no node or a number node. */
function repeats({ snapshot }: Heap, timer: number): boolean {
  const { firstEdge, type } = snapshot.nodes;
  for (let edge = firstEdge[timer]!; edge < firstEdge[timer + 1]!; edge++)
    if (snapshot.edgeName(edge) === '_repeat') return type[snapshot.edgeTarget(edge)] === NodeType.number;
  return true;
}
