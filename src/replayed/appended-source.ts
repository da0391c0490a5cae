/**
 * Appends a line to modules while they are loaded, to run in the module's own scope, for classes that can't be reached in any
 * other way. CommonJS modules through `_compile` of the loader on every Node version; ES modules through `registerHooks`, or
 * if that is missing (Node 20), through hooks in a separate thread. Source: Node's documentation of `node:module`.
 */
import module from 'node:module';

type Compile = (this: unknown, content: string, filename: string, ...rest: unknown[]) => unknown;
interface Loaded {
  format?: string | null;
  source?: unknown;
}
type Load = (url: string, context: unknown) => Loaded;
interface HookingModule {
  prototype: { _compile: Compile };
  registerHooks?(hooks: { load(url: string, context: unknown, next: Load): Loaded }): void;
  register(specifier: string): void;
}

/** `line` may run twice for one module. */
export function appendToModules(meant: RegExp, line: string): void {
  const loader = module as unknown as HookingModule;
  const compile = loader.prototype._compile;
  loader.prototype._compile = function (content, filename, ...rest) {
    return compile.call(this, meant.test(filename) ? `${content}\n${line}\n` : content, filename, ...rest);
  };
  if (loader.registerHooks) loader.registerHooks({ load: (...words) => append(meant, line, ...words) });
  else loader.register(`data:text/javascript,${encodeURIComponent(hooksInThread(meant, line))}`);
}

function append(meant: RegExp, line: string, url: string, context: unknown, next: Load): Loaded {
  const loaded = next(url, context);
  if (loaded.format !== 'module' || !meant.test(url)) return loaded;
  return { ...loaded, source: `${textOf(loaded.source)}\n${line}\n` };
}

const textOf = (source: unknown) =>
  typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString('utf8');

const hooksInThread = (meant: RegExp, line: string) => `
  export async function load(url, context, next) {
    const loaded = await next(url, context);
    if (loaded.format !== 'module' || !${meant}.test(url)) return loaded;
    return { ...loaded, source: Buffer.from(loaded.source).toString('utf8') + ${JSON.stringify(`\n${line}\n`)} };
  }`;
