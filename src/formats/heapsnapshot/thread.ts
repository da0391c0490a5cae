/**
 * Starts a module of ours on a second thread, compiled (dist/*.js) or from source (*.ts, as the tests run it; Node 20
 * gives a worker no loader for that, so the worker brings its own).
 */
import { Worker } from 'node:worker_threads';

const fromSource =
  "import('tsx/esm/api').then((tsx) => { tsx.register(); return import(require('node:worker_threads').workerData.module); })";

/** @param module as `new URL('./name.js', import.meta.url)`; the ending is set right here. */
export function startThread(module: URL, data: Record<string, unknown>): Worker {
  const isSource = import.meta.url.endsWith('.ts');
  const url = isSource ? module.href.replace(/\.js$/, '.ts') : module.href;
  const workerData = { ...data, module: url };
  const worker = isSource
    ? new Worker(fromSource, { eval: true, workerData })
    : new Worker(module, { workerData });
  // Whoever started it looks at shared memory or messages; its end must not keep the process, nor end it.
  worker.unref();
  return worker;
}
