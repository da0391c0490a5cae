/** What a runner's hook gets. A hook adds nothing that tests can see, and is silent where the runner has another shape. */
import type { TestPort } from '../../agent/api/test-port.ts';

export interface Scene {
  /** Real path of the main script; of a worker thread, of the worker's. */
  script: string;
  environment: Readonly<Record<string, string | undefined>>;
  isMainThread: boolean;
  importModule(url: string): Promise<Record<string, unknown>>;
}

export interface Runner {
  name: string;
  /** Whether this thread runs tests of this runner, or may come to. */
  matches(scene: Scene): boolean;
  /** May throw and reject: then the runner is known by name only. */
  hook(tests: TestPort, scene: Scene): void | Promise<void>;
}

/** The package's folder that the script is in: the last `node_modules/<name>`. */
export function packageFolder(script: string, name: string): string | undefined {
  const at = script.lastIndexOf(`/node_modules/${name}/`);
  return at < 0 ? undefined : script.slice(0, at + `/node_modules/${name}`.length);
}

/** The runner's own instance of one of its modules, whichever kind it is. */
export function importFile({ importModule }: Scene, path: string): Promise<Record<string, unknown>> {
  return importModule(process.getBuiltinModule('node:url').pathToFileURL(path).href);
}

/**
 * The same, whole when this returns: a script that requires a module (mocha's worker does) fails where an import of it is
 * under way. Throws where this Node requires no ES modules.
 */
export function requireFile(path: string): Record<string, unknown> {
  // From there, because Node warns of an ES module that is required from outside of node_modules.
  return process.getBuiltinModule('node:module').createRequire(path)(path);
}

// biome-ignore lint/suspicious/noExplicitAny: methods of classes that are not ours
export type Method = (this: any, ...args: any[]) => any;

/** Puts a method in the place of one of a class; the other is handed over. Throws when the class has none. */
export function wrapMethod(owner: unknown, name: string, wrap: (original: Method) => Method): void {
  const prototype = (owner as { prototype?: Record<string, unknown> } | undefined)?.prototype;
  const original = prototype?.[name];
  if (!prototype || typeof original !== 'function') throw new TypeError(`there is no method ${name}`);
  const wrapped = wrap(original as Method);
  Object.defineProperty(wrapped, 'name', { value: name });
  Object.defineProperty(prototype, name, { value: wrapped, configurable: true, writable: true });
}
