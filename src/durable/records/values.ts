/**
 * The host's values as text and back: JSON, Date, Map, Set, BigInt, Buffer and typed arrays, Error, undefined, NaN, and
 * cycles. Uses devalue, whose text is readable, and which refuses what it can't restore (a function, an instance of a class)
 * with the path to it. Errors, Buffers, lists with further properties, and classes that the host registers are added here.
 */
import { createHash } from 'node:crypto';
import { types } from 'node:util';
import { DevalueError, stringify, unflatten } from 'devalue';
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import { describeRefused, reduceInstance, reviveInstance } from './classes.ts';
import { classMarkOf, classNamesOf, giveClass, isDom } from './error-classes.ts';

/** JSON text of the value. Throws AgentdumpError `usage` with the path to what can't be stored. */
export function encodeValue(value: unknown): string {
  try {
    return stringify(value, reducers);
  } catch (error) {
    const path = error instanceof DevalueError ? error.path : '';
    const at = path ? ` at ${path.replace(/^\./, '')}` : '';
    const reason = error instanceof RangeError ? 'it is nested too deeply' : reasonOf(error as Error);
    throw new AgentdumpError(
      'usage',
      `a value that can't be stored${at}: ${reason}`,
      { path, reason },
      error,
    );
  }
}

function reasonOf(error: Error): string {
  return (error instanceof DevalueError && describeRefused(error.value)) || error.message;
}

/** Also undefined for input that can't be stored, which then does not distinguish steps. */
export function hashOf(input: unknown): string | undefined {
  if (input === undefined) return undefined;
  try {
    return createHash('sha256').update(encodeValue(input)).digest('hex').slice(0, 16);
  } catch {
    return undefined;
  }
}

/** The value of a parsed text. Throws MalformedInput. */
export function decodeValue(parsed: unknown): unknown {
  try {
    return unflatten(parsed as unknown[], revivers);
  } catch (cause) {
    // Its class is not registered.
    if (cause instanceof AgentdumpError) throw cause;
    throw new MalformedInput(
      'a recorded value is damaged',
      { format: 'durable', field: 'value', wanted: 'flattened JSON' },
      cause,
    );
  }
}

interface ErrorFields {
  name: string;
  message: string;
  stack?: string;
  cause?: unknown;
  errors?: unknown[];
  /** If it is not a class of the language: the names from its class up to Error. */
  classes?: string[];
  /** Of those classes. */
  mark?: string;
  properties?: Record<string, unknown>;
  /** Properties under symbols of the global registry, by which packages that may be loaded twice know their errors. */
  symbols?: Record<string, unknown>;
}

const reducers = {
  Class: reduceInstance,
  Buffer: (value: unknown) =>
    typeof value === 'object' && value !== null && Buffer.isBuffer(value)
      ? [value.toString('base64')]
      : undefined,
  Error: (value: unknown) =>
    typeof value === 'object' && value !== null && isError(value) ? fieldsOf(value) : undefined,
  List: (value: unknown) => {
    const further = Array.isArray(value) ? furtherProperties(value) : undefined;
    return further && [(value as unknown[]).slice(), further];
  },
};

const revivers = {
  Class: reviveInstance,
  Buffer: ([text]: [string]) => Buffer.from(text, 'base64'),
  Error: errorOf,
  List: ([items, further]: [unknown[], Record<string, unknown>]) => Object.assign(items, further),
};

/** What a list has besides its elements, such as the `index` and `groups` of a match. Undefined if there is nothing. */
export function furtherProperties(list: readonly unknown[]): Record<string, unknown> | undefined {
  const names = Object.keys(list);
  // Indices come first.
  const last = names.at(-1);
  if (last === undefined || isIndex(last)) return undefined;
  return Object.fromEntries(Object.entries(list).filter(([name]) => !isIndex(name)));
}

const isIndex = (name: string) => String(Number(name) >>> 0) === name;

/** Includes errors of other realms, and DOMException, which an abort rejects with. */
function isError(value: object): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

function fieldsOf(error: Error): ErrorFields {
  const fields: ErrorFields = { name: textOf(error, 'name'), message: textOf(error, 'message') };
  const stack = read(error, 'stack');
  if (typeof stack === 'string') fields.stack = stack;
  const cause = read(error, 'cause');
  if (cause !== undefined) fields.cause = storable(cause) ? cause : textOf(error, 'cause');
  const errors = read(error, 'errors');
  if (Array.isArray(errors) && storable(errors)) fields.errors = errors;
  const classes = classNamesOf(error);
  if (classes) fields.classes = classes;
  if (classes && !isDom(classes)) fields.mark = classMarkOf(Object.getPrototypeOf(error));
  const own = Object.keys(error).map((name) => [name, read(error, name)] as const);
  const properties = [...gettersOf(error), ...own].filter(
    ([name, value]) => !ownFields.has(name) && storable(value),
  );
  if (properties.length) fields.properties = Object.fromEntries(properties);
  const symbols = Object.getOwnPropertySymbols(error).flatMap((symbol) => {
    const key = Symbol.keyFor(symbol);
    const value = read(error, symbol);
    return key !== undefined && storable(value) ? [[key, value] as const] : [];
  });
  if (symbols.length) fields.symbols = Object.fromEntries(symbols);
  return fields;
}

const ownFields = new Set(['name', 'message', 'stack', 'cause', 'errors']);

/** Undefined if it is computed by the host's own code from what is gone by now, as in an error that was restored. */
function read(error: Error, key: string | symbol): unknown {
  try {
    return (error as unknown as Record<string | symbol, unknown>)[key];
  } catch {
    return undefined;
  }
}

function textOf(error: Error, key: 'name' | 'message' | 'cause'): string {
  try {
    return String(error[key]);
  } catch {
    return key === 'name' ? 'Error' : '';
  }
}

/** What its class computes, maybe from what is private to it. */
function gettersOf(error: Error): [string, unknown][] {
  const values: [string, unknown][] = [];
  let type = Object.getPrototypeOf(error);
  for (; type && type !== Error.prototype && type !== Object.prototype; type = Object.getPrototypeOf(type))
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(type)))
      if (get) values.push([name, read(error, name)]);
  return values.filter(([, value]) => !['object', 'function', 'undefined'].includes(typeof value));
}

/** A property of an error that can't be stored (a response, a socket) must not prevent storing the error itself. */
function storable(value: unknown): boolean {
  try {
    stringify(value, reducers);
    return true;
  } catch {
    return false;
  }
}

const errorClasses: Record<string, new (message: string) => Error> = {
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
};

function errorOf({
  name,
  message,
  cause,
  classes,
  mark,
  properties,
  symbols,
  ...fields
}: ErrorFields): Error {
  const error = newError({ name, message, classes, errors: fields.errors });
  const hidden = (value: unknown) => ({ value, configurable: true, writable: true, enumerable: false });
  Object.defineProperty(error, 'stack', hidden(fields.stack));
  if (cause !== undefined) Object.defineProperty(error, 'cause', hidden(cause));
  // Not assigned: its class may have a getter of this name.
  const put = (key: string | symbol, value: unknown) =>
    Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: true });
  for (const [key, value] of Object.entries(properties ?? {})) put(key, value);
  for (const [key, value] of Object.entries(symbols ?? {})) put(Symbol.for(key), value);
  if (classes) giveClass(error, classes, mark);
  // Last: its class may compute it from the properties.
  if (read(error, 'name') !== name) Object.defineProperty(error, 'name', hidden(name));
  return error;
}

function newError({
  name,
  message,
  classes,
  errors,
}: {
  name: string;
  message: string;
  classes: string[] | undefined;
  errors: unknown[] | undefined;
}): Error {
  if (name === 'AggregateError' || errors !== undefined) return new AggregateError(errors ?? [], message);
  if (isDom(classes)) return new DOMException(message, name);
  return new (errorClasses[classes?.at(-1) ?? name] ?? errorClasses[name] ?? Error)(message);
}
