/**
 * The preload of a test run: register.cjs, compiled with the V8 code cache of an earlier process of the same run, because a
 * runner may start one process per file. The first thread that ends writes the cache to the run's private folder, which is in
 * memory; V8 itself rejects a cache of another version or with other flags. On any failure register.cjs is loaded instead. What is
 * compiled at a death is cached in the same way by the first process that writes a bundle: command lines under test die by the dozen,
 * while a test with a time limit waits for them.
 */
import { readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { testRunVariable } from './bundle/layout/tests.ts';

const preload = `${__dirname}/register.cjs`;
/** Without `node:module`, which takes a millisecond to load. */
const Module = module.constructor as unknown as new (name: string) => NodeJS.Module;

/** See src/capture/install/half-loader.ts. */
interface Carrier {
  readonly text: string;
  readonly code: Buffer | undefined;
  compiled(script: Script): void;
}

type Wrapper = (
  exports: object,
  require: NodeJS.Require,
  module: NodeJS.Module,
  __filename: string,
  __dirname: string,
  keepCode: (() => void) | undefined,
  importModule: (url: string) => Promise<Record<string, unknown>>,
  ...carriers: Carrier[]
) => void;

/**
 * The halves for a death, the recording, the watchdog, and the redactor: they are in the file after the
 * code.
 */
const carried = [
  'AGENTDUMP_COLD_HALF',
  'AGENTDUMP_WATCHDOG_HALF',
  'AGENTDUMP_RECORDING_HALF',
  'AGENTDUMP_REDACTION_HALF',
];

function start(folder: string): void {
  const codeFile = `${folder}/code-${process.version}-${process.arch}`;
  const cachedData = readIfThere(codeFile);
  const file = readFileSync(preload);
  const script = new Script(codeIn(file), { filename: preload, ...(cachedData && { cachedData }) });
  /** By the file that the code goes to. */
  const uncached = new Map(cachedData ? [] : [[codeFile, script]]);
  const keepCode = (): void => {
    for (const [path, compiled] of uncached) {
      // Threads of one process may end at the same time.
      const unfinished = `${path}-${process.pid}-${process.hrtime.bigint()}`;
      try {
        writeFileSync(unfinished, compiled.createCachedData(), { mode: 0o600 });
        renameSync(unfinished, path);
      } catch (error) {
        // On a file system that is full, what each process of the run left would be the memory that the next one lacks.
        unlinkSync(unfinished);
        throw error;
      }
    }
  };
  const loaded = new Module(preload);
  loaded.filename = preload;
  require.cache[preload] = loaded;
  const wrapper = script.runInThisContext() as Wrapper;
  // Code that was compiled from a text may not import without a warning.
  const importModule = (url: string): Promise<Record<string, unknown>> => import(url);
  const carriers = carried.map((name) => {
    const path = `${codeFile}-${name.slice('AGENTDUMP_'.length).toLowerCase()}`;
    return carrierIn(file, name, path, uncached);
  });
  wrapper(loaded.exports, require, loaded, preload, __dirname, keepCode, importModule, ...carriers);
  loaded.loaded = true;
}

/** The half for tests is embedded in a comment: it is turned into code here, so that it is cached with the rest. */
function codeIn(file: Buffer): string {
  const start = file.indexOf('/*TESTING', file.indexOf('function AGENTDUMP_TESTING_HALF('));
  const end = file.indexOf('TESTING*/', start);
  const code = `${file.toString('latin1', 0, start)}${file.toString('latin1', start + 9, end)}}`;
  return `(function(exports,require,module,__filename,__dirname,AGENTDUMP_KEEP_CODE,AGENTDUMP_IMPORT,${carried}){${code}\n})`;
}

/** Kept as bytes, so that V8 neither creates a string for nor scans three quarters of the file. */
function carrierIn(file: Buffer, name: string, path: string, uncached: Map<string, Script>): Carrier {
  return {
    get code() {
      return readIfThere(path);
    },
    compiled(script) {
      if (script.cachedDataRejected === undefined) uncached.set(path, script);
    },
    get text() {
      const start = file.indexOf('/*', file.indexOf(`function ${name}(){`));
      return file.toString('latin1', start + 2, file.indexOf('*/', start));
    },
  };
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
if (!require.cache[preload]) require(preload);
