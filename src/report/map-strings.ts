/**
 * A copy of an account in which every text went through one function, keys of maps included: so a renderer can't
 * forget one. Deeper than any account that analysis makes, the copy says so instead of going on.
 */

const maxDepth = 200;

export function mapStrings<T>(value: T, map: (text: string) => string): T {
  return copy(value, map, 0) as T;
}

function copy(value: unknown, map: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) return '(nested deeper than a report shows)';
  if (Array.isArray(value)) return value.map((item) => copy(item, map, depth + 1));
  // fromEntries defines own properties, so a key `__proto__` stays a key.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [map(key), copy(item, map, depth + 1)]),
  );
}
