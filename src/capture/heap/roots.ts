/**
 * The roots of the walk over the heap: the thrown value, what the program handed over, its globals, what it waits for, and
 * its CommonJS modules, its own before those of packages. ES modules are reached through the functions that they passed on.
 */
import type { Module } from 'node:module';
import { basename } from 'node:path';
import { findHost } from '../../agent/api/context.ts';
import { isInstalled } from '../../platform/paths.ts';

export interface HeapRoot {
  value: unknown;
  /** A description for people. */
  at: string;
}

type Internals = { _getActiveHandles?(): unknown[] };
type Modules = { _cache?: Record<string, Module> };

export function* heapRoots(thrown: unknown, ownFile: string): Generator<HeapRoot> {
  yield { value: thrown, at: 'the thrown value' };
  const host = findHost();
  if (host) for (const [name, value] of host.state) yield { value, at: `agent state ${name}` };
  // By name, because reading a descriptor loads modules that Node loads lazily (undici, 50 ms).
  for (const name of Object.keys(globalThis))
    if (!builtIn.has(name))
      yield { value: Object.getOwnPropertyDescriptor(globalThis, name)?.value, at: `globalThis.${name}` };
  yield { value: currentResource(), at: 'what was running' };
  yield { value: (process as Internals)._getActiveHandles?.(), at: 'open handles' };
  const cache = (process.getBuiltinModule('node:module') as unknown as Modules)._cache ?? {};
  const modules = Object.entries(cache).filter(([path]) => path !== ownFile);
  for (const isPackage of [false, true])
    for (const [path, module] of modules)
      if (isInstalled(path) === isPackage)
        yield { value: Object.getOwnPropertyDescriptor(module, 'exports')?.value, at: basename(path) };
}

/** Enumerable globals of a bare Node, which lead into Node's own modules. */
const builtIn = new Set([
  'atob',
  'btoa',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'crypto',
  'fetch',
  'global',
  'localStorage',
  'navigator',
  'performance',
  'queueMicrotask',
  'sessionStorage',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'structuredClone',
]);

/** The resource of a timer or a callback, through which the variables of the callback are reached. */
function currentResource(): unknown {
  return process.getBuiltinModule('node:async_hooks').executionAsyncResource();
}
