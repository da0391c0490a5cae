/**
 * `test: { setupFiles: ['agentdump/vitest'] }`: reports the running test of vitest to the preload, for runs without
 * `agentdump ci`, which does not need it.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { findTests } from './find-tests.ts';

interface Task {
  name: string;
  suite?: Task;
  file?: { filepath?: string };
  result?: { state?: string; errors?: unknown[] };
}

interface Vitest {
  beforeEach(hook: (context: { task: Task }) => void): void;
  afterEach(hook: (context: { task: Task }) => void): void;
}

/** The program's own vitest; relative to this file there may be a different one or none. */
async function findVitest(): Promise<Vitest> {
  const path = createRequire(`${process.cwd()}/x.js`).resolve('vitest/package.json');
  const url = pathToFileURL(path.replace(/package\.json$/, 'dist/index.js')).href;
  return (await import(url)) as Vitest;
}

function namesOf(task: Task): string[] {
  const names: string[] = [];
  for (let one: Task | undefined = task; one; one = one.suite) names.unshift(one.name);
  return names;
}

const tests = findTests();
if (tests) {
  const { beforeEach, afterEach } = await findVitest();
  beforeEach(({ task }) => {
    const file = task.file?.filepath;
    tests.runnerIs('vitest', file);
    tests.begin({ file, name: namesOf(task) }, task);
  });
  afterEach(({ task }) => {
    const { state, errors } = task.result ?? {};
    tests.end(task, state === 'fail' ? 'failed' : 'passed', errors?.[0]);
  });
}
