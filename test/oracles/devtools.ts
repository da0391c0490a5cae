/**
 * Loads a heap snapshot with Chrome DevTools' own code, bundled from its published sources, on one thread, as its own tests
 * do. Also computes what DevTools computes after loading.
 */
import { createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { build, type Plugin } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const sources = join(here, 'node_modules', 'chrome-devtools-frontend', 'front_end');
const worker = './entrypoints/heap_snapshot_worker';

/** False if `npm ci --prefix test/oracles` was not run. */
export const isInstalled = existsSync(sources);

/** The part of JSHeapSnapshot that the tests use. Indexes are offsets into the flat node array. */
export interface DevToolsSnapshot {
  nodeFieldCount: number;
  nodeCount: number;
  dominatorsTree: Uint32Array;
  retainedSizes: Float64Array;
  nodeDistances: Int32Array;
  totalSize: number;
  createNode(index: number): {
    selfSize(): number;
    className(): string;
    name(): string;
    id(): number;
    detachedness(): number;
  };
  getStatistics(): Record<string, unknown>;
  aggregatesWithFilter(filter: object): Record<string, DevToolsAggregate>;
}

export interface DevToolsAggregate {
  count: number;
  distance: number;
  self: number;
  maxRet: number;
  name: string;
}

interface Loader {
  write(chunk: string): void;
  close(): void;
  buildSnapshot(port: MessagePort): Promise<DevToolsSnapshot>;
}

interface DevToolsModule {
  HeapSnapshot: { SecondaryInitManager: new (port: MessagePort) => unknown };
  HeapSnapshotLoader: { HeapSnapshotLoader: new (dispatcher: object) => Loader };
}

/** The list of languages is generated in DevTools' own build and not published; no text is displayed here. */
const noLocales: Plugin = {
  name: 'no-locales',
  setup(builder) {
    builder.onResolve({ filter: /locales\.js$/ }, () => ({ path: 'locales', namespace: 'stub' }));
    builder.onLoad({ filter: /.*/, namespace: 'stub' }, () => ({
      contents:
        "export const BUNDLED_LOCALES = ['en-US'], DEFAULT_LOCALE = 'en-US', LOCAL_FETCH_PATTERN = '', " +
        "REMOTE_FETCH_PATTERN = '', LOCALES = ['en-US'];",
    }));
  },
};

let bundled: Promise<string> | undefined;

/** The path of the bundle, which both threads load. */
function bundle(): Promise<string> {
  bundled ??= writeBundle();
  return bundled;
}

/** Separate, so that a measurement does not include the time of bundling. */
export async function devTools(): Promise<DevToolsModule> {
  const module = await bundle();
  polyfill();
  return import(module);
}

async function writeBundle(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-oracles-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  const outfile = join(folder, 'devtools.mjs');
  await build({
    stdin: {
      contents:
        `export * as HeapSnapshot from '${worker}/HeapSnapshot.ts';\n` +
        `export * as HeapSnapshotLoader from '${worker}/HeapSnapshotLoader.ts';\n`,
      resolveDir: sources,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    plugins: [noLocales],
  });
  return pathToFileURL(outfile).href;
}

function secondHalfHere(Manager: DevToolsModule['HeapSnapshot']['SecondaryInitManager']) {
  const { port1, port2 } = new MessageChannel();
  new Manager(port2);
  const stop = (): void => {
    port1.close();
    port2.close();
  };
  return { port: port1, stop };
}

/** What browsers have and Node 20 lacks. */
function polyfill(): void {
  const globals = globalThis as Record<string, unknown>;
  globals['self'] ??= globalThis;
  const promise = Promise as unknown as Record<string, unknown>;
  promise['withResolvers'] ??= () => {
    const settle: Record<string, unknown> = {};
    const made = new Promise((resolve, reject) => Object.assign(settle, { resolve, reject }));
    return { promise: made, ...settle };
  };
}

/** Runs DevTools' second half on its own thread, as Chrome does, until `stop`. */
async function startSecondThread(): Promise<{ port: MessagePort; stop(): void }> {
  const { port1, port2 } = new MessageChannel();
  const module = await bundle();
  const code = `${polyfill}; polyfill();
    const { workerData } = require('node:worker_threads');
    import(workerData.module).then(({ HeapSnapshot }) => new HeapSnapshot.SecondaryInitManager(workerData.port));`;
  const worker = new Worker(code, {
    eval: true,
    workerData: { module, port: port2 },
    transferList: [port2],
  });
  const stop = (): void => {
    void worker.terminate();
  };
  return { port: port1, stop };
}

/** A snapshot with everything that DevTools shows after loading a file; with two threads, as in Chrome. */
export async function loadWithDevTools(path: string, threads: 1 | 2 = 1): Promise<DevToolsSnapshot> {
  const { HeapSnapshot, HeapSnapshotLoader } = await devTools();
  const loader = new HeapSnapshotLoader.HeapSnapshotLoader({ sendEvent: () => {} });
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, encoding: 'utf8' }))
    loader.write(chunk);
  loader.close();
  const second =
    threads === 2 ? await startSecondThread() : secondHalfHere(HeapSnapshot.SecondaryInitManager);
  const warn = console.warn;
  console.warn = () => {};
  try {
    return await loader.buildSnapshot(second.port);
  } finally {
    console.warn = warn;
    second.stop();
  }
}
