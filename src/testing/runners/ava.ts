/** AVA's workers, threads and processes: its Runner runs hooks and tests one at a time through `runSingle`. */
import { callWithoutFrame, importFile, packageFolder, type Runner, wrapMethod } from './runner.ts';

interface AvaRunnable {
  title: string;
  isHook?: boolean;
}

interface AvaResult {
  passed: boolean;
  error?: unknown;
}

export const ava: Runner = {
  name: 'ava',
  matches: ({ script }) => packageFolder(script, 'ava') !== undefined,
  async hook(tests, scene) {
    const { script } = scene;
    tests.runnerIs('ava');
    if (!script.includes('/lib/worker/')) return;
    const module = await importFile(scene, `${packageFolder(script, 'ava')}/lib/runner.js`);
    wrapMethod(
      module['default'],
      'runSingle',
      (runSingle) =>
        function (this: { file?: string }, runnable: AvaRunnable) {
          const file = plainPath(this.file);
          tests.runnerIs('ava', file);
          const id = tests.begin(
            { file, name: [runnable.title], isHook: runnable.isHook === true },
            runnable,
          );
          const running = tests.causal.storage.run(tests.contextOf(runnable), () =>
            callWithoutFrame(runSingle, this, [runnable]),
          );
          return running.then((value) => {
            const result = value as AvaResult;
            tests.end(id, result.passed ? 'passed' : 'failed', reasonOf(result.error));
            return result;
          });
        },
    );
  },
};

/** AVA wraps what a test throws into an AssertionError. */
function reasonOf(error: unknown): unknown {
  return (error as { cause?: unknown } | undefined)?.cause ?? error;
}

/** Some versions pass a URL. */
function plainPath(file: string | undefined): string | undefined {
  return file?.startsWith('file:') ? process.getBuiltinModule('node:url').fileURLToPath(file) : file;
}
