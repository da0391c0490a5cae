/** node-tap: each file runs in its own process, and a subtest is an event of the enclosing test. */
import type { AsyncResource } from 'node:async_hooks';
import type { TestPort } from '../../agent/api/test-port.ts';
import { importFile, type Runner, wrapMethod } from './runner.ts';

interface TapTest {
  name: string;
  parent?: TapTest;
  hook?: AsyncResource;
  passing?(): boolean;
  results?: { ok?: boolean; failures?: unknown[] };
}

export const tap: Runner = {
  name: 'tap',
  matches: ({ script, environment }) =>
    (environment['TAP'] === '1' && environment['TAP_CHILD_ID'] !== undefined) ||
    /\/node_modules\/(?:tap|@tapjs\/run)\//.test(script),
  async hook(tests, scene) {
    const { script } = scene;
    if (/\/node_modules\/(?:tap|@tapjs\/run)\//.test(script)) {
      tests.runnerIs('tap');
      return;
    }
    tests.runnerIs('tap', script);
    const importer = process.execArgv.find((word) => word.includes('/@tapjs/'));
    const [, folder] = /file:\/\/(.*?\/@tapjs)\//.exec(importer ?? '') ?? [];
    if (folder === undefined) return;
    const { TestBase } = await importFile(scene, `${folder}/core/dist/${kindOf(script)}/index.js`);
    wrapMethod(
      TestBase,
      'emit',
      (emit) =>
        function (this: unknown, event: string, ...args) {
          note(tests, script, event, args[0]);
          return Reflect.apply(emit, this, [event, ...args]);
        },
    );
  },
};

/**
 * The function of a test runs inside of an asynchronous resource that tap created with the test, without a context. It is
 * replaced by one created inside of tap's own, which tap uses to attribute late errors.
 */
function follow(tests: TestPort, subject: TapTest): void {
  const { hook } = subject;
  if (typeof hook?.runInAsyncScope !== 'function') return;
  const { AsyncResource } = process.getBuiltinModule('node:async_hooks');
  const { storage } = tests.causal;
  subject.hook = hook.runInAsyncScope(() =>
    storage.run(tests.contextOf(subject), () => new AsyncResource('TapWrap')),
  );
}

/** Tests with a failed subtest; the subtest is reported instead. */
const failedBelow = new WeakSet<object>();

function note(tests: TestPort, file: string, event: string, subject: TapTest): void {
  if (event === 'subtestStart') {
    tests.begin({ file, name: namesOf(subject) }, subject);
    follow(tests, subject);
  }
  if (event !== 'subtestEnd') return;
  const hasFailed = subject.results?.ok === false;
  if (hasFailed && subject.parent) failedBelow.add(subject.parent);
  if (hasFailed && !failedBelow.has(subject)) tests.end(subject, 'failed', firstFailure(subject));
  else tests.end(subject, hasFailed ? 'skipped' : 'passed');
}

/** The last parent is the file itself. */
function namesOf(test: TapTest): string[] {
  const names: string[] = [];
  for (let one: TapTest | undefined = test; one?.parent; one = one.parent) names.unshift(one.name);
  return names;
}

function firstFailure({ name, results }: TapTest): { message: string; stack?: string } {
  const failure = results?.failures?.[0] as { name?: string; diag?: { stack?: string } } | undefined;
  const stack = failure?.diag?.stack && asStack(failure.diag.stack);
  return { message: failure?.name ?? `${name} failed`, ...(stack !== undefined && { stack }) };
}

/** Lines like `dies (deaths.mjs:14:34)`, relative to the working directory. */
function asStack(lines: string): string {
  const absolute = lines.replace(/(^|\()(?![a-z]+:|\/)([^\s():]+:\d+:\d+)/gm, `$1${process.cwd()}/$2`);
  return absolute.replace(/^(?=\S)/gm, '    at ');
}

/** Node's rule for `.js` files, without reading package.json twice: the nearest one decides. */
function kindOf(script: string): 'esm' | 'commonjs' {
  if (/\.c[jt]s$/.test(script)) return 'commonjs';
  if (/\.(?:m[jt]s|tsx?)$/.test(script)) return 'esm';
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
  for (let folder = script; folder.includes('/'); ) {
    folder = folder.slice(0, folder.lastIndexOf('/'));
    const path = `${folder}/package.json`;
    if (!existsSync(path)) continue;
    return /"type"\s*:\s*"module"/.test(readFileSync(path, 'utf8')) ? 'esm' : 'commonjs';
  }
  return 'commonjs';
}
