/** Playwright's workers: the current test is set in one place, through a function that is wrapped here. */
import type { TestPort } from '../../agent/api/test-port.ts';
import { watchLoads } from './load-watch.ts';
import { callWithoutFrame, type Runner, wrapMethod } from './runner.ts';

interface TestInfo {
  file?: string;
  titlePath?: string[];
  status?: string;
  expectedStatus?: string;
  errors?: unknown[];
}

/** What `_runWithTimeout` of a test's info is about to run. */
interface Runnable {
  type?: string;
  fixture?: { slot?: object };
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
    const isFollowed = info !== null && leavesAroundAll(info, tests);
    tests.enter(isFollowed ? info : undefined);
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

const left = new WeakSet<object>();

/**
 * Playwright runs the hooks and the fixtures of a whole file or worker inside of whichever test is the first or the last one;
 * they belong to no test. (A test's own fixture with its own time limit can't be told from a worker's.) False for a version
 * in which they can't be recognized.
 */
function leavesAroundAll(info: TestInfo, tests: TestPort): boolean {
  const kind = info.constructor;
  if (left.has(kind)) return true;
  try {
    wrapMethod(
      kind,
      '_runWithTimeout',
      (run) =>
        function (this: TestInfo, runnable: Runnable, ...rest) {
          const { type, fixture } = runnable;
          const isAroundAll = /^(?:(?:before|after)All|teardown)$/.test(type ?? '') || fixture?.slot;
          const call = (): unknown => callWithoutFrame(run, this, [runnable, ...rest]);
          return isAroundAll ? tests.causal.storage.run(undefined, call) : call();
        },
    );
  } catch {
    return false;
  }
  left.add(kind);
  return true;
}

function finish(tests: TestPort, info: TestInfo): void {
  const { status, expectedStatus, errors } = info;
  if (status === 'skipped') tests.end(info, 'skipped');
  else tests.end(info, status === expectedStatus ? 'passed' : 'failed', errors?.[0]);
}
