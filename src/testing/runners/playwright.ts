/** Playwright's workers: the current test is set in one place, through a function that is wrapped here. */
import type { TestPort } from '../../agent/api/test-port.ts';
import { watchLoads } from './load-watch.ts';
import type { Runner } from './runner.ts';

interface TestInfo {
  file?: string;
  titlePath?: string[];
  status?: string;
  expectedStatus?: string;
  errors?: unknown[];
}

export const playwright: Runner = {
  name: 'playwright',
  matches: ({ script }) => /\/node_modules\/(?:playwright|@playwright\/test)\//.test(script),
  hook(tests) {
    tests.runnerIs('playwright');
    const wrapped = new WeakMap<object, object>();
    watchLoads((request, exports) => {
      if (!request.endsWith('/globals') || typeof (exports as Globals)?.setCurrentTestInfo !== 'function')
        return undefined;
      const known = wrapped.get(exports as object) ?? wrapGlobals(exports as Globals, tests);
      wrapped.set(exports as object, known);
      return known;
    });
  },
};

interface Globals {
  setCurrentTestInfo(info: TestInfo | null): void;
}

function wrapGlobals(globals: Globals, tests: TestPort): object {
  let current: TestInfo | null = null;
  const setCurrentTestInfo = (info: TestInfo | null): void => {
    if (current && current !== info) finish(tests, current);
    if (info && info !== current) {
      tests.runnerIs('playwright', info.file);
      // The first title is that of the file.
      tests.begin({ file: info.file, name: info.titlePath?.slice(1) ?? [] }, info);
    }
    tests.enter(info ?? undefined);
    current = info;
    globals.setCurrentTestInfo(info);
  };
  const copy = Object.create(Object.getPrototypeOf(globals)) as object;
  for (const name of Object.getOwnPropertyNames(globals))
    Object.defineProperty(copy, name, {
      enumerable: true,
      configurable: true,
      get: () => globals[name as never],
    });
  return Object.defineProperty(copy, 'setCurrentTestInfo', { enumerable: true, value: setCurrentTestInfo });
}

function finish(tests: TestPort, info: TestInfo): void {
  const { status, expectedStatus, errors } = info;
  if (status === 'skipped') tests.end(info, 'skipped');
  else tests.end(info, status === expectedStatus ? 'passed' : 'failed', errors?.[0]);
}
