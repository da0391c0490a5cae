/**
 * Reads values from JSON of any Node version or untrusted origin: returns the value if it has the expected type, otherwise
 * undefined. Nothing here throws. Texts and lists are truncated; only own properties are read.
 */

export type Json = Readonly<Record<string, unknown>>;

const longestText = 64 * 1024;
const longestList = 10_000;

export function objectIn(json: Json | undefined, name: string): Json | undefined {
  const value = valueIn(json, name);
  return isObject(value) ? value : undefined;
}

/** The objects of a list; other items are left out. */
export function objectsIn(json: Json | undefined, name: string): Json[] {
  return listIn(json, name).filter(isObject);
}

export function textsIn(json: Json | undefined, name: string): string[] {
  return listIn(json, name)
    .filter((item) => typeof item === 'string')
    .map(cutText);
}

export function textIn(json: Json | undefined, name: string): string | undefined {
  const value = valueIn(json, name);
  return typeof value === 'string' && value !== '' ? cutText(value) : undefined;
}

/** Undefined for numbers too large to be exact, with which Node means "no limit". */
export function numberIn(json: Json | undefined, name: string): number | undefined {
  const value = valueIn(json, name);
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

export function flagIn(json: Json | undefined, name: string): boolean | undefined {
  const value = valueIn(json, name);
  return typeof value === 'boolean' ? value : undefined;
}

/** `0x` and lower-case digits without leading zeros. */
export function addressIn(json: Json | undefined, name: string): string | undefined {
  const digits = /^0x0*([0-9a-f]{1,16})$/i.exec(textIn(json, name) ?? '')?.[1];
  return digits && `0x${digits.toLowerCase()}`;
}

/** All entries for which `read` returns a value. `__proto__` is treated like any other key. */
export function entriesIn<T>(
  json: Json | undefined,
  read: (value: unknown) => T | undefined,
): Record<string, T> {
  const entries = Object.entries(json ?? {})
    .slice(0, longestList)
    .map(([name, value]) => [cutText(name), read(value)] as const)
    .filter((entry): entry is readonly [string, T & {}] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object without its undefined fields. */
export function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** A string, or a primitive value as a string. */
export function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return cutText(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function listIn(json: Json | undefined, name: string): unknown[] {
  const value = valueIn(json, name);
  return Array.isArray(value) ? value.slice(0, longestList) : [];
}

function valueIn(json: Json | undefined, name: string): unknown {
  return json && Object.hasOwn(json, name) ? json[name] : undefined;
}

const cutText = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText)}…` : text;
