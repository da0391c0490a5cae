/**
 * How instances of the host's classes are stored: by a function to plain values and one back, registered under a name. An
 * instance of any other class is refused; none is stored as if it were a plain object, list or map, because the program would
 * get something else after a resume than before.
 */
import { types } from 'node:util';
import { AgentdumpError } from '../../errors.ts';

type AnyClass = abstract new (...given: never[]) => unknown;

export interface ClassSerializer<Instance, Plain> {
  /** Stored with each value, and permanent. Default: the name of the class. */
  name?: string;
  /** Returns what is stored: anything that can be stored, including instances of registered classes. */
  to(instance: Instance): Plain;
  from(plain: Plain): Instance;
}

interface Registered {
  name: string;
  to(instance: unknown): unknown;
  from(plain: unknown): unknown;
}

const byPrototype = new Map<object, Registered>();
const byName = new Map<string, Registered>();

/**
 * From now on instances of this class can be stored, and read. Instances of classes derived from it are other classes. Throws
 * `usage` if the name belongs to another class.
 */
export function registerClass<Instance extends object, Plain>(
  Class: abstract new (...given: never[]) => Instance,
  { name = Class.name, to, from }: ClassSerializer<Instance, Plain>,
): void {
  const refuse = (why: string) => {
    throw new AgentdumpError('usage', why, { argument: 'name' });
  };
  if (name === '') refuse('a class without a name needs one to be registered');
  const prototype = Class.prototype as object;
  if (byName.has(name) && byName.get(name) !== byPrototype.get(prototype))
    refuse(`another class is registered as ${name}`);
  const before = byPrototype.get(prototype);
  if (before) byName.delete(before.name);
  const registered = { name, to: to as Registered['to'], from: from as Registered['from'] };
  byPrototype.set(prototype, registered);
  byName.set(name, registered);
}

/**
 * For devalue. Of an instance of an unknown class that is a list, a map, …, a function, which is refused with the path to it:
 * otherwise only what is in it would be stored.
 */
export function reduceInstance(value: unknown): [string, unknown] | Extension | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype || prototype === Array.prototype) return undefined;
  const registered = byPrototype.get(prototype);
  if (registered) return [registered.name, registered.to(value)];
  return hasMore(value) || isExtension(value, prototype) ? extensionOf(value) : undefined;
}

/** Throws `usage` if no class of this name is registered. */
export function reviveInstance([name, plain]: [string, unknown]): unknown {
  const registered = byName.get(name);
  if (registered) return registered.from(plain);
  throw new AgentdumpError(
    'usage',
    `a recorded value is of the class ${name}: register it with registerClass`,
    {
      argument: name,
    },
  );
}

/** A reason why the value can't be stored, if that is its class. */
export function describeRefused(value: unknown): string | undefined {
  const refused = extended.get(value as Extension) ?? value;
  if (typeof refused === 'function') return 'it is a function, and only data is stored';
  if (typeof refused !== 'object' || refused === null) return undefined;
  if (types.isPromise(refused)) return 'it is a promise: await it within the step';
  const prototype: object | null = Object.getPrototypeOf(refused);
  // It is refused for what is in it.
  if (refused.constructor === Object || prototype === null) return undefined;
  if (storedPrototypes.has(prototype) && hasMore(refused))
    return `it has properties of its own (${Object.keys(refused).join(', ')}), which are not stored with its contents`;
  if (isReadOnce(refused)) {
    const name =
      refused.constructor?.name || Object.prototype.toString.call(refused).slice('[object '.length, -1);
    return `it is an object of ${name}, which is read once: read it within the step, and return what was read`;
  }
  const name = refused.constructor?.name || 'a class without a name';
  return `it is an instance of ${name}, which is not registered (registerClass)`;
}

/** A stream, the answer to a request, a generator: to register its class would not help. */
function isReadOnce(value: object): boolean {
  if (types.isProxy(value)) return false;
  return Symbol.asyncIterator in value || types.isGeneratorObject(value) || value instanceof Response;
}

/** Whether a map, a date or the like has properties of its own, which devalue would leave out. */
function hasMore(value: object): boolean {
  return closed.some((Class) => value instanceof Class) && Object.keys(value).length > 0;
}

type Extension = () => void;
const extended = new WeakMap<Extension, object>();

function extensionOf(value: object): Extension {
  const mark = () => {};
  extended.set(mark, value);
  return mark;
}

const closed: AnyClass[] = [Map, Set, Date, RegExp, URL, URLSearchParams, ArrayBuffer, DataView];
/** Of what devalue stores, all but plain objects. Errors are stored by their fields, whatever their class. */
const stored = [
  Array,
  Map,
  Set,
  Date,
  RegExp,
  URL,
  URLSearchParams,
  Number,
  String,
  Boolean,
  ArrayBuffer,
  DataView,
  Buffer,
  Object.getPrototypeOf(Uint8Array) as AnyClass,
];
const typedArrays: AnyClass[] = [
  Uint8Array,
  Uint8ClampedArray,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
];
const storedPrototypes = new Set([...stored, ...typedArrays].map((Class) => Class.prototype as object));
const storedNames = new Set([...stored, ...typedArrays].map(({ name }) => name));

/** A list or the like of another class than that which devalue restores. Values of other realms have other prototypes. */
function isExtension(value: object, prototype: object): boolean {
  if (storedPrototypes.has(prototype) || !storedNames.has(tagOf(value))) return false;
  const isOfThisRealm = stored.some((Class) => value instanceof Class);
  return isOfThisRealm || !storedNames.has(prototype.constructor?.name);
}

const tagOf = (value: object) => Object.prototype.toString.call(value).slice(8, -1);

/** Throws `usage` for a class whose instances could not be stored: before the effect whose result they are. */
export function requireStorable(classes: AnyClass | readonly AnyClass[], step: string): void {
  for (const Class of Array.isArray(classes) ? (classes as AnyClass[]) : [classes as AnyClass]) {
    const isKnown =
      byPrototype.has(Class.prototype) || storedPrototypes.has(Class.prototype) || isPlain(Class);
    if (isKnown) continue;
    throw new AgentdumpError(
      'usage',
      `step ${step} returns an instance of ${Class.name || 'a class'}, which could not be stored: register the class with registerClass first`,
      { argument: 'returns' },
    );
  }
}

const plain: AnyClass[] = [
  Object,
  BigInt as never,
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
  AggregateError,
];
const isPlain = (Class: AnyClass) => plain.includes(Class);
