/**
 * The preload of a test run: register.cjs, compiled with what V8 kept of it in an earlier process of the same run, because
 * a runner may start a process a file. The first thread that ends leaves that in the run's private folder, which lies in
 * memory; V8 itself refuses what another version or other flags have left. Whatever fails here, register.cjs is loaded.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { testRunVariable } from './bundle/layout-tests.ts';

const preload = join(__dirname, 'register.cjs');
/** Without `node:module`, which takes a millisecond to load. */
const Module = module.constructor as unknown as new (name: string) => NodeJS.Module;

type Wrapper = (
  exports: object,
  require: NodeJS.Require,
  module: NodeJS.Module,
  __filename: string,
  __dirname: string,
  keepCode: (() => void) | undefined,
  importModule: (url: string) => Promise<Record<string, unknown>>,
) => void;

function start(folder: string): void {
  const codeFile = join(folder, `code-${process.version}-${process.arch}`);
  const cachedData = readIfThere(codeFile);
  const script = new Script(readPreload(), {
    filename: preload,
    ...(cachedData && { cachedData }),
  });
  const keepCode = (): void => {
    const unfinished = `${codeFile}-${process.pid}`;
    writeFileSync(unfinished, script.createCachedData(), { mode: 0o600 });
    renameSync(unfinished, codeFile);
  };
  const loaded = new Module(preload);
  loaded.filename = preload;
  require.cache[preload] = loaded;
  const wrapper = script.runInThisContext() as Wrapper;
  // Code that was compiled from a text may not import without a warning.
  const importModule = (url: string): Promise<Record<string, unknown>> => import(url);
  const kept = cachedData ? undefined : keepCode;
  wrapper(loaded.exports, require, loaded, preload, __dirname, kept, importModule);
  loaded.loaded = true;
}

/** The half that knows of tests is carried in a comment: here it is code, so that it is kept with the rest. */
function readPreload(): string {
  const text = readFileSync(preload, 'latin1');
  const start = text.lastIndexOf('/*TESTING');
  const end = text.lastIndexOf('TESTING*/');
  const parts = [text.slice(0, start), text.slice(start + 9, end), text.slice(end + 9)].join('');
  return `(function(exports,require,module,__filename,__dirname,AGENTDUMP_KEEP_CODE,AGENTDUMP_IMPORT){${parts}\n})`;
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

try {
  const folder = process.env[testRunVariable];
  if (folder) start(folder);
} catch {
  delete require.cache[preload];
}
require(preload);
