// biome-ignore-all lint/suspicious/noShadowRestrictedNames: that is what it is for
// biome-ignore-all lint/correctness/noUnusedVariables: the code behind it uses them
// biome-ignore-all lint/suspicious/noRedundantUseStrict: it comes first in a script
'use strict';
// The globals by which the preload's code in the main realm calls Node and the language, as they were when it was loaded: the
// build puts this text before the code, so that each of these names is bound here. The program may replace the global later,
// and, of the five namespaces below and `Date`, each function too. Methods of prototypes are not covered: what runs at a death
// does so in a realm of its own (own-realm.ts), and what leads there uses intrinsics.ts.
const copyNamespace = (from) => {
  const copy = { __proto__: null };
  const names = globalThis.Reflect.ownKeys(from);
  for (let at = 0; at < names.length; at++)
    globalThis.Reflect.defineProperty(
      copy,
      names[at],
      globalThis.Reflect.getOwnPropertyDescriptor(from, names[at]),
    );
  return copy;
};
const Math = copyNamespace(globalThis.Math);
const JSON = copyNamespace(globalThis.JSON);
const Atomics = copyNamespace(globalThis.Atomics);
const Object = copyNamespace(globalThis.Object);
const Reflect = copyNamespace(globalThis.Reflect);
const {
  Array,
  ArrayBuffer,
  BigInt,
  BigInt64Array,
  BigUint64Array,
  Boolean,
  Buffer,
  DataView,
  Date,
  Error,
  Float64Array,
  Function,
  Int32Array,
  Map,
  Number,
  Promise,
  Proxy,
  RangeError,
  RegExp,
  Set,
  SharedArrayBuffer,
  String,
  Symbol,
  SyntaxError,
  TypeError,
  Uint16Array,
  Uint32Array,
  Uint8Array,
  WeakMap,
  WeakRef,
  WeakSet,
  clearImmediate,
  clearInterval,
  clearTimeout,
  process,
  queueMicrotask,
  setImmediate,
  setInterval,
  setTimeout,
} = globalThis;
const { getBuiltinModule: builtin, hrtime } = process;
// Of the same clock, without loading node:perf_hooks at the start; for differences only.
const performance = {
  __proto__: null,
  now: () => {
    const time = hrtime();
    return time[0] * 1e3 + time[1] / 1e6;
  },
  get nodeTiming() {
    // Not of the global, which jsdom replaces.
    return builtin('node:perf_hooks').performance.nodeTiming;
  },
};
