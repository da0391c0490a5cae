/**
 * The objects that an object dominates as nested rectangles: each that is large enough to be visible has its own, with its
 * contents inside; the smaller ones are grouped by class. The bytes add up to those of the object, its own size included.
 */
import type { Heap } from '../../analysis/memory/heap.ts';
import { objectRow } from './object-rows.ts';
import type { ObjectRow, Tile, TilesView } from './questions.ts';

/** Below this share of the whole an object has no rectangle of its own. */
const leastShare = 1 / 300;
const mostObjects = 120;
/** The number of classes of small objects; the rest are one more rectangle. */
const mostClasses = 40;
/** A rectangle below this share shows no contents. */
const leastInside = 1 / 40;
const mostDepth = 8;
/** The total number, to keep the answer small. */
const mostTiles = 2_000;
const mostAbove = 12;

export function tilesOf(heap: Heap, node: number): TilesView {
  const whole = heap.retained[node]!;
  const tiles = tilesBelow(heap, node, whole);
  let count = tiles.length;
  let level = tiles;
  for (let depth = 1; depth < mostDepth && level.length > 0; depth++) {
    const next: Tile[] = [];
    for (const tile of level) {
      if (tile.id === undefined || tile.bytes < whole * leastInside || count >= mostTiles) continue;
      tile.inside = tilesBelow(heap, heap.snapshot.findById(tile.id), whole);
      count += tile.inside.length;
      next.push(...tile.inside);
    }
    level = next;
  }
  return { object: objectRow(heap, node), above: dominatorsOf(heap, node), tiles };
}

/** Nearest last. */
function dominatorsOf(heap: Heap, node: number): ObjectRow[] {
  const above: ObjectRow[] = [];
  for (let at = node; at !== heap.root && above.length < mostAbove; ) {
    at = heap.tree.dominator[at]!;
    above.unshift(objectRow(heap, at));
  }
  return above;
}

/** @param whole the size that shares are relative to. */
function tilesBelow(heap: Heap, node: number, whole: number): Tile[] {
  const large: number[] = [];
  const small = new Map<number, { bytes: number; count: number }>();
  for (const child of heap.dominated.of(node)) {
    const bytes = heap.retained[child]!;
    if (bytes >= whole * leastShare && large.length < mostObjects) large.push(child);
    else {
      const kind = heap.classes.of[child]!;
      const sums = small.get(kind) ?? { bytes: 0, count: 0 };
      sums.bytes += bytes;
      sums.count++;
      small.set(kind, sums);
    }
  }
  const tiles: Tile[] = large.map((child) => ({
    name: heap.className(child),
    bytes: heap.retained[child]!,
    count: 1,
    id: heap.snapshot.nodes.id.get(child),
  }));
  const classes = [...small].sort(([, a], [, b]) => b.bytes - a.bytes);
  for (const [kind, sums] of classes.slice(0, mostClasses))
    tiles.push({ name: heap.classes.kinds[kind]!.name, ...sums, class: kind });
  const rest = classes.slice(mostClasses);
  const total = (key: 'bytes' | 'count') => rest.reduce((sum, [, sums]) => sum + sums[key], 0);
  if (rest.length) tiles.push({ name: 'others', bytes: total('bytes'), count: total('count') });
  const own = heap.selfSize.get(node);
  if (own > 0) tiles.push({ name: `${heap.className(node)} itself`, bytes: own, count: 1 });
  return tiles.sort((a, b) => b.bytes - a.bytes);
}
