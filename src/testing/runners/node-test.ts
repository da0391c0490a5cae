/**
 * node:test. Since Node 24 through the channel `tracing:node.test` (doc/api/test.md), in every process. Before that through
 * the reporter of the process (node-test-reporter.ts), if the runner has started it or its script mentions `node:test`.
 */
import { readFileSync } from 'node:fs';
import type { TestPort } from '../../agent/api/test-port.ts';
import { hearReporter, isOwnFailure } from './node-test-reporter.ts';
import { startingSuite, type TestResource } from './node-test-suites.ts';
import type { Runner } from './runner.ts';

interface ChannelMessage {
  name: string;
  nesting: number;
  file?: string;
  type: 'test' | 'suite';
  error?: { failureType?: string };
}

export const nodeTest: Runner = {
  name: 'node:test',
  matches: () => true,
  hook(tests, { script, environment, isMainThread }) {
    // Node 20 passes the flag on to the processes of the test files.
    const isChild = environment['NODE_TEST_CONTEXT']?.startsWith('child') === true;
    const isRunner = !isChild && process.execArgv.includes('--test');
    if (isRunner) tests.runnerIs('node:test');
    if (Number(process.versions.node.split('.')[0]) >= 24)
      listen(tests, isChild && isMainThread && namesNodeTest(script) ? watchForRoot() : () => undefined);
    // A worker thread started by a test runs no tests of its own, unless its script mentions them.
    else if ((isChild && isMainThread) || (!isRunner && namesNodeTest(script))) hearReporter(tests, script);
  },
};

/** A suite or test that has started. */
interface Started {
  message: ChannelMessage;
  outer: Started | undefined;
  /** Node's own object. */
  resource: TestResource | undefined;
}

/**
 * Nothing is published of the root suite. It is the first resource of this type. Until then each promise costs twice as much, so that a
 * script that may never make one is not followed.
 */
function watchForRoot(): () => TestResource | undefined {
  let root: TestResource | undefined;
  const hook = process.getBuiltinModule('node:async_hooks').createHook({
    init(_id, type, _trigger, resource) {
      if (type !== 'Test') return;
      root = resource as TestResource;
      hook.disable();
    },
  });
  hook.enable();
  return () => root;
}

function listen(tests: TestPort, root: () => TestResource | undefined): void {
  const { channel, subscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const { AsyncLocalStorage, executionAsyncResource } = process.getBuiltinModule('node:async_hooks');
  const find = ({ name, nesting, file }: ChannelMessage) =>
    open.find(({ message }) => message.name === name && message.nesting === nesting && message.file === file);
  const open: Started[] = [];
  // Unless suites of one depth run at the same time.
  const suiteOf = ({ nesting, file }: ChannelMessage) =>
    open.findLast(({ message }) => message.nesting === nesting - 1 && message.file === file);
  const errors = new WeakMap<object, unknown>();
  // A suite's tests start inside of the store in which it was declared, also if others run at the same time.
  const lineage = new AsyncLocalStorage<Started>();
  channel('tracing:node.test:start').bindStore(lineage, (raw) => ({
    message: raw as ChannelMessage,
    outer: lineage.getStore(),
    resource: asTest(executionAsyncResource(), raw as ChannelMessage),
  }));
  tests.suiteStarting = () =>
    startingSuite(
      open.map(({ resource }) => resource),
      root(),
    );
  subscribe('tracing:node.test:start', (raw) => {
    const message = raw as ChannelMessage;
    const started = lineage.getStore();
    // An entry of the runner itself: a file, or the whole run.
    if (message.file === undefined || message.name === '<root>' || !started) return;
    tests.runnerIs('node:test', message.file);
    open.push(started);
    if (message.type === 'suite') return;
    const outer = started.outer?.message;
    const within = outer?.type === 'test' ? outer : undefined;
    tests.begin({ file: message.file, name: nameOf(started), within }, message);
  });
  // Node runs each test inside of the store that is bound here.
  channel('tracing:node.test:start').bindStore(tests.causal.storage, (raw) => {
    const { file, name, type } = raw as ChannelMessage;
    const isTest = file !== undefined && name !== '<root>' && type !== 'suite';
    return isTest ? tests.contextOf(raw as object) : tests.causal.current;
  });
  subscribe('tracing:node.test:error', (raw) => {
    // This message is a different object from those of start and end.
    const message = raw as ChannelMessage;
    const started = find(message);
    if (started) errors.set(started.message, message.error);
    // A test whose `beforeEach` has failed is never started.
    else if (message.type === 'test' && message.error?.failureType === 'hookFailed')
      failUnstarted(tests, message, suiteOf(message));
  });
  subscribe('tracing:node.test:end', (raw) => {
    const at = open.findIndex(({ message }) => message === raw);
    const [started] = at >= 0 ? open.splice(at, 1) : [];
    const { resource } = started ?? {};
    const key = raw as object;
    const error = errors.get(key) ?? resource?.error;
    // Node counts neither a failed `todo` nor a failure that was expected; only its object tells.
    const hasFailed = resource ? resource.passed === false && resource.isTodo !== true : errors.has(key);
    tests.end(key, hasFailed && isOwnFailure(error) ? 'failed' : 'passed', error);
  });
}

/** A test or suite runs inside of the scope of its own object, so that this is the resource when its start is published. */
function asTest(resource: object, { name, nesting }: ChannelMessage): TestResource | undefined {
  const test = resource as TestResource;
  return test.name === name && test.nesting === nesting ? test : undefined;
}

function failUnstarted(tests: TestPort, message: ChannelMessage, outer: Started | undefined): void {
  const { file, name, error } = message;
  if (file === undefined) return;
  tests.runnerIs('node:test', file);
  const id = tests.begin({ file, name: [...(outer ? nameOf(outer) : []), name] });
  tests.end(id, 'failed', error);
}

function nameOf(started: Started): string[] {
  const name: string[] = [];
  for (let one: Started | undefined = started; one; one = one.outer) name.unshift(one.message.name);
  return name;
}

const longestHead = 64 * 1024;

function namesNodeTest(script: string): boolean {
  try {
    return /['"]node:test['"]/.test(readFileSync(script, 'utf8').slice(0, longestHead));
  } catch {
    return false;
  }
}
