/** Narrows parsed JSON of unknown shape. All readers of provider bodies use these functions. None of them throws. */

export type JsonObject = Record<string, unknown>;

/** The value as an object; an empty object for anything else, so that a chain of look-ups needs no checks. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function arrayOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The parsed text, or undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Arguments of a tool call, which providers send as JSON text: parsed, or the text itself if the model produced invalid JSON.
 */
export function parseArguments(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (value === '') return {};
  const parsed = parseJson(value);
  return parsed === undefined ? value : parsed;
}

/** `object` without the keys whose value is undefined, so that they are absent from JSON instead of null. */
export function compact<T extends object>(object: T): T {
  for (const key of Object.keys(object) as (keyof T)[]) if (object[key] === undefined) delete object[key];
  return object;
}
