/**
 * What a program may replace: globals, and methods of prototypes and of Node's modules. Whether Node itself needs one of them
 * to die, so that a program without the preload ends differently, is determined by the test, which runs each without it
 * first.
 */
export const replaceable: readonly string[] = [
  ...['Array', 'Buffer', 'Date', 'Error', 'Function', 'JSON', 'Map', 'Math', 'Number', 'Object', 'Promise'],
  ...[
    'Proxy',
    'Reflect',
    'RegExp',
    'Set',
    'String',
    'Symbol',
    'Uint8Array',
    'WeakMap',
    'performance',
    'process',
  ],
  ...['queueMicrotask', 'setImmediate', 'setTimeout', 'structuredClone', 'URL', 'TextDecoder'],
  ...['isArray', 'from'].map((name) => `Array.${name}`),
  ...[
    'entries',
    'filter',
    'find',
    'forEach',
    'includes',
    'join',
    'map',
    'pop',
    'push',
    'slice',
    'some',
    'sort',
  ].map((name) => `Array.prototype.${name}`),
  ...['bind', 'call', 'apply', 'toString'].map((name) => `Function.prototype.${name}`),
  ...['assign', 'create', 'defineProperty', 'entries', 'freeze', 'keys', 'fromEntries'].map(
    (name) => `Object.${name}`,
  ),
  ...['hasOwnProperty', 'toString', 'valueOf'].map((name) => `Object.prototype.${name}`),
  ...['apply', 'get', 'has', 'ownKeys', 'defineProperty'].map((name) => `Reflect.${name}`),
  ...['parse', 'stringify'].map((name) => `JSON.${name}`),
  ...['max', 'min', 'floor', 'random', 'round'].map((name) => `Math.${name}`),
  ...['get', 'set', 'has', 'delete', 'forEach'].map((name) => `Map.prototype.${name}`),
  ...['add', 'has', 'delete'].map((name) => `Set.prototype.${name}`),
  ...['get', 'set', 'has'].map((name) => `WeakMap.prototype.${name}`),
  ...['then', 'catch', 'finally'].map((name) => `Promise.prototype.${name}`),
  ...['exec', 'test'].map((name) => `RegExp.prototype.${name}`),
  ...['endsWith', 'includes', 'indexOf', 'match', 'padStart', 'repeat', 'replace', 'slice', 'split'].map(
    (name) => `String.prototype.${name}`,
  ),
  ...['startsWith', 'toLowerCase', 'trim', 'charCodeAt'].map((name) => `String.prototype.${name}`),
  ...['now', 'prototype.getTime', 'prototype.toISOString'].map((name) => `Date.${name}`),
  ...['captureStackTrace', 'prepareStackTrace', 'prototype.toString'].map((name) => `Error.${name}`),
  ...['for'].map((name) => `Symbol.${name}`),
  ...['from', 'alloc', 'concat', 'prototype.toString', 'prototype.write'].map((name) => `Buffer.${name}`),
  ...['set', 'subarray', 'fill'].map((name) => `Uint8Array.prototype.${name}`),
  ...['cwd', 'memoryUsage', 'hrtime', 'cpuUsage', 'uptime', 'getBuiltinModule', 'binding'].map(
    (name) => `process.${name}`,
  ),
  ...['kill', 'exit', 'reallyExit', 'abort', 'resourceUsage', 'getActiveResourcesInfo'].map(
    (name) => `process.${name}`,
  ),
];

export const ways = ['throws', 'exits', 'counts'] as const;

/** More of it, which the preload or Node itself may call while the program works. */
export const replaceableInLife: readonly string[] = [
  ...['at', 'concat', 'every', 'flat', 'flatMap', 'indexOf', 'keys', 'lastIndexOf', 'reduce', 'reverse'].map(
    (name) => `Array.prototype.${name}`,
  ),
  ...['shift', 'splice', 'unshift', 'values'].map((name) => `Array.prototype.${name}`),
  ...['getPrototypeOf', 'getOwnPropertyDescriptor', 'getOwnPropertyNames', 'values', 'is', 'hasOwn'].map(
    (name) => `Object.${name}`,
  ),
  ...['clear', 'keys', 'values', 'entries'].map((name) => `Map.prototype.${name}`),
  ...['Set.prototype.forEach', 'Set.prototype.values', 'WeakMap.prototype.delete'],
  ...['WeakSet.prototype.has', 'WeakSet.prototype.add'],
  ...['charAt', 'codePointAt', 'concat', 'substring', 'toUpperCase', 'trimEnd', 'lastIndexOf', 'padEnd'].map(
    (name) => `String.prototype.${name}`,
  ),
  ...['prototype.toString', 'prototype.toFixed', 'isFinite'].map((name) => `Number.${name}`),
  ...['add', 'store', 'load'].map((name) => `Atomics.${name}`),
  ...['isBuffer', 'byteLength', 'allocUnsafe', 'prototype.slice'].map((name) => `Buffer.${name}`),
  ...['nextTick', 'emitWarning', 'emit', 'on', 'once', 'removeListener'].map((name) => `process.${name}`),
  ...['Atomics', 'AbortController', 'EventTarget', 'TextEncoder', 'BigInt', 'WeakRef', 'SharedArrayBuffer'],
  ...['Int32Array', 'ArrayBuffer', 'parseInt', 'performance.now', 'Uint8Array.prototype.slice'],
];
