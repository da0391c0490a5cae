/** Mocha, serial and parallel: the events of its Runner, which are the interface for reporters. */
import type { TestPort } from '../../agent/api/test-port.ts';
import { importFile, packageFolder, type Runner, requireFile, type Scene, wrapMethod } from './runner.ts';

interface MochaRunnable {
  type: 'test' | 'hook';
  title: string;
  file?: string;
  parent?: { file?: string };
  ctx?: { currentTest?: MochaRunnable };
  titlePath(): string[];
}

interface MochaRunner {
  on(event: string, listener: (runnable: MochaRunnable, error?: unknown) => void): void;
}

export const mocha: Runner = {
  name: 'mocha',
  matches: ({ script, environment }) =>
    packageFolder(script, 'mocha') !== undefined || environment['MOCHA_WORKER_ID'] !== undefined,
  hook(tests, scene) {
    const { script } = scene;
    tests.runnerIs('mocha');
    const { createRequire } = process.getBuiltinModule('node:module');
    const folder =
      packageFolder(script, 'mocha') ??
      createRequire(`${process.cwd()}/x`).resolve('mocha/package.json').replace('/package.json', '');
    return hookRunner(tests, scene, `${folder}/lib/runner.js`);
  },
};

function hookRunner(tests: TestPort, scene: Scene, path: string): void | Promise<void> {
  const wrapRun = (module: Record<string, unknown>): void =>
    wrapMethod(
      module['Runner'] ?? module['default'] ?? module,
      'run',
      (run) =>
        function (this: MochaRunner, ...args) {
          listen(this, tests);
          return Reflect.apply(run, this, args);
        },
    );
  const required = requireIfPossible(path);
  return required ? wrapRun(required) : importFile(scene, path).then(wrapRun);
}

function requireIfPossible(path: string): Record<string, unknown> | undefined {
  try {
    return requireFile(path);
  } catch {
    return undefined;
  }
}

const isAroundAll = ({ type, title }: MochaRunnable): boolean =>
  type === 'hook' && /^"(?:before|after) all" hook/.test(title);

/** Hooks are also reported as running, because they can hang or crash as well. */
function listen(runner: MochaRunner, tests: TestPort): void {
  const begin = (runnable: MochaRunnable): void => {
    const file = runnable.file ?? runnable.ctx?.currentTest?.file ?? runnable.parent?.file;
    tests.begin({ file, name: runnable.titlePath(), isHook: runnable.type === 'hook' }, runnable);
    // A hook that runs around one test belongs to that test. For a hook around all tests, mocha's current test is the first
    // or the last one, and is ignored.
    const own = isAroundAll(runnable) ? undefined : runnable.ctx?.currentTest;
    if (own && runnable.type === 'hook') tests.enter(own, 'hook');
    else tests.enter(own ?? runnable);
  };
  runner.on('test', begin);
  runner.on('hook', begin);
  const failed = new WeakSet<MochaRunnable>();
  runner.on('fail', (runnable, error) => {
    // `done()` called again, an error after the end: mocha fails a test that has passed.
    if (!failed.has(runnable)) tests.failedLater(runnable, error);
    failed.add(runnable);
    tests.end(runnable, 'failed', error);
  });
  const endOf =
    (status: 'passed' | 'skipped') =>
    (runnable: MochaRunnable): void =>
      tests.end(runnable, status, undefined, true);
  runner.on('pass', endOf('passed'));
  for (const event of ['pending', 'retry', 'test end', 'hook end']) runner.on(event, endOf('skipped'));
  // The last hooks of a suite have run.
  for (const event of ['suite end', 'end'])
    runner.on(event, () => {
      tests.settle();
      tests.enter(undefined);
    });
}
