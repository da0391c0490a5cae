/**
 * Detects whether an object has changed since it was stored, without serializing it again. A fingerprint contains every
 * nested object with its fields at that time; equal strings are usually the same string, so the comparison takes nanoseconds.
 * Only plain objects, arrays and LangChain's own classes are determined by their fields. Other objects have no fingerprint
 * and are serialized each time.
 */
const mostObjects = 64;
const mostFields = 512;

export interface FingerprintPart {
  object: object;
  keys: string[];
  values: unknown[];
}
export type Fingerprint = FingerprintPart[];

/** Undefined for an object that contains one of another kind, or too many objects. */
export function takeFingerprint(root: object): Fingerprint | undefined {
  const fingerprint: Fingerprint = [];
  const seen = new Set([root]);
  let fields = 0;
  // A set may grow during iteration, so this visits each object once, even with cycles.
  for (const object of seen) {
    const keys = shareKeys(Object.keys(object));
    fields += keys.length;
    if (!isKnownByFields(object) || (Array.isArray(object) && keys.length !== object.length))
      return undefined;
    if (seen.size > mostObjects || fields > mostFields) return undefined;
    const values = keys.map((key) => (object as Record<string, unknown>)[key]);
    for (const value of values) if (typeof value === 'object' && value !== null) seen.add(value);
    fingerprint.push({ object, keys, values });
  }
  return fingerprint;
}

const mostShared = 256;
const shared = new Map<string, string[]>();

/**
 * Shares one key list between all objects of a shape: the fingerprints of a conversation are read at each step, and fewer
 * bytes are read faster.
 */
function shareKeys(keys: string[]): string[] {
  const name = keys.join('\0');
  const known = shared.get(name);
  if (known?.length === keys.length) return known;
  if (shared.size >= mostShared) shared.clear();
  shared.set(name, keys);
  return keys;
}

/** Enumerable fields of a prototype would be taken for a change; the only cost is an unnecessary serialization. */
export function isAsItWas(fingerprint: Fingerprint | undefined): boolean {
  if (!fingerprint) return false;
  for (let part = 0; part < fingerprint.length; part++) {
    const { object, keys, values } = fingerprint[part]!;
    if (!(Array.isArray(object) ? hasItems(object, values) : hasFields(object, keys, values))) return false;
  }
  return true;
}

function hasFields(object: object, keys: string[], values: unknown[]): boolean {
  let index = 0;
  for (const key in object) {
    if (key !== keys[index] || (object as Record<string, unknown>)[key] !== values[index]) return false;
    index++;
  }
  return index === keys.length;
}

/** Iterating over an array's keys would create a string for each index. */
function hasItems(array: unknown[], values: unknown[]): boolean {
  if (array.length !== values.length) return false;
  for (let index = 0; index < values.length; index++) if (array[index] !== values[index]) return false;
  return true;
}

function isKnownByFields(object: object): boolean {
  const prototype = Object.getPrototypeOf(object);
  if (prototype === Object.prototype || prototype === null)
    return typeof (object as { toJSON?: unknown }).toJSON !== 'function';
  return Array.isArray(object) ? prototype === Array.prototype : 'lc_kwargs' in object;
}
