/**
 * Jest with jest-circus: the events that a test environment receives (`handleTestEvent`, jest's documentation of
 * `testEnvironment`). Every environment class that jest loads gets a handler that also calls its own.
 */
import type { TestPort } from '../../agent/api/test-port.ts';
import { unseenRunner } from '../../model/ci-summary.ts';
import { watchLoads } from './load-watch.ts';
import type { Method, Runner } from './runner.ts';

interface CircusBlock {
  name: string;
  parent?: CircusBlock;
}

interface CircusRunnable {
  fn?: unknown;
  parent?: CircusBlock;
  type?: string;
}

interface CircusState {
  currentDescribeBlock?: { children?: (CircusRunnable & { type?: string })[]; hooks?: CircusRunnable[] };
  currentlyRunningTest?: CircusRunnable | null;
}

type Failable = CircusBlock & { errors: unknown[] };

interface CircusEvent {
  name: string;
  test?: Failable;
  hook?: CircusRunnable;
}

interface Environment {
  getVmContext?(): object | null;
  global?: Record<symbol, { state?: { testPath?: string } } | undefined>;
}

/** Its runner before jest-circus (jest 26 and earlier, or the option `testRunner`), which sends no events to the environment. */
const jasmine = /[\\/]jest-jasmine2[\\/]/;

/** The package's entry, whose function runs a test file. */
const circus = /[\\/]jest-circus[\\/](?:build[\\/])?runner(?:\.js)?$/;

export const jest: Runner = {
  name: 'jest',
  matches: ({ script, isMainThread }) =>
    /\/node_modules\/(?:jest|jest-cli|react-scripts)\/bin\//.test(script) ||
    /\/node_modules\/jest-worker\/build\//.test(script) ||
    // The script of a worker thread is not known before it runs.
    (!isMainThread && /\/jest-worker\//.test(script)),
  hook(tests) {
    tests.runnerIs('jest');
    const seen = new WeakSet<object>();
    tests.contextsOfTests = () => [...running].flatMap((one) => contextOf(one) ?? []);
    watchLoads((request, exports) => {
      if (jasmine.test(request)) tests.runnerIs(unseenRunner);
      for (const candidate of classesOf(exports)) {
        if (seen.has(candidate)) continue;
        seen.add(candidate);
        if (isEnvironment(candidate)) handleEvents(candidate, tests);
      }
      return circus.test(request) ? hearFailedFiles(exports, tests) : undefined;
    });
  },
};

type RunFile = (
  globals: unknown,
  project: unknown,
  environment: unknown,
  runtime: unknown,
  path: string,
) => unknown;

const heard = new WeakMap<object, RunFile>();

/** A file that throws while it is read runs no test, and circus sends no event: only the promise of its run tells. */
function hearFailedFiles(exports: unknown, tests: TestPort): RunFile | undefined {
  // A function up to version 29.
  if (typeof exports === 'function') return hearing(exports as RunFile, tests);
  const holder = exports as { default?: RunFile };
  if (typeof holder?.default === 'function') holder.default = hearing(holder.default, tests);
  return undefined;
}

function hearing(runFile: RunFile, tests: TestPort): RunFile {
  const known = heard.get(runFile);
  if (known) return known;
  const run: RunFile = function (this: unknown, ...args) {
    const ended = Reflect.apply(runFile, this, args) as Promise<unknown>;
    ended.then(undefined, (error: unknown) => {
      const [, , , , file] = args;
      tests.runnerIs('jest', file);
      tests.end(tests.begin({ file, name: [], isHook: true }), 'failed', error);
    });
    return ended;
  };
  heard.set(runFile, run).set(run, run);
  return run;
}

/** The exports, their default, or `TestEnvironment`, which jest's own packages export. */
function classesOf(exports: unknown): (new () => unknown)[] {
  if (typeof exports === 'function') return [exports as new () => unknown];
  if (typeof exports !== 'object' || exports === null) return [];
  const named = [own(exports, 'default'), own(exports, 'TestEnvironment')];
  return named.filter((one): one is new () => unknown => typeof one === 'function');
}

function own(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined;
}

function isEnvironment(candidate: new () => unknown): boolean {
  const prototype = candidate.prototype as Record<string, unknown> | undefined;
  if (!prototype) return false;
  return ['setup', 'teardown', 'getVmContext'].every((name) => typeof prototype[name] === 'function');
}

export function handleEvents(candidate: new () => unknown, tests: TestPort): void {
  const prototype = candidate.prototype as { handleTestEvent?: Method };
  const inherited = prototype.handleTestEvent;
  // A class that inherits the method inherits the handler of its base class; only a method of its own is wrapped.
  if (inherited && !Object.hasOwn(prototype, 'handleTestEvent')) return;
  prototype.handleTestEvent = function (this: Environment, event: CircusEvent, state: unknown) {
    note(tests, this, event);
    follow(tests, event, state as CircusState);
    return inherited && Reflect.apply(inherited, this, [event, state]);
  };
}

/**
 * Circus awaits its event handlers, so a context that is entered in one is lost. It reads the `fn` of a test right before it
 * calls it, so the context is entered in that read: no frame is added, and the function's `length` and `this` are unchanged.
 */
function follow(tests: TestPort, { name }: CircusEvent, state: CircusState): void {
  try {
    const { children, hooks } = state?.currentDescribeBlock ?? {};
    if (name === 'add_test') {
      const test = children?.findLast(({ type }) => type === 'test');
      if (test) enterWhenRead(test, () => tests.enter(test));
    }
    if (name === 'add_hook') {
      const hook = hooks?.at(-1);
      // A hook that runs around one test belongs to that test; a hook around all tests is reported by itself.
      if (hook)
        enterWhenRead(hook, () =>
          tests.enter(isAroundAll(hook) ? hook : (state.currentlyRunningTest ?? undefined), 'hook'),
        );
    }
  } catch {
    // The runner's shape differs from that of the known versions.
  }
}

function enterWhenRead(holder: CircusRunnable, enter: () => void): void {
  if (Object.getOwnPropertyDescriptor(holder, 'fn')?.configurable !== true) return;
  let { fn } = holder;
  Object.defineProperty(holder, 'fn', {
    configurable: true,
    enumerable: true,
    get() {
      enter();
      return fn;
    },
    set(next) {
      fn = next;
    },
  });
}

/** Environments whose file runs. */
const running = new Set<Environment>();

/** A project's own environment may throw. */
function contextOf(environment: Environment): object | null | undefined {
  try {
    return environment.getVmContext?.();
  } catch {
    return undefined;
  }
}

const matchers = Symbol.for('$$jest-matchers-object');

const isAroundAll = ({ type }: CircusRunnable): boolean => type === 'beforeAll' || type === 'afterAll';

/** Its failure fails the tests, which circus reports. */
function noteHook(tests: TestPort, environment: Environment, name: string, hook: CircusRunnable): void {
  if (!isAroundAll(hook)) return;
  if (name !== 'hook_start') tests.end(hook, 'passed');
  else
    tests.begin(
      { file: fileOf(environment), name: [...pathOf(hook.parent), `${hook.type} hook`], isHook: true },
      hook,
    );
}

function note(tests: TestPort, environment: Environment, { name, test, hook }: CircusEvent): void {
  try {
    if (hook && name.startsWith('hook_')) noteHook(tests, environment, name, hook);
    if (name === 'run_start') running.add(environment);
    if (name === 'run_finish' || name === 'teardown') running.delete(environment);
    if (name === 'run_finish') failLater(tests, environment);
    if (!test) return;
    if (name === 'test_fn_start' || name === 'test_start') begin(tests, environment, test);
    else if (name === 'test_done') {
      tests.end(test, test.errors.length ? 'failed' : 'passed', test.errors[0]);
      if (!test.errors.length) passedIn(environment).push(test);
    } else if (name === 'test_skip' || name === 'test_todo') tests.end(test, 'skipped');
  } catch {
    // The runner's shape differs from that of the known versions.
  }
}

const passed = new WeakMap<Environment, Failable[]>();

function passedIn(environment: Environment): Failable[] {
  const list = passed.get(environment) ?? [];
  passed.set(environment, list);
  return list;
}

/** Since version 30, circus assigns an error that occurs after a test's end to the test that caused it. */
function failLater(tests: TestPort, environment: Environment): void {
  for (const test of passedIn(environment)) if (test.errors.length) tests.failedLater(test, test.errors[0]);
  passed.delete(environment);
}

const begun = new WeakSet<object>();

/** `test_start` precedes the hooks of a test, and also precedes a test that is skipped. */
function begin(tests: TestPort, environment: Environment, test: CircusBlock): void {
  if (begun.has(test)) return;
  begun.add(test);
  const file = fileOf(environment);
  if (file !== undefined) tests.runnerIs('jest', file);
  tests.begin({ file, name: pathOf(test) }, test);
}

const fileOf = (environment: Environment): string | undefined =>
  environment.global?.[matchers]?.state?.testPath;

/** The outermost block is the file. */
function pathOf(block: CircusBlock | undefined): string[] {
  const path: string[] = [];
  for (let one = block; one?.parent; one = one.parent) path.unshift(one.name);
  return path;
}
