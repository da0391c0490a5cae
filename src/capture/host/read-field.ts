/**
 * Reads a field of a thrown value without running the host's code: no proxy traps, and only V8's own getters, unless the caller
 * has a reader for the program's (an error class may have `get name()`).
 */
import { types } from 'node:util';
import type { GetterReader } from '../fatal-path/getter-reader.ts';

/** The field's value; undefined if it does not exist. Throws for a proxy, and for a getter that can't be run. */
export function requireField(holder: unknown, name: string, getters?: GetterReader): unknown {
  let place = holder;
  for (let depth = 0; depth < 64 && isObject(place); depth++) {
    if (types.isProxy(place)) throw new Error('not read, because it is a proxy');
    const property = Object.getOwnPropertyDescriptor(place, name);
    if (property?.get && !isNative(property.get)) {
      if (!getters) throw new Error('not read, because it is a getter of the program');
      return getters.read(holder as object, name);
    }
    if (property) return property.get ? Reflect.apply(property.get, holder, []) : property.value;
    place = Object.getPrototypeOf(place);
  }
  return undefined;
}

/** Like requireField, but undefined for what can't be read. Never throws. */
export function findField(holder: unknown, name: string): unknown {
  try {
    return requireField(holder, name);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function isNative(get: () => unknown): boolean {
  return Function.prototype.toString.call(get).includes('[native code]');
}
