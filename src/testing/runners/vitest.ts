/** Vitest's workers, forks and threads: the methods that its test runner calls around each attempt of a test. */
import type { StartedTest, TestPort } from '../../agent/api/test-port.ts';
import { importFile, packageFolder, type Runner, type Scene, wrapMethod } from './runner.ts';

interface VitestTask {
  name: string;
  mode?: string;
  suite?: VitestTask;
  file?: { filepath?: string };
  /** Of a file, which is a suite too. */
  filepath?: string;
  result?: { state?: string; errors?: unknown[]; hooks?: Record<string, string | undefined> };
}

export const vitest: Runner = {
  name: 'vitest',
  matches: ({ script, environment }) =>
    /\/node_modules\/vitest\/(?:dist\/workers|vitest\.mjs|dist\/cli)/.test(script) ||
    (olderPool.test(script) && environment['VITEST'] !== undefined),
  async hook(tests, scene) {
    const { script } = scene;
    tests.runnerIs('vitest');
    if (olderPool.test(script)) return onRunnerMade((runner) => listen(runner, tests));
    const folder = packageFolder(script, 'vitest');
    if (folder === undefined || !script.includes('/dist/workers/')) return;
    listen(await findTestRunner(scene, folder), tests);
  },
};

/** Up to version 3 the workers are those of a separate package. */
const olderPool = /\/node_modules\/tinypool\/dist\/(?:esm\/)?entry\//;

function listen(runner: unknown, tests: TestPort): void {
  // Node 20 and 22 follow only promises that are made after this: the runner's own would share the context of the first test.
  tests.enter(undefined);
  const open = new Set<VitestTask>();
  const end = (task: VitestTask): void => {
    const { state, errors } = task.result ?? {};
    open.delete(task);
    tests.end(task, state === 'fail' ? 'failed' : state === 'pass' ? 'passed' : 'skipped', errors?.[0]);
  };
  /** Those that run. */
  const suites: VitestTask[] = [];
  const endSuite = (suite: VitestTask): void => {
    const at = suites.lastIndexOf(suite);
    if (at >= 0) suites.splice(at, 1);
    const failed = suite.result?.errors?.[0];
    if (failed === undefined) return;
    if (fileOf(suite) !== undefined) tests.runnerIs('vitest', fileOf(suite));
    const hook = runningHook(suite) ?? { file: fileOf(suite), name: suiteNames(suite), isHook: true };
    tests.end(tests.begin(hook), 'failed', failed);
  };
  wrapMethod(
    runner,
    'onBeforeRunTask',
    (before) =>
      function (this: unknown, task: VitestTask, ...rest) {
        endSkipped(open, end);
        if (task.file?.filepath !== undefined) tests.runnerIs('vitest', task.file.filepath);
        tests.begin({ file: task.file?.filepath, name: namesOf(task) }, task);
        open.add(task);
        if (isSettledBefore(task)) end(task);
        return Reflect.apply(before, this, [task, ...rest]);
      },
  );
  wrapMethod(
    runner,
    'onAfterRunTask',
    (after) =>
      function (this: unknown, task: VitestTask, ...rest) {
        end(task);
        return Reflect.apply(after, this, [task, ...rest]);
      },
  );
  wrapMethod(
    runner,
    'onAfterRunSuite',
    (after) =>
      function (this: unknown, ...suite) {
        endSkipped(open, end);
        endSuite(suite[0] as VitestTask);
        return Reflect.apply(after, this, suite);
      },
  );
  wrapMethod(
    runner,
    'onBeforeRunSuite',
    (before) =>
      function (this: unknown, ...suite) {
        const [one] = suite as [VitestTask];
        suites.push(one);
        // It failed while its file was read, and nothing else is called for it.
        if (one.result?.state === 'fail') endSuite(one);
        return Reflect.apply(before, this, suite);
      },
  );
  tests.suiteStarting = () => suites.flatMap((suite) => runningHook(suite) ?? []).at(-1);
  // Called after an await of the test's own flow. A context that is entered before that await would also be that of the suite,
  // which waits for the test and then runs its hooks.
  wrapMethod(
    runner,
    'onBeforeTryTask',
    (before) =>
      function (this: unknown, task: VitestTask, ...rest) {
        tests.enter(task);
        return Reflect.apply(before, this, [task, ...rest]);
      },
  );
}

/** Vitest notes in a suite's result which kind of hook runs; it is left there if the hook fails. */
function runningHook(suite: VitestTask): StartedTest | undefined {
  const kinds = suite.result?.hooks ?? {};
  const kind = ['afterAll', 'beforeAll'].find((one) => kinds[one] === 'run');
  if (kind === undefined) return undefined;
  return { file: fileOf(suite), name: [...suiteNames(suite), `${kind} hook`], isHook: true };
}

const fileOf = ({ file, filepath }: VitestTask): string | undefined => filepath ?? file?.filepath;

/** Without the file's own name. */
const suiteNames = (suite: VitestTask): string[] => (suite.filepath === undefined ? namesOf(suite) : []);

/** `onBeforeRunTask` is also called for `it.skip`, `it.todo` and what a hook has failed, without a call of `onAfterRunTask`. */
function isSettledBefore({ mode, result }: VitestTask): boolean {
  return (mode !== undefined && mode !== 'run' && mode !== 'queued') || result?.state === 'fail';
}

/** After `ctx.skip()` in a test or its hooks no method is called. (A failed test may be tried again.) */
function endSkipped(open: ReadonlySet<VitestTask>, end: (task: VitestTask) => void): void {
  for (const task of open) if (task.mode === 'skip' || task.result?.state === 'skip') end(task);
}

/**
 * Vitest 1 to 3 fails if it is imported before its worker has a state. It marks its test runner with `__vitest_executor` when
 * that is created, before the first test file is read; afterwards the hook is removed.
 */
function onRunnerMade(react: (runner: unknown) => void): void {
  // The program's `Object`: in this file `Object` is a copy (captured-globals.cjs).
  const object = globalThis.Object;
  const define = object.defineProperty;
  object.defineProperty = function defineProperty<T>(
    target: T,
    key: PropertyKey,
    how: PropertyDescriptor,
  ): T {
    const defined = define(target, key, how);
    if (key !== '__vitest_executor') return defined;
    object.defineProperty = define;
    try {
      react((target as object).constructor);
    } catch {
      // The runner has an unknown shape; its tests are not named.
    }
    return defined;
  };
}

/** Since 4.1 a separate entry exports the class, and the other one prints a warning. */
async function findTestRunner(scene: Scene, folder: string): Promise<unknown> {
  const { TestRunner } = await importFile(scene, `${folder}/dist/index.js`);
  return TestRunner ?? (await importFile(scene, `${folder}/dist/runners.js`))['VitestTestRunner'];
}

function namesOf(task: VitestTask): string[] {
  const names: string[] = [];
  for (let one: VitestTask | undefined = task; one; one = one.suite) names.unshift(one.name);
  // Up to 1.x a file is a suite without a name.
  return names.filter((name) => name !== '');
}
