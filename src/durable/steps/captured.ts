/**
 * What tells calls of one step apart that only time distinguishes otherwise: hashes of the variables that their functions capture, such
 * as `doc` in `() => summarize(doc)`. They do for a call without a key or an input what its input does for others, although none of
 * them need be the same after a restart: a page that is fetched again may have changed.
 */
import { createHash } from 'node:crypto';
import { types } from 'node:util';
import { type CapturedVariable, capturedVariables } from './captured-variables.ts';

/** By the name of the variable. A hash that begins with ~ is of a value that was not seen as a whole. */
export type Captured = Readonly<Record<string, string>>;

const mostVariables = 12;
const mostValues = 2_000;
const mostItems = 200;
const deepest = 6;
const mostFunctions = 3;
/** A short hash of a password could be guessed. */
const secretName = /pass|secret|token|credential|api_?key|auth|cookie/i;

/** Undefined if nothing is captured, or V8 does not tell. */
export function captureOf(asked: object, hash: (value: unknown) => string | undefined): Captured | undefined {
  const captured: Record<string, string> = {};
  let functions = 0;
  const add = (from: object, prefix: string) => {
    functions++;
    for (const { name, value, isInnermost } of capturedVariables(from) ?? [])
      addOne(prefix + name, value, isInnermost);
  };
  const addOne = (name: string, value: CapturedVariable['value'], isInnermost: boolean) => {
    if (secretName.test(name) || Object.keys(captured).length === mostVariables) return;
    if (typeof value === 'function') {
      if (!isInnermost || types.isProxy(value)) return;
      if (functions < mostFunctions) add(value, `${name}.`);
      else captured[name] = '~';
      return;
    }
    const outline = new Outline();
    const seen = outline.of(value, 0);
    if (seen === unseen) return;
    const short = createHash('sha256')
      .update(hash(seen) ?? '')
      .digest('base64url')
      .slice(0, 8);
    captured[name] = outline.isWhole ? short : `~${short}`;
  };
  add(asked, '');
  return Object.keys(captured).length > 0 ? captured : undefined;
}

/** Whether calls that captured the same do the same. */
export function isWhole(captured: Captured): boolean {
  return Object.values(captured).every((hash) => !hash.startsWith('~'));
}

export function isSameCapture(one: Captured, other: Captured): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

const unseen = Symbol('unseen');

/** A copy of a value as plain data, of bounded size. Calls no getters and no traps. */
class Outline {
  isWhole = true;
  #left = mostValues;
  readonly #seen = new Set<object>();

  of(value: unknown, depth: number): unknown {
    if (typeof value === 'symbol' || typeof value === 'function') return this.#leave(unseen);
    if (typeof value !== 'object' || value === null) return value;
    if (types.isProxy(value) || types.isPromise(value)) return this.#leave(unseen);
    if (this.#seen.has(value)) return '(again)';
    if (depth === deepest || --this.#left < 0) return this.#leave('(more)');
    this.#seen.add(value);
    return this.#ofObject(value, depth + 1);
  }

  #ofObject(value: object, depth: number): unknown {
    if (Array.isArray(value)) return this.#list(value.length, this.#head(value), depth);
    if (types.isDate(value)) return new Date(Date.prototype.getTime.call(value));
    if (types.isMap(value))
      return this.#list(value.size, [...Map.prototype.entries.call(value)].flat(), depth);
    if (types.isSet(value)) return this.#list(value.size, [...Set.prototype.values.call(value)], depth);
    if (ArrayBuffer.isView(value)) {
      const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      return createHash('sha256').update(bytes).digest('hex');
    }
    if (value instanceof URL) return value.href;
    const prototype = Object.getPrototypeOf(value);
    const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
    // Of an instance of a class, what is private to it is not seen.
    if (!isPlain) this.isWhole = false;
    return this.#fields(value, isPlain, depth);
  }

  #head(list: readonly unknown[]): unknown[] {
    return Array.from(
      { length: Math.min(list.length, mostItems) },
      (_, at) => Object.getOwnPropertyDescriptor(list, at)?.value,
    );
  }

  #list(size: number, items: unknown[], depth: number): unknown[] {
    if (items.length > mostItems || size > mostItems) this.isWhole = false;
    return [size, ...items.slice(0, mostItems).map((item) => this.#kept(this.of(item, depth)))];
  }

  /** What an instance refers to may be anything: a client, its sockets. */
  #fields(value: object, isPlain: boolean, depth: number): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    for (const key of Object.keys(value).slice(0, mostItems)) {
      const { value: field } = Object.getOwnPropertyDescriptor(value, key) ?? {};
      if (secretName.test(key) || (!isPlain && typeof field === 'object' && field !== null)) continue;
      fields[key] = this.#kept(this.of(field, depth));
    }
    return fields;
  }

  #kept(value: unknown): unknown {
    return value === unseen ? '(unseen)' : value;
  }

  #leave<Instead>(instead: Instead): Instead {
    this.isWhole = false;
    return instead;
  }
}
