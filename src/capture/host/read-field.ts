/**
 * Reads a field of a thrown value while running as little of the host's code as possible: no proxy traps, and only V8's own
 * getters, unless the caller asks for the program's too (an error class may have `get name()`).
 */
import { types } from 'node:util';

export interface ReadOptions {
  /** Runs getters that the program wrote. They may throw into the caller. */
  runGetters?: boolean;
}

/** The field's value; undefined if it does not exist. Throws for a proxy, and for a getter that is not to be run. */
export function requireField(holder: unknown, name: string, options: ReadOptions = {}): unknown {
  let place = holder;
  for (let depth = 0; depth < 64 && isObject(place); depth++) {
    if (types.isProxy(place)) throw new Error('not read, because it is a proxy');
    const property = Object.getOwnPropertyDescriptor(place, name);
    if (property?.get && !options.runGetters && !isNative(property.get))
      throw new Error('not read, because it is a getter of the program');
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
