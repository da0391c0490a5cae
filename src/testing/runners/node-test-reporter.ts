/**
 * node:test before Node 24: what the root suite of this process sends to its reporter, `test:dequeue` before a test runs and
 * `test:complete` after it (doc/api/test.md). Hooks of the root suite would provide the same, but cost each test half a
 * millisecond. A suite is reported like a test until its end.
 */
import type { Readable } from 'node:stream';
import type { TestPort } from '../../agent/api/test-port.ts';
import type { TestOrigin } from '../../bundle/layout/tests.ts';
import { nameOf, startingSuite, type TestResource } from './node-test-suites.ts';

const OwnError = Error;
const { now } = Date;
const { captureStackTrace } = Error;
const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;

interface Told {
  name: string;
  nesting: number;
  file?: string;
  line?: number;
  column?: number;
}

interface Completed extends Told {
  details: { passed?: boolean; type?: string; error?: { failureType?: string } };
  skip?: unknown;
  todo?: unknown;
}

/**
 * Must be called before the first test. The reporter is found through the listener that the root suite sets on it when it is
 * created.
 */
export function hearReporter(tests: TestPort, script: string): void {
  tests.runnerIs('node:test', script);
  const declared = followTests(tests);
  const { prototype } = process.getBuiltinModule('node:stream').Readable;
  const listen = prototype.on;
  let isHeard = false;
  function on(this: Readable, ...heard: Parameters<typeof listen>): Readable {
    if (!isHeard && this.constructor?.name === 'TestsStream' && isCalledByHarness(on)) {
      isHeard = true;
      // Unless it has been replaced again in the meantime.
      if (prototype.on === on) prototype.on = listen;
      if (prototype.addListener === on) prototype.addListener = listen;
      hear(tests, this, script, declared);
    }
    return Reflect.apply(listen, this, heard);
  }
  prototype.on = on as typeof listen;
  prototype.addListener = on as typeof listen;
}

interface Declared {
  root?: TestResource;
  tests: Set<TestResource>;
}

/**
 * A test runs inside of its own resource, which is created when the test is declared; its context is set at that time. (Node
 * 20 and 22 store it in this property; later versions have the channel.) Returns the tests and suites that are declared and have not
 * run yet, in their order.
 */
function followTests(tests: TestPort): Declared {
  const { storage } = tests.causal;
  const { kResourceStore } = storage as unknown as { kResourceStore?: symbol };
  const declared: Declared = { tests: new Set() };
  if (typeof kResourceStore !== 'symbol') return declared;
  // From now on new resources inherit contexts before the hook below is called.
  storage.enterWith(undefined);
  const { createHook } = process.getBuiltinModule('node:async_hooks');
  createHook({
    init(_id, type, _trigger, resource) {
      if (type !== 'Test') return;
      const test = resource as unknown as TestResource;
      // The first one is the root, which Node creates before all others.
      declared.root ??= test;
      declared.tests.add(test);
      (resource as unknown as Record<symbol, unknown>)[kResourceStore] = tests.contextOf(test, (atMs) =>
        tell(test, atMs),
      );
    },
  }).enable();
  return declared;
}

function tell(test: TestResource, atMs: number): TestOrigin {
  const own = test.hookType === undefined ? test : (test.parentTest ?? test);
  const isAroundAll = own !== test && (own.parent === null || own.constructor.name === 'Suite');
  const name = isAroundAll ? [...nameOf(own), `${test.hookType} hook`] : nameOf(own);
  const file = own.loc?.file ?? test.loc?.file;
  const sinceMs =
    typeof own.endTime === 'bigint'
      ? Number((process.hrtime.bigint() - own.endTime) / 1_000_000n)
      : undefined;
  return {
    ...(file !== undefined && { file }),
    name,
    ...(own !== test && { hook: true as const }),
    ...(sinceMs !== undefined && {
      ended: {
        status: own.passed === false ? 'failed' : 'passed',
        beforeMs: Math.max(0, sinceMs - (now() - atMs)),
      },
    }),
  };
}

/** A stream returned to the program by `run()` reports tests of other processes. */
function isCalledByHarness(callee: (...heard: never) => unknown): boolean {
  const place: { stack?: unknown } = {};
  const limitBefore = getOwnPropertyDescriptor(OwnError, 'stackTraceLimit');
  const formatBefore = getOwnPropertyDescriptor(OwnError, 'prepareStackTrace');
  const plain = { writable: true, enumerable: false, configurable: true };
  // Prevents a call of the program's own formatter.
  defineProperty(OwnError, 'stackTraceLimit', { ...plain, value: 1 });
  defineProperty(OwnError, 'prepareStackTrace', { ...plain, value: undefined });
  captureStackTrace(place, callee);
  const text = String(place.stack);
  if (limitBefore) defineProperty(OwnError, 'stackTraceLimit', limitBefore);
  if (formatBefore) defineProperty(OwnError, 'prepareStackTrace', formatBefore);
  else deleteProperty(OwnError, 'prepareStackTrace');
  return text.includes('test_runner/harness');
}

function hear(tests: TestPort, reporter: Readable, script: string, declared: Declared): void {
  /** The innermost is last, unless several run at the same time. */
  const open: Told[] = [];
  const resources = new Map<Told, TestResource>();
  const names = new WeakMap<Told, string[]>();
  tests.suiteStarting = () =>
    startingSuite(
      open.map((told) => resources.get(told)),
      declared.root,
    );
  reporter.on('test:dequeue', (told: Told) => {
    const test = takeDeclared(declared.tests, told);
    if (test) resources.set(told, test);
    const outer =
      open.find((one) => test?.parent && resources.get(one) === test.parent) ??
      open.findLast(({ nesting }) => nesting === told.nesting - 1);
    const name = test ? nameOf(test) : [...((outer && names.get(outer)) ?? []), told.name];
    names.set(told, name);
    open.push(told);
    const isHook = test?.constructor?.name === 'Suite';
    tests.begin({ file: told.file ?? script, name, within: outer, isHook }, told);
  });
  reporter.on('test:complete', (completed: Completed) => {
    const at = open.findLastIndex((told) => isSame(told, completed));
    const [told] = at < 0 ? [] : open.splice(at, 1);
    if (!told) return;
    resources.delete(told);
    finish(tests, told, completed);
  });
}

function takeDeclared(declared: Set<TestResource>, told: Told): TestResource | undefined {
  for (const test of declared) {
    const { name, nesting = 0, hookType, loc } = test;
    const isTold = hookType === undefined && isSame({ name, nesting, ...loc }, told);
    if (isTold || hookType !== undefined) declared.delete(test);
    if (isTold) return test;
  }
  return undefined;
}

function isSame(one: Told, other: Told): boolean {
  return (
    one.name === other.name &&
    one.nesting === other.nesting &&
    one.line === other.line &&
    one.column === other.column &&
    one.file === other.file
  );
}

function finish(tests: TestPort, told: Told, { details, skip, todo }: Completed): void {
  if (details.type === 'suite') tests.wasSuite(told);
  const { type, error } = details;
  if (skip !== undefined) tests.end(told, 'skipped');
  // A hook that runs around each test fails the test; one of a suite fails none of its own.
  else if (type !== 'suite' && todo === undefined && error?.failureType === 'hookFailed')
    tests.end(told, 'failed', error);
  else if (details.passed !== false || todo !== undefined || !isOwnFailure(details.error))
    tests.end(told, 'passed');
  else tests.end(told, 'failed', details.error);
}

/** Whether a test failed by itself, and not only because of its subtests or a hook. */
export function isOwnFailure(error: unknown): boolean {
  const failureType = (error as { failureType?: string } | undefined)?.failureType;
  return failureType !== 'subtestsFailed' && failureType !== 'hookFailed';
}
