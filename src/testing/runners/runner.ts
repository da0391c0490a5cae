/**
 * The interface of a runner's hook. A hook adds nothing that tests can see, and does nothing if the runner has an unexpected
 * shape.
 */
import type { TestPort } from '../../agent/api/test-port.ts';

export interface Scene {
  /** Real path of the main script; in a worker thread, that of the worker's script. */
  script: string;
  environment: Readonly<Record<string, string | undefined>>;
  isMainThread: boolean;
  importModule(url: string): Promise<Record<string, unknown>>;
}

export interface Runner {
  name: string;
  /** Whether this thread runs tests of this runner, or may do so later. */
  matches(scene: Scene): boolean;
  /** May throw or reject; then only the name of the runner is known. */
  hook(tests: TestPort, scene: Scene): void | Promise<void>;
}

/** The folder of the package that contains the script: the last `node_modules/<name>`. */
export function packageFolder(script: string, name: string): string | undefined {
  const at = script.lastIndexOf(`/node_modules/${name}/`);
  return at < 0 ? undefined : script.slice(0, at + `/node_modules/${name}`.length);
}

/** The runner's own instance of one of its modules, CommonJS or ES. */
export function importFile({ importModule }: Scene, path: string): Promise<Record<string, unknown>> {
  return importModule(process.getBuiltinModule('node:url').pathToFileURL(path).href);
}

/**
 * The same, synchronously: a script that requires a module (as mocha's worker does) fails while an import of it is in
 * progress. Throws if this Node version can't require ES modules.
 */
export function requireFile(path: string): Record<string, unknown> {
  // Required from there, because Node warns about ES modules required from outside of node_modules.
  return process.getBuiltinModule('node:module').createRequire(path)(path);
}

// biome-ignore lint/suspicious/noExplicitAny: methods of classes that are not ours
export type Method = (this: any, ...args: any[]) => any;

/** Replaces a method of a class. The original is passed to `wrap`. Throws if the class has no such method. */
export function wrapMethod(owner: unknown, name: string, wrap: (original: Method) => Method): void {
  const prototype = (owner as { prototype?: Record<string, unknown> } | undefined)?.prototype;
  const original = prototype?.[name];
  if (!prototype || typeof original !== 'function') throw new TypeError(`there is no method ${name}`);
  const wrapped = wrap(original as Method);
  Object.defineProperty(wrapped, 'name', { value: name });
  Object.defineProperty(prototype, name, { value: wrapped, configurable: true, writable: true });
}

/**
 * Calls a method that returns a promise from the queue of microtasks, in the async context of now: the stacks that the runner prints of a
 * failed test have no frame of ours then, which it would not hide as it hides its own.
 */
export function callWithoutFrame(method: Method, self: unknown, args: unknown[]): Promise<unknown> {
  return Promise.resolve().then(method.bind(self, ...args));
}
