/**
 * Whether an object still says what it said when it was stored, without serializing it again. A fingerprint holds each object
 * within it with its fields as they were; equal strings are mostly the same string, so the look takes nanoseconds. Only
 * what JSON says of plain objects, arrays and LangChain's own classes is known by their fields; of anything else there
 * is no fingerprint, and it is serialized each time.
 */
const mostObjects = 64;
const mostFields = 512;

export interface FingerprintPart {
  object: object;
  keys: string[];
  values: unknown[];
}
export type Fingerprint = FingerprintPart[];

/** Undefined for an object that holds one of another kind, or too many. */
export function takeFingerprint(root: object): Fingerprint | undefined {
  const fingerprint: Fingerprint = [];
  const seen = new Set([root]);
  let fields = 0;
  // A set may grow while it is walked: this visits each object once, cycles or not.
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

/** One list for all objects of a shape: a conversation's fingerprints are read at each step, and the fewer bytes the faster. */
function shareKeys(keys: string[]): string[] {
  const name = keys.join('\0');
  const known = shared.get(name);
  if (known?.length === keys.length) return known;
  if (shared.size >= mostShared) shared.clear();
  shared.set(name, keys);
  return keys;
}

/** What enumerable fields a prototype has would be taken for a change: then it is only serialized in vain. */
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

/** Walking an array by its keys would make a string of each index. */
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
