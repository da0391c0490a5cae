/**
 * Copies an account and passes every text through one function, including keys of maps, so that a renderer can't forget one.
 * If the account is deeper than any that analysis creates, the copy says so instead of continuing.
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
  // fromEntries defines own properties, so a key `__proto__` remains a key.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [map(key), copy(item, map, depth + 1)]),
  );
}
