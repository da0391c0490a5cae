/**
 * Starts one of our modules on a second thread, compiled (dist/*.js) or from source (*.ts, in tests). Node 20 provides no
 * loader for TypeScript to a worker, so the worker registers its own: that of the test runner, which has compiled everything,
 * or tsx.
 */
import { pathToFileURL } from 'node:url';
import type { ResourceLimits, Worker } from 'node:worker_threads';

const fromSource = `const { module, loader } = require('node:worker_threads').workerData;
import(loader).then(({ register }) => { register?.(); return import(module); });`;

/**
 * @param path of the module, without extension, relative to the src folder rather than to the caller: the build bundles some
 * callers into other files, but not this module.
 */
export function startThread(
  path: string,
  data: Record<string, unknown>,
  resourceLimits: ResourceLimits = {},
): Worker {
  // Most snapshots are too small for a second thread, and loading node:worker_threads takes some milliseconds.
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
  // The caller watches shared memory or messages; the thread must neither keep the process alive nor end it.
  worker.unref();
  return worker;
}

/**
 * The loader must be registered in each thread again; with a query it is a different module than the one that the thread was
 * started with.
 */
function loaderOfSources(): string {
  const ofRunner = process.execArgv.find((word) => word.endsWith('load-typescript.mjs'));
  return ofRunner === undefined ? 'tsx/esm/api' : `${pathToFileURL(ofRunner)}?thread`;
}

/** A preload of the user, in particular our own, must not run in a thread that reads a snapshot. */
function withoutPreloads(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  return environment;
}
