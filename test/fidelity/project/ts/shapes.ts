/** A shape that has an area. */
export type Shape = { kind: 'square'; side: number } | { kind: 'circle'; radius: number };

/** In square units. */
export function area(shape: Shape): number {
  return shape.kind === 'square' ? shape.side ** 2 : Math.PI * shape.radius ** 2;
}
