/** Who waits for whom, as a list: cycles first, then each wait with its age, then loops. */

import type { Account } from '../../model/account.ts';
import type { WaitEdge, WaitGraph, WaitNode } from '../../model/agent-state.ts';
import { formatCount, formatDuration } from '../../model/quantities.ts';
import { nodeText } from '../../model/wait-text.ts';
import { oneLine, type Page, wrap } from './layout.ts';

const maxRows = 20;

export function renderWaits({ agent }: Account, page: Page): string[] {
  const { waitGraph, loops = [] } = agent ?? {};
  return [
    ...(waitGraph ? renderGraph(waitGraph, page) : []),
    ...loops.flatMap(({ sentence }) => wrap(sentence, page.columns - 2, 'loop     ')),
  ];
}

function renderGraph(graph: WaitGraph, page: Page): string[] {
  const { palette } = page;
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const inCircle = new Set(graph.cycles.flatMap(({ nodes }) => nodes));
  const waits = graph.edges
    .filter(({ why }) => why === 'waits')
    .sort((a, b) => (b.ageMs ?? 0) - (a.ageMs ?? 0));
  const lines = [
    ...graph.cycles.flatMap(({ nodes }) =>
      wrap(circleText(nodes, byId), page.columns - 2, 'circle   ').map(palette.bad),
    ),
    ...waits.slice(0, maxRows).map((edge) => {
      const mark = inCircle.has(edge.from) && inCircle.has(edge.to) ? palette.bad('↻') : ' ';
      return `${mark} ${oneLine(waitText(edge, graph, byId))}`;
    }),
  ];
  if (waits.length > maxRows)
    lines.push(palette.faint(`… ${formatCount(waits.length - maxRows, 'more wait')}`));
  return lines;
}

function circleText(ids: readonly string[], byId: ReadonlyMap<string, WaitNode>): string {
  return [...ids, ids[0] ?? ''].map((id) => nodeText(byId.get(id), id)).join(' → ');
}

/** `tool search (t2) waits 31 s for lock db, held by run planner (r1)`. */
function waitText(edge: WaitEdge, { edges }: WaitGraph, byId: ReadonlyMap<string, WaitNode>): string {
  const holders = edges.filter(({ from, why }) => from === edge.to && why === 'held-by');
  const held = holders.map(({ to }) => `${named(to, byId)}${byId.get(to)?.ended ? ', which has ended' : ''}`);
  const age = edge.ageMs === undefined ? '' : ` ${formatDuration(edge.ageMs)}`;
  const by = held.length ? `, held by ${held.join(' and ')}` : '';
  return `${named(edge.from, byId)} waits${age} for ${named(edge.to, byId)}${by}`;
}

function named(id: string, byId: ReadonlyMap<string, WaitNode>): string {
  const node = byId.get(id);
  const isOurs = node?.kind === 'run' || node?.kind === 'step' || node?.kind === 'tool';
  return `${nodeText(node, id)}${isOurs && node.name !== id ? ` (${id})` : ''}`;
}
