/**
 * The part of a way that goes through Node's timers: from a list by delay over one timer after the other to the one whose
 * callback holds what is asked about (lib/internal/timers.js, the same on Node 20 to 26). Only that last timer says
 * something to a person. Knows nothing of timers that the program holds itself: their way is the program's own.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild } from '../questions/node-rows.ts';
import { sourceOf } from '../questions/scripts.ts';

export interface TimerOnWay {
  /** How many edges it stands for. */
  edges: number;
  text: string;
}

const listLinks = new Set(['_idleNext', '_idlePrev', 'head', 'tail']);
const callbacks = new Set(['_onTimeout', '_onImmediate']);

/** The last timer on a way that Node's own lists lead to; undefined if there is none. */
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

/** The program did not set it, and can't clear it: the check of an HTTP server's connections, for one. */
function isOfNode(heap: Heap, callback: number): boolean {
  const bound = findChild(heap, callback, 'bound_function', EdgeType.internal);
  const source = sourceOf(heap, heap.snapshot.location(bound < 0 ? callback : bound));
  return source?.file?.startsWith('node:') === true;
}

/** A step from the callback to a variable that it closes over needs no more words than the variable's name. */
export function afterCallback(rest: string): string {
  return rest.replace(/^(?:\{context\}|\{previous\})+\./, ' → ');
}

function kindOf(heap: Heap, timer: number, way: readonly number[]): string {
  if (heap.snapshot.nodeName(timer) === 'Immediate') return 'setImmediate';
  const delay = delayOn(heap, way);
  return `${repeats(heap, timer) ? 'setInterval' : 'setTimeout'}${delay ? `, ${delay} ms` : ''}`;
}

/** The delay is the key of its list: a number itself is in no snapshot. */
function delayOn({ snapshot }: Heap, way: readonly number[]): string | undefined {
  const toList = way.find((edge) => snapshot.nodeName(snapshot.edgeTarget(edge)) === 'TimersList');
  const isKey = toList !== undefined && /^\d+$/.test(snapshot.edgeName(toList));
  return isKey && snapshot.edgeType(toList) !== EdgeType.hidden ? snapshot.edgeName(toList) : undefined;
}

/** `_repeat` is null in a timeout, and the delay in an interval: a number, which has no node or one of its own. */
function repeats({ snapshot }: Heap, timer: number): boolean {
  const { firstEdge, type } = snapshot.nodes;
  for (let edge = firstEdge[timer]!; edge < firstEdge[timer + 1]!; edge++)
    if (snapshot.edgeName(edge) === '_repeat') return type[snapshot.edgeTarget(edge)] === NodeType.number;
  return true;
}
