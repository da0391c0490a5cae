/**
 * A V8 context of our own, in which the code that runs at a death is compiled: its arrays, maps, strings, promises and errors
 * are made of intrinsics that the program has never seen, so nothing that it replaced or froze reaches them. Node's
 * modules and globals come from the main realm, as they were when the preload was loaded. Measured: 1 ms at the death, on
 * Node 20 to 26, nothing at the start.
 */
import { types } from 'node:util';
import { copyOf, getBuiltinModule } from './intrinsics.ts';

const { Script, createContext } = getBuiltinModule('node:vm');
const { runInContext } = Script.prototype;
/** Loaded at every start by Node itself; the others are loaded when they are asked for. */
const early = { __proto__: null } as unknown as Record<string, object | undefined>;
for (const name of ['node:fs', 'node:path', 'node:util'] as const)
  early[name] = copyOf(getBuiltinModule(name));

/** Classes of the main realm, whose objects are to be instances of the own realm's class of that name as well. */
const foreignErrors = { SyntaxError, TypeError, RangeError };
const brands: Record<string, (value: unknown) => boolean> = {
  ArrayBuffer: types.isArrayBuffer,
  Boolean: types.isBooleanObject,
  Date: types.isDate,
  Map: types.isMap,
  Number: types.isNumberObject,
  Promise: types.isPromise,
  RegExp: types.isRegExp,
  Set: types.isSet,
  String: types.isStringObject,
  Uint8Array: types.isUint8Array,
};
const hostErrors = { Error, isNativeError: types.isNativeError };
/**
 * Reading a property's descriptor runs Node's own lazy accessors (DOMException on the global object), and those abort the
 * process in any context that is not Node's: so these are the main realm's functions, which run in it.
 */
const hostReflection = {
  Object: {
    getOwnPropertyDescriptor: Object.getOwnPropertyDescriptor,
    getOwnPropertyDescriptors: Object.getOwnPropertyDescriptors,
  },
  Reflect: { getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor, get: Reflect.get },
};

/** Runs in the own realm: `instanceof` there knows the main realm's objects, too. */
const knowForeignObjects = `(function (brands, foreignErrors, host, reflection) {
  const ordinary = Function.prototype[Symbol.hasInstance];
  const know = (name, isOne) => {
    const own = globalThis[name];
    Object.defineProperty(own, Symbol.hasInstance, {
      value(value) { return this === own ? isOne(value) || ordinary.call(own, value) : ordinary.call(this, value); },
    });
  };
  for (const name of Object.keys(reflection)) Object.assign(globalThis[name], reflection[name]);
  for (const name of Object.keys(brands)) know(name, brands[name]);
  for (const name of Object.keys(foreignErrors)) know(name, (value) => value instanceof foreignErrors[name]);
  know('Error', (value) => host.isNativeError(value) || value instanceof host.Error);
})`;

/**
 * Runs in the own realm: what the language has there, by name. `undefined` is no lookup to V8, and nothing may be called
 * `eval`; `globalThis` is the main realm's to the code.
 */
const listIntrinsics = `Object.fromEntries(Object.getOwnPropertyNames(globalThis)
  .filter((name) => !['undefined', 'eval', 'globalThis'].includes(name)).map((name) => [name, globalThis[name]]))`;

let realm: object | undefined;
let intrinsics: Record<string, unknown>;

/**
 * What the text, an expression, evaluates to in the own realm, which is made at its first use. The names of the language
 * are bound around it: a global of such a context is asked for through Node's interceptor at each access, in C++ and
 * without any cache, so that a loop with `Math.imul` ran six times as long.
 */
export function runInOwnRealm(text: string, filename: string): unknown {
  if (!realm) {
    const made = createContext({ __proto__: null } as object);
    const teach = evaluate(knowForeignObjects, 'agentdump:realm', made) as (...given: unknown[]) => void;
    teach(brands, foreignErrors, hostErrors, hostReflection);
    intrinsics = evaluate(listIntrinsics, 'agentdump:realm', made) as Record<string, unknown>;
    realm = made;
  }
  const names = Object.keys(intrinsics).join(',');
  const bind = evaluate(`(function(${names}){return ${text}\n})`, filename, realm) as (
    ...values: unknown[]
  ) => unknown;
  return bind(...Object.values(intrinsics));
}

function evaluate(text: string, filename: string, context: object): unknown {
  return Reflect.apply(runInContext, new Script(text, { filename }), [context]);
}

/** `require` of our own code in any realm: Node's modules only. */
export function requireBuiltin(name: string): object {
  return early[name] ?? (getBuiltinModule(name as 'node:fs') as object);
}

/**
 * `process` as the own realm has it: its data as they are, its functions as they were when the preload was loaded. What is
 * defined on it does not reach the program.
 */
export const ownProcess = Object.create(process) as NodeJS.Process;
for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(process)))
  if (typeof value === 'function')
    Object.defineProperty(ownProcess, name, { value: bindToProcess(value), writable: true });

function bindToProcess(method: (...args: unknown[]) => unknown): unknown {
  const bound = (...args: unknown[]): unknown => Reflect.apply(method, process, args);
  // process.memoryUsage.rss, process.hrtime.bigint
  return Object.assign(bound, method);
}
