/** Vitest's workers, forks and threads: the methods that its test runner calls around each try of a test. */
import { importFile, packageFolder, type Runner, type Scene, wrapMethod } from './runner.ts';

interface VitestTask {
  name: string;
  suite?: VitestTask;
  file?: { filepath?: string };
  result?: { state?: string; errors?: unknown[] };
}

export const vitest: Runner = {
  name: 'vitest',
  matches: ({ script }) => /\/node_modules\/vitest\/(?:dist\/workers|vitest\.mjs|dist\/cli)/.test(script),
  async hook(tests, scene) {
    const { script } = scene;
    tests.runnerIs('vitest');
    const folder = packageFolder(script, 'vitest');
    if (folder === undefined || !script.includes('/dist/workers/')) return;
    const runner = await findTestRunner(scene, folder);
    wrapMethod(
      runner,
      'onBeforeRunTask',
      (before) =>
        function (this: unknown, task: VitestTask, ...rest) {
          if (task.file?.filepath !== undefined) tests.runnerIs('vitest', task.file.filepath);
          tests.begin({ file: task.file?.filepath, name: namesOf(task) }, task);
          return Reflect.apply(before, this, [task, ...rest]);
        },
    );
    wrapMethod(
      runner,
      'onAfterRunTask',
      (after) =>
        function (this: unknown, task: VitestTask, ...rest) {
          const { state, errors } = task.result ?? {};
          tests.end(task, state === 'fail' ? 'failed' : state === 'pass' ? 'passed' : 'skipped', errors?.[0]);
          return Reflect.apply(after, this, [task, ...rest]);
        },
    );
  },
};

/** From 4.1 on its own entry has the class, and the other place prints a warning. */
async function findTestRunner(scene: Scene, folder: string): Promise<unknown> {
  const { TestRunner } = await importFile(scene, `${folder}/dist/index.js`);
  return TestRunner ?? (await importFile(scene, `${folder}/dist/runners.js`))['VitestTestRunner'];
}

function namesOf(task: VitestTask): string[] {
  const names: string[] = [];
  for (let one: VitestTask | undefined = task; one; one = one.suite) names.unshift(one.name);
  return names;
}
