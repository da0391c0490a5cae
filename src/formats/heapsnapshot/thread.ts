/**
 * Starts a module of ours on a second thread, compiled (dist/*.js) or from source (*.ts, as the tests run it; Node 20
 * gives a worker no loader for that, so the worker brings its own: that of the test runner, which has compiled everything, or
 * tsx).
 */
import { pathToFileURL } from 'node:url';
import type { ResourceLimits, Worker } from 'node:worker_threads';

const fromSource = `const { module, loader } = require('node:worker_threads').workerData;
import(loader).then(({ register }) => { register?.(); return import(module); });`;

/**
 * @param path of the module below the folder of all rooms, without its ending. Not relative to who asks: the build
 *   puts some of them into another file, this module stays where it is.
 */
export function startThread(
  path: string,
  data: Record<string, unknown>,
  resourceLimits: ResourceLimits = {},
): Worker {
  // Most snapshots are too small for a second thread, and loading it costs some milliseconds.
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const isSource = import.meta.url.endsWith('.ts');
  const module = new URL(`../../${path}.${isSource ? 'ts' : 'js'}`, import.meta.url);
  const workerData = { ...data, module: module.href };
  const worker = isSource
    ? new Worker(fromSource, {
        eval: true,
        workerData: { ...workerData, loader: loaderOfSources() },
        resourceLimits,
      })
    : new Worker(module, { workerData, resourceLimits, execArgv: [], env: withoutPreloads() });
  // Whoever started it looks at shared memory or messages; its end must not keep the process, nor end it.
  worker.unref();
  return worker;
}

/** Once more in each thread: a query makes it another module than the one that the thread was started with. */
function loaderOfSources(): string {
  const ofRunner = process.execArgv.find((word) => word.endsWith('load-typescript.mjs'));
  return ofRunner === undefined ? 'tsx/esm/api' : `${pathToFileURL(ofRunner)}?thread`;
}

/** A preload of the user's, our own above all, has no business in a thread that reads a snapshot. */
function withoutPreloads(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  return environment;
}
