/**
 * A V8 context of our own, in which the code that runs at a death is compiled: its arrays, maps, strings, promises and errors
 * use intrinsics that the program never had access to, so nothing that it replaced or froze affects them. Node's modules and
 * globals come from the main realm, as they were when the preload was loaded. Measured: 1 ms at the death, on Node 20 to 26,
 * nothing at the start.
 */
import { EventEmitter } from 'node:events';
import { types } from 'node:util';
import { copyOf, descriptorOf, getBuiltinModule, isArray, putBack } from './intrinsics.ts';
import { nativeFunctionsOfFs } from './native-files.ts';
import { putAllBack, type Replaced, restore } from './originals.ts';

const { Script, createContext } = getBuiltinModule('node:vm');
const { runInContext } = Script.prototype;
const { isExtensible, ownKeys } = Reflect;
/** Loaded at every start, by Node itself or by us; the others are loaded on demand, and may call these. */
const early = { __proto__: null } as unknown as Record<string, object | undefined>;
/**
 * Functions that our code does not use, and for which Node loads modules when they are first looked at: 40 in all on Node 22 and
 * later. One of those asks for `process.stderr`, which opens a handle and makes a pipe non-blocking for all who share it.
 */
const onDemand = {
  __proto__: null,
  ...{ diff: true, parseArgs: true, setTraceSigInt: true },
  ...{ Dir: true, opendir: true, opendirSync: true },
};
for (const name of ['fs', 'path', 'util', 'events', 'buffer', 'url', 'vm', 'async_hooks'] as const)
  early[`node:${name}`] = copyOf(getBuiltinModule(`node:${name}`), onDemand);

/**
 * Holders of the language's functions, of an emitter's, and of those that `node:fs` calls, in the main realm, and those functions
 * as they are at the start. What runs there at a death (Node's own JavaScript, arrays and buffers that come from it) calls them.
 */
const holders = [
  ...[
    Array,
    Array.prototype,
    Object.getPrototypeOf([].values()),
    Buffer,
    Buffer.prototype,
    Date,
    Date.prototype,
  ],
  ...[
    EventEmitter.prototype,
    Function.prototype,
    JSON,
    Map.prototype,
    Number,
    Number.prototype,
    Object.prototype,
    Promise,
  ],
  ...[Promise.prototype, RegExp.prototype, Set.prototype, String, String.prototype, Uint8Array.prototype],
  ...[Object.getPrototypeOf(Uint8Array.prototype), WeakMap.prototype, WeakRef.prototype, WeakSet.prototype],
  ...nativeFunctionsOfFs,
] as Record<PropertyKey, unknown>[];
const functionsAtStart = holders.map((holder) => Object.getOwnPropertyDescriptors(holder));

/** Classes of the main realm whose objects must also be instances of the own realm's class of the same name. */
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
 * Reading a property's descriptor runs Node's own lazy accessors (DOMException on the global object), which abort the process
 * in any context other than Node's: so the main realm's functions are used, which run in the main realm.
 */
const hostReflection = {
  Object: {
    getOwnPropertyDescriptor: Object.getOwnPropertyDescriptor,
    getOwnPropertyDescriptors: Object.getOwnPropertyDescriptors,
  },
  Reflect: { getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor, get: Reflect.get },
};

const objectPrototype = Object.prototype;
const fields = ['get', 'set', 'value', 'writable', 'enumerable', 'configurable'] as const;

/**
 * The descriptors that those functions return inherit from the main realm's Object.prototype. They are only made to inherit
 * nothing if the program has put a field of descriptors on it, because a walk over the heap reads too many of them to do so
 * always.
 */
function reflectionOfHost(): typeof hostReflection {
  const { hasOwn, setPrototypeOf } = Object;
  let isPlain = true;
  if (isRelieved) isPlain = false;
  for (let at = 0; at < fields.length; at++)
    if (hasOwn(objectPrototype, fields[at] as string)) isPlain = false;
  if (isPlain) return hostReflection;
  const getOwnPropertyDescriptor = descriptorOf as typeof Object.getOwnPropertyDescriptor;
  const getOwnPropertyDescriptors = ((holder: object) => {
    const all = hostReflection.Object.getOwnPropertyDescriptors(holder);
    const names = Reflect.ownKeys(all);
    for (let at = 0; at < names.length; at++) setPrototypeOf(all[names[at] as string], null);
    return all;
  }) as typeof Object.getOwnPropertyDescriptors;
  return {
    Object: { getOwnPropertyDescriptor, getOwnPropertyDescriptors },
    Reflect: { getOwnPropertyDescriptor: descriptorOf, get: Reflect.get },
  };
}

/** Runs in the own realm: makes `instanceof` there recognize the main realm's objects, too. */
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
 * Runs in the own realm: its globals, by name. Without `undefined`, which V8 never looks up, and `eval`, which is not allowed
 * as a name; `globalThis` is the main realm's in the compiled code.
 */
const listIntrinsics = `Object.fromEntries(Object.getOwnPropertyNames(globalThis)
  .filter((name) => !['undefined', 'eval', 'globalThis'].includes(name)).map((name) => [name, globalThis[name]]))`;

/** V8's code cache of one script: `code` of an earlier process; `compiled` may keep the script's for the next one. */
export interface CodeCache {
  readonly code: Buffer | undefined;
  compiled(script: InstanceType<typeof Script>): void;
}

let realm: object | undefined;
let intrinsics: Record<string, unknown>;

/**
 * Evaluates an expression in the own realm, which is created on first use. The language's globals are bound as parameters
 * around it: each access to a global of such a context goes through Node's interceptor, in C++ and without any cache, so that
 * a loop with `Math.imul` took six times as long.
 */
export function runInOwnRealm(text: string, filename: string, cache?: CodeCache): unknown {
  if (!realm) {
    const made = createContext({ __proto__: null } as object);
    const teach = evaluate(knowForeignObjects, 'agentdump:realm', made) as (...given: unknown[]) => void;
    teach(brands, foreignErrors, hostErrors, reflectionOfHost());
    intrinsics = evaluate(listIntrinsics, 'agentdump:realm', made) as Record<string, unknown>;
    realm = made;
  }
  const names = Object.keys(intrinsics).join(',');
  const bind = evaluate(`(function(${names}){return ${text}\n})`, filename, realm, cache) as () => unknown;
  // Spreading would use the program's Array.prototype.
  return Reflect.apply(bind, undefined, Object.values(intrinsics));
}

function evaluate(text: string, filename: string, context: object, cache?: CodeCache): unknown {
  const cachedData = cache?.code;
  const script = new Script(text, { filename, ...(cachedData && { cachedData }) });
  cache?.compiled(script);
  return Reflect.apply(runInContext, script, [context]);
}

/** `require` for our own code in any realm: Node's modules only. */
export function requireBuiltin(name: string): object {
  return early[name] ?? (getBuiltinModule(name as 'node:fs') as object);
}

let isInOwnWorld = false;
const builtinAtStart = descriptorOf(process, 'getBuiltinModule');
/** Some of these names are away from Object.prototype for as long as our work takes. */
let isRelieved = false;
/** Of descriptors and of options of what we call. Others stay: a formatter of stacks may use them, and Node prints its text later. */
const optionNames = [...fields, 'encoding', 'mode', 'flag', 'flags', 'flush', 'recursive'];

/**
 * What every object inherits would be a field of our options and descriptors, and of Node's: an inherited `get` or `encoding`
 * fails a call or changes what it does. Nothing is taken away that could not be put back.
 */
function relieve(): Replaced | undefined {
  let last: Replaced | undefined;
  for (let at = 0; at < optionNames.length; at++) {
    const name = optionNames[at] as string;
    const by = descriptorOf(objectPrototype, name);
    if (!by?.configurable || !isExtensible(objectPrototype)) continue;
    putBack(objectPrototype, name, undefined);
    isRelieved = true;
    last = { holder: objectPrototype, name, by, before: last };
  }
  return last;
}

/**
 * Runs `work` with the functions of Node's early modules, and those of the language, as they were when the preload was loaded:
 * `writeFileSync` calls `fs.openSync`, and modules that Node loads later take from them what is there at that time. What the
 * program has put on Object.prototype under the name of an option is away meanwhile. The work is synchronous, so the program does
 * not observe it. What the program has frozen stays.
 */
export function withOwnWorld<Result>(work: () => Result): Result {
  if (isInOwnWorld) return work();
  let last: Replaced | undefined;
  isInOwnWorld = true;
  try {
    last = relieve();
    for (let at = 0; at < holders.length; at++) {
      const own = functionsAtStart[at] as Record<PropertyKey, PropertyDescriptor>;
      last = restore(holders[at] as object, (name) => own[name as string], ownKeys(own), last);
    }
    last = restore(process, () => builtinAtStart, ['getBuiltinModule'], last);
    for (const id in early) {
      const copy = early[id] as object;
      const module = getBuiltinModule(id as 'node:fs');
      last = restore(module, (name) => descriptorOf(copy, name), ownKeys(copy), last);
    }
    return work();
  } finally {
    putAllBack(last);
    isInOwnWorld = false;
    isRelieved = false;
  }
}

/**
 * `process` for the own realm: its data are current, its functions as they were when the preload was loaded. Properties that
 * are defined on it don't affect the program.
 */
export const ownProcess = Object.create(process) as NodeJS.Process;
for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(process)))
  if (typeof value === 'function')
    Object.defineProperty(ownProcess, name, { value: bindToProcess(value), writable: true });

const atLoad = { argv: process.argv, execArgv: process.execArgv, env: process.env };

/** The program's current value if it has the right type and reading it does not throw; else the one at the start. */
function readData<Name extends keyof typeof atLoad>(name: Name): (typeof atLoad)[Name] {
  try {
    const now = process[name];
    if (name !== 'env') return isArray(now) ? now : atLoad[name];
    return now === atLoad.env ? now : ({ ...now } as (typeof atLoad)[Name]);
  } catch {
    return atLoad[name];
  }
}

/** What a program may change or replace, to test how it behaves elsewhere, is as it was at the start. */
for (const name of ['arch', 'pid', 'platform', 'version', 'versions'] as const)
  Object.defineProperty(ownProcess, name, { value: process[name] });
for (const name of ['argv', 'execArgv', 'env'] as const)
  Object.defineProperty(ownProcess, name, { get: () => readData(name) });
Object.defineProperty(ownProcess, 'getBuiltinModule', { value: requireBuiltin });

function bindToProcess(method: (...args: unknown[]) => unknown): unknown {
  const bound = (...args: unknown[]): unknown => Reflect.apply(method, process, args);
  // process.memoryUsage.rss, process.hrtime.bigint
  return Object.assign(bound, method);
}
