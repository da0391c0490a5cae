/**
 * Rectangles with areas proportional to the sizes, as square as possible: Bruls, Huizing, van Wijk, "Squarified Treemaps"
 * (2000). Differences: sizes are laid out largest first, and those that are not positive numbers are left out. Pure.
 */

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Placed<T> extends Box {
  item: T;
}

export function squarify<T>(items: readonly T[], sizeOf: (item: T) => number, within: Box): Placed<T>[] {
  const sorted = items.filter((item) => sizeOf(item) > 0).sort((a, b) => sizeOf(b) - sizeOf(a));
  const total = sorted.reduce((sum, item) => sum + sizeOf(item), 0);
  const scale = (within.width * within.height) / total;
  const placed: Placed<T>[] = [];
  let room: Box = { ...within };
  for (let start = 0; start < sorted.length; ) {
    const side = Math.min(room.width, room.height);
    const areas: number[] = [];
    let end = start;
    for (let best = Number.POSITIVE_INFINITY; end < sorted.length; end++) {
      areas.push(sizeOf(sorted[end]!) * scale);
      const now = worst(areas, side);
      if (now > best) {
        areas.pop();
        break;
      }
      best = now;
    }
    room = placeRow(sorted.slice(start, end), areas, room, placed);
    start = end;
  }
  return placed;
}

/** Room for a name above the contents, and a margin around them. */
const headHeight = 22;
const padding = 3;
/** Smaller ones have no room for a name and are hard to point at. */
const leastSide = 5;
/** The contents of smaller ones are not shown. */
const leastRoom = { width: 40, height: 24 };

export interface Nested<T> extends Placed<T> {
  /** The enclosing items, the outermost first. */
  above: readonly T[];
}

export interface Nesting<T> {
  sizeOf(item: T): number;
  insideOf(item: T): readonly T[];
}

/** Nested rectangles, as deep as there is room. Outer ones come first, so that the inner ones are drawn on top of them. */
export function nest<T>(
  items: readonly T[],
  nesting: Nesting<T>,
  within: Box,
  above: readonly T[] = [],
): Nested<T>[] {
  return squarify(items, nesting.sizeOf, within).flatMap((placed) => {
    const { item, x, y, width, height } = placed;
    if (width < leastSide || height < leastSide) return [];
    const room = {
      x: x + padding,
      y: y + headHeight,
      width: width - 2 * padding - 1,
      height: height - headHeight - padding - 1,
    };
    const hasRoom = room.width > leastRoom.width && room.height > leastRoom.height;
    const inside = hasRoom ? nest(nesting.insideOf(item), nesting, room, [...above, item]) : [];
    return [{ ...placed, above }, ...inside];
  });
}

/** The greatest aspect ratio in a row along `side`; areas are sorted, largest first. */
function worst(areas: readonly number[], side: number): number {
  const sum = areas.reduce((a, b) => a + b, 0);
  const largest = areas[0]!;
  const smallest = areas.at(-1)!;
  return Math.max((side * side * largest) / (sum * sum), (sum * sum) / (side * side * smallest));
}

/** Places a row along the shorter side; returns the remaining room. */
function placeRow<T>(row: readonly T[], areas: readonly number[], room: Box, placed: Placed<T>[]): Box {
  const sum = areas.reduce((a, b) => a + b, 0);
  const isColumn = room.width >= room.height;
  const thickness = sum / (isColumn ? room.height : room.width) || 0;
  let at = isColumn ? room.y : room.x;
  for (const [n, item] of row.entries()) {
    const length = areas[n]! / thickness || 0;
    if (isColumn) placed.push({ item, x: room.x, y: at, width: thickness, height: length });
    else placed.push({ item, x: at, y: room.y, width: length, height: thickness });
    at += length;
  }
  return isColumn
    ? { ...room, x: room.x + thickness, width: Math.max(0, room.width - thickness) }
    : { ...room, y: room.y + thickness, height: Math.max(0, room.height - thickness) };
}
