/**
 * What tells calls of one step apart that only time distinguishes otherwise: hashes of the variables that their functions capture, such
 * as `doc` in `() => summarize(doc)`. They do for a call without a key or an input what its input does for others, although none of
 * them need be the same after a restart: a page that is fetched again may have changed.
 */
import { createHash } from 'node:crypto';
import { types } from 'node:util';
import { type CapturedVariable, capturedVariables } from './captured-variables.ts';

/**
 * By the name of the variable. A hash that begins with ~ is of a value that was not seen as a whole, and ~ alone stands for what was not
 * seen at all. `()`: the code.
 */
export type Captured = Readonly<Record<string, string>>;

const mostVariables = 12;
const mostStores = 8;
const mostValues = 2_000;
const mostItems = 200;
const mostText = 1_000_000;
const deepest = 6;
const mostFunctions = 3;
/** A short hash of a password could be guessed. */
const secretName = /pass|secret|token|credential|api_?key|auth|cookie|pwd|jwt|psk|cvv|\b(?:pw|pin|otp)\b/i;

/** A function, and the values of AsyncLocalStorages that it is called with. */
export interface CapturingHost {
  host: object;
  stores: readonly unknown[];
}

/** By the same names, as far as values were seen. */
export type CapturedValues = ReadonlyMap<string, unknown>;

/** Undefined if nothing is captured, or V8 does not tell. */
export function captureOf(
  { host, stores }: CapturingHost,
  hash: (value: unknown) => string | undefined,
): { captured: Captured; values: CapturedValues } | undefined {
  const captured: Record<string, string> = {};
  const values = new Map<string, unknown>();
  let isSeen = false;
  const isFull = () => Object.keys(captured).length >= mostVariables;
  forEachVariable(host, {
    isFull,
    code: (prefix, code, isAll) => {
      captured[`${prefix}()`] = shortHash(code);
      if (!isAll) captured[`${prefix}this`] = unknown;
    },
    variable: (name, { value, isShared }, isUnseen) => {
      const seen = isUnseen || isFull() ? unknown : outlineOf(value, hash);
      if (seen !== unknown) isSeen = true;
      // One that all calls share doesn't tell them apart.
      if (seen === unknown && isShared) return;
      captured[isFull() ? '…' : name] = seen;
      if (seen !== unknown) values.set(name, value);
    },
  });
  if (stores.length > mostStores) captured['…'] = unknown;
  for (const [name, store] of namedStores(stores)) {
    captured[name] = outlineOf(store, hash);
    if (captured[name] === unknown) continue;
    isSeen = true;
    values.set(name, store);
  }
  return isSeen ? { captured, values } : undefined;
}

const namedStores = (stores: readonly unknown[]): [string, unknown][] =>
  stores.slice(0, mostStores).map((store, at) => [`AsyncLocalStorage ${at + 1}`, store]);

/** Without their hashes. */
export function capturedNow({ host, stores }: CapturingHost): CapturedValues {
  const values = new Map(namedStores(stores));
  forEachVariable(host, {
    isFull: () => false,
    code: () => {},
    variable: (name, { value }) => values.set(name, value),
  });
  return values;
}

interface Visitor {
  isFull: () => boolean;
  code: (prefix: string, code: string, isAll: boolean) => void;
  /** `isUnseen`: a function whose variables are not looked at. */
  variable: (name: string, variable: CapturedVariable, isUnseen: boolean) => void;
}

/** Also those of functions that it captures, which may be what the caller of a helper has passed. */
function forEachVariable(asked: object, { isFull, code, variable }: Visitor): void {
  let functions = 0;
  const visit = (from: object, prefix: string) => {
    functions++;
    const capture = capturedVariables(from);
    if (!capture) return;
    code(prefix, capture.code, capture.isAll);
    for (const one of capture.variables) {
      const { value, isInnermost } = one;
      const name = prefix + one.name;
      const isHidden = secretName.test(name);
      if (typeof value !== 'function') variable(name, one, isHidden);
      else if (isHidden || isFull() || !isInnermost || types.isProxy(value) || functions >= mostFunctions)
        variable(name, one, true);
      else visit(value, `${name}.`);
    }
  };
  visit(asked, '');
}

const unknown = '~';
const shortHash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 8);

function outlineOf(value: unknown, hash: (value: unknown) => string | undefined): string {
  try {
    const outline = new Outline();
    const seen = outline.of(value, 0);
    if (seen === unseen) return unknown;
    const short = shortHash(hash(seen) ?? '');
    return outline.isWhole ? short : `~${short}`;
  } catch {
    // Such as a view of a buffer that was transferred.
    return unknown;
  }
}

/** Whether the value was seen as a whole. */
export const isWholeValue = (hash: string): boolean => !hash.startsWith(unknown);

/** Whether calls that captured the same do the same. */
export function isWhole(captured: Captured): boolean {
  return Object.values(captured).every(isWholeValue);
}

/** Whether anything was not seen at all, so that calls that captured the same may have nothing else in common. */
export function hasUnknown(captured: Captured): boolean {
  return Object.values(captured).includes(unknown);
}

/** Whether its function, or one that it captures, names `this`, of which V8 tells nothing. */
export const usesThis = (captured: Captured): boolean =>
  Object.keys(captured).some((name) => name === 'this' || name.endsWith('.this'));

/** What may tell a call from others of its step after the program has changed. */
export const isTelling = (name: string, hash: string | undefined): boolean =>
  hash !== unknown && !name.endsWith('()');

const signatures = new WeakMap<Captured, string>();

/** What remains without the variables of these names. */
export function without(captured: Captured, names: ReadonlySet<string>): Captured {
  if (names.size === 0) return captured;
  return Object.fromEntries(Object.entries(captured).filter(([name]) => !names.has(name)));
}

/** Two captures have the same if they are the same. */
export function signatureOf(captured: Captured): string {
  let signature = signatures.get(captured);
  if (signature === undefined) {
    signature = JSON.stringify(Object.entries(captured).sort(byName));
    signatures.set(captured, signature);
  }
  return signature;
}

const byName = ([one]: [string, string], [other]: [string, string]) =>
  one < other ? -1 : one > other ? 1 : 0;

/** Not that of a class of the program. */
const hrefOf = Object.getOwnPropertyDescriptor(URL.prototype, 'href')!.get!;
const unseen = Symbol('unseen');

/** A copy of a value as plain data, of bounded size. Calls no getters and no traps. */
class Outline {
  isWhole = true;
  #left = mostValues;
  readonly #seen = new Set<object>();

  of(value: unknown, depth: number): unknown {
    if (typeof value === 'symbol' || typeof value === 'function') return this.#leave(unseen);
    if (typeof value === 'string' && value.length > mostText) {
      this.isWhole = false;
      return [value.length, value.slice(0, mostText / 2), value.slice(-mostText / 2)];
    }
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
    if (types.isMap(value)) {
      const entries = firstOf(Map.prototype.entries.call(value));
      this.#lookUp(entries.map(([key]) => key));
      return this.#list(value.size, entries.flat(), depth);
    }
    if (types.isSet(value)) {
      const items = firstOf(Set.prototype.values.call(value));
      this.#lookUp(items);
      return this.#list(value.size, items, depth);
    }
    if (ArrayBuffer.isView(value)) {
      if (value.byteLength > mostText) this.isWhole = false;
      const bytes = new Uint8Array(value.buffer, value.byteOffset, Math.min(value.byteLength, mostText));
      return [value.byteLength, createHash('sha256').update(bytes).digest('hex')];
    }
    if (value instanceof URL) return hrefOf.call(value);
    const prototype = Object.getPrototypeOf(value);
    const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
    // Of an instance of a class, what is private to it is not seen.
    if (!isPlain) this.isWhole = false;
    return this.#fields(value, isPlain, depth);
  }

  /** An object finds what belongs to it, but no equal one does. */
  #lookUp(keys: readonly unknown[]): void {
    if (keys.some((key) => typeof key === 'object' && key !== null)) this.isWhole = false;
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
    const keys = Object.keys(value);
    if (keys.length > mostItems || Object.getOwnPropertySymbols(value).length > 0) this.isWhole = false;
    for (const key of keys.slice(0, mostItems)) {
      const { value: field, get } = Object.getOwnPropertyDescriptor(value, key) ?? {};
      if (get || secretName.test(key)) this.isWhole = false;
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

function firstOf<Item>(items: Iterable<Item>): Item[] {
  const first: Item[] = [];
  for (const item of items) {
    first.push(item);
    if (first.length > mostItems) break;
  }
  return first;
}
