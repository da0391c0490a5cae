/**
 * Values and their comparison, as in SQL: a missing value is null, and a comparison with it is neither true nor false but
 * null, so that neither a condition nor its `not` matches it.
 */
import type { ComparisonSign } from './syntax.ts';

/** An object, as the value of a property. */
export class NodeReference {
  readonly node: number;
  readonly className: string;
  readonly id: number;

  constructor(node: number, className: string, id: number) {
    this.node = node;
    this.className = className;
    this.id = id;
  }
}

export type Value = number | string | boolean | null | NodeReference;
export type Truth = boolean | null;
/** Of a node, or of a group by its number. */
export type ReadValue = (row: number) => Value;
export type TestRow = (row: number) => Truth;

/** An object is compared with a text by its class, with another object by identity, with a number (`@4711`) by its id. */
export function isEqual(a: Value, b: Value): Truth {
  if (a === null || b === null) return null;
  if (a instanceof NodeReference)
    return b instanceof NodeReference ? a.node === b.node : a.className === b || a.id === b;
  return b instanceof NodeReference ? isEqual(b, a) : a === b;
}

export function compare(sign: ComparisonSign, a: Value, b: Value): Truth {
  const equal = isEqual(a, b);
  if (equal === null) return null;
  if (sign === '=') return equal;
  if (sign === '!=') return !equal;
  // Values of different types have no order.
  if (typeof a !== typeof b || a instanceof NodeReference || b instanceof NodeReference) return null;
  switch (sign) {
    case '<':
      return a! < b!;
    case '<=':
      return a! <= b!;
    case '>':
      return a! > b!;
    case '>=':
      return a! >= b!;
  }
}

export const not = (truth: Truth): Truth => (truth === null ? null : !truth);

/** An unknown part makes the result unknown, unless another part decides it. */
export function all(parts: Iterable<Truth>): Truth {
  let truth: Truth = true;
  for (const part of parts) {
    if (part === false) return false;
    if (part === null) truth = null;
  }
  return truth;
}

export function any(parts: Iterable<Truth>): Truth {
  let truth: Truth = false;
  for (const part of parts) {
    if (part) return true;
    if (part === null) truth = null;
  }
  return truth;
}

const kindOrder = ['boolean', 'number', 'string', 'object'];

/** Missing values sort last in either direction; different types are sorted one after the other. */
export function sortOrder(a: Value, b: Value, isDescending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = ascending(a, b);
  return isDescending ? -order : order;
}

function ascending(a: Exclude<Value, null>, b: Exclude<Value, null>): number {
  if (typeof a !== typeof b) return kindOrder.indexOf(typeof a) - kindOrder.indexOf(typeof b);
  if (a instanceof NodeReference && b instanceof NodeReference)
    return ascending(a.className, b.className) || a.node - b.node;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Equal for values of the same group. */
export function groupKey(value: Value): string {
  return value instanceof NodeReference ? `@${value.node}` : `${typeof value} ${value}`;
}
