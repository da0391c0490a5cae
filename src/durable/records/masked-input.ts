/**
 * The hash of an input by which a resume recognizes a step. What the host masks (a time, a random id) may differ between the
 * processes of a run without being a change of the program.
 */
import { type Mask, masking } from '../../agent/calls/masks.ts';
import { hashOf } from './values.ts';

export type HashInput = (input: unknown) => string | undefined;

export function hashingWithout(masks: readonly Mask[] | undefined): HashInput {
  if (!masks?.length) return hashOf;
  const mask = masking(masks);
  return (input) => hashOf(maskAll(input, mask, new Map()));
}

/** A copy in which texts, numbers and times are masked, also as keys; what they are in keeps its shape. */
function maskAll(value: unknown, mask: (text: string) => string, copies: Map<object, unknown>): unknown {
  const masked = (text: string) => {
    const result = mask(text);
    return result === text ? value : result;
  };
  if (typeof value === 'string') return mask(value);
  if (typeof value === 'number') return masked(String(value));
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : masked(value.toISOString());
  const known = copies.get(value);
  if (known !== undefined) return known;
  const go = (item: unknown) => maskAll(item, mask, copies);
  if (Array.isArray(value)) {
    // Holes remain holes, and further properties are kept.
    const copy: unknown[] = new Array(value.length);
    copies.set(value, copy);
    for (const [key, item] of Object.entries(value)) Object.assign(copy, { [key]: go(item) });
    return copy;
  }
  if (value instanceof Map) {
    const copy = new Map<unknown, unknown>();
    copies.set(value, copy);
    for (const [key, item] of value) copy.set(go(key), go(item));
    return copy;
  }
  if (value instanceof Set) {
    const copy = new Set<unknown>();
    copies.set(value, copy);
    for (const item of value) copy.add(go(item));
    return copy;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy: Record<string, unknown> = {};
  copies.set(value, copy);
  for (const [key, item] of Object.entries(value)) copy[mask(key)] = go(item);
  return copy;
}
