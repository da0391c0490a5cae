/**
 * Finds cycles in the wait-for graph and describes them. For each wait, a breadth-first search finds the shortest path from
 * its target back to the waiter. Iterative; the number of waits tried is limited.
 */
import type { WaitCycle, WaitEdge, WaitNode } from '../../../model/agent-state.ts';
import { formatDuration } from '../../../model/quantities.ts';
import { nodeText } from '../../../model/wait-text.ts';

const mostTried = 200;
const mostCycles = 10;

export function findCycles(nodes: readonly WaitNode[], edges: readonly WaitEdge[]): WaitCycle[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const from = new Map<string, WaitEdge[]>();
  // The program outside of all runs does many things concurrently: one wait doesn't block the rest of it.
  for (const edge of edges.filter(({ from, to }) => from !== 'program' && to !== 'program'))
    from.set(edge.from, [...(from.get(edge.from) ?? []), edge]);
  const found = new Map<string, WaitCycle>();
  for (const wait of edges
    .filter(({ why, from }) => why === 'waits' && from !== 'program')
    .slice(0, mostTried)) {
    const way = findWay(wait, from);
    if (!way) continue;
    const key = way
      .map((edge) => edge.from)
      .sort()
      .join('\n');
    if (!found.has(key)) found.set(key, describeCycle(way, byId));
    if (found.size >= mostCycles) break;
  }
  return [...found.values()];
}

/** The edges of the shortest cycle through `wait`, starting with it; undefined if there is none. */
function findWay(wait: WaitEdge, from: ReadonlyMap<string, WaitEdge[]>): WaitEdge[] | undefined {
  const reachedBy = new Map<string, WaitEdge>();
  const queue = [wait.to];
  for (let next = 0; next < queue.length && queue[next] !== wait.from; next++)
    for (const edge of from.get(queue[next] ?? '') ?? [])
      if (edge.to !== wait.to && !reachedBy.has(edge.to)) {
        reachedBy.set(edge.to, edge);
        queue.push(edge.to);
      }
  const way: WaitEdge[] = [];
  for (let at = wait.from; at !== wait.to; ) {
    const edge = reachedBy.get(at);
    if (!edge) return undefined;
    way.push(edge);
    at = edge.from;
  }
  return [wait, ...way.reverse()];
}

function describeCycle(way: readonly WaitEdge[], byId: ReadonlyMap<string, WaitNode>): WaitCycle {
  const name = (id: string) => nodeText(byId.get(id), id);
  const waiting = way.filter(({ why }) => why === 'waits').map((edge) => edge.from);
  return {
    nodes: way.map((edge) => edge.from),
    title: titleOf(way, waiting, name),
    sentence: way.map((edge, index) => edgeText(edge, index === 0, name)).join(''),
  };
}

type Name = (id: string) => string;

function titleOf(way: readonly WaitEdge[], waiting: readonly string[], name: Name): string {
  const [first = '', ...others] = waiting;
  const target = way.find(({ why }) => why === 'waits')?.to ?? '';
  if (others.length === 0)
    return way.some(({ why }) => why === 'held-by')
      ? `${name(first)} waits for ${name(target)}, which ${first === wayHolder(way) ? 'it holds itself' : `${name(wayHolder(way))} around it holds`}`
      : `${name(first)} waits for ${name(target)}, which cannot end before it`;
  if (others.length === 1) return `${name(first)} and ${name(others[0] ?? '')} wait for each other`;
  return `${others.length + 1} wait for each other in a circle: ${waiting.map(name).join(', ')}`;
}

function wayHolder(way: readonly WaitEdge[]): string {
  return way.find(({ why }) => why === 'held-by')?.to ?? '';
}

function edgeText({ from, to, why, ageMs }: WaitEdge, isFirst: boolean, name: Name): string {
  const subject = isFirst ? name(from) : ', which';
  const age = ageMs === undefined ? '' : ` for ${formatDuration(ageMs)}`;
  if (why === 'held-by') return `${subject} is held by ${name(to)}`;
  return why === 'waits' ? `${subject} waits${age} for ${name(to)}` : `${subject} runs ${name(to)}`;
}
