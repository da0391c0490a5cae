/**
 * node:test. From Node 24 on by the channel `tracing:node.test` (doc/api/test.md), which hears every process; before, by
 * a hook of the root suite in those processes that the runner starts, or whose script names `node:test`.
 */
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { TestPort } from '../../agent/test-port.ts';
import type { Runner } from './runner.ts';

interface ChannelMessage {
  name: string;
  nesting: number;
  file?: string;
  type: 'test' | 'suite';
  error?: { failureType?: string };
}

/** What a hook is called with: the context of the test, which is the same object before and after it. */
interface HookContext {
  fullName?: string;
  name: string;
  filePath?: string;
  passed?: boolean;
  error?: { failureType?: string } | null;
}

interface NodeTest {
  beforeEach(hook: (context: HookContext) => void): void;
  afterEach(hook: (context: HookContext) => void): void;
}

export const nodeTest: Runner = {
  name: 'node:test',
  matches: () => true,
  hook(tests, { script, environment }) {
    // Node 20 passes the flag on to the processes of the files.
    const isChild = environment['NODE_TEST_CONTEXT']?.startsWith('child') === true;
    const isRunner = !isChild && process.execArgv.includes('--test');
    if (isRunner) tests.runnerIs('node:test');
    if (Number(process.versions.node.split('.')[0]) >= 24) listen(tests);
    else if (isChild || (!isRunner && namesNodeTest(script))) addRootHooksLate(tests, script);
  },
};

function listen(tests: TestPort): void {
  const { subscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const find = ({ name, nesting, file }: ChannelMessage) =>
    open.find(({ message }) => message.name === name && message.nesting === nesting && message.file === file);
  /** Suites start when they are declared, and run in that order; tests start when they run. */
  const open: { message: ChannelMessage; isSuite: boolean }[] = [];
  const errors = new WeakMap<object, unknown>();
  const parentAt = (nesting: number): string[] => {
    if (nesting < 0) return [];
    const level = open.filter(({ message }) => message.nesting === nesting);
    const parent = level.find(({ isSuite }) => !isSuite) ?? level[0];
    return parent ? [...parentAt(nesting - 1), parent.message.name] : [];
  };
  subscribe('tracing:node.test:start', (raw) => {
    const message = raw as ChannelMessage;
    // Of the runner itself: a file, or the whole.
    if (message.file === undefined || message.name === '<root>') return;
    tests.runnerIs('node:test', message.file);
    const isSuite = message.type === 'suite';
    if (!isSuite) {
      const name = [...parentAt(message.nesting - 1), message.name];
      tests.begin({ file: message.file, name }, message);
    }
    open.push({ message, isSuite });
  });
  subscribe('tracing:node.test:error', (raw) => {
    // An object of its own, unlike those of start and end.
    const started = find(raw as ChannelMessage);
    if (started) errors.set(started.message, (raw as ChannelMessage).error);
  });
  subscribe('tracing:node.test:end', (raw) => {
    const at = open.findIndex(({ message }) => message === raw);
    if (at >= 0) open.splice(at, 1);
    finish(tests, raw as object, errors.has(raw as object), errors.get(raw as object));
  });
}

/**
 * When the process's first test makes the root suite. Made by us, before the program is loaded, it would have the
 * program loaded under the async hook of the root: 15 ms of a process of 125 on Node 20. Its making is seen by the
 * listener that it sets on its own reporter; a stream that `run()` gave is another's.
 */
function addRootHooksLate(tests: TestPort, script: string): void {
  tests.runnerIs('node:test', script);
  const { prototype } = process.getBuiltinModule('node:stream').Readable;
  const listen = prototype.on;
  let isMade = false;
  function on(this: Readable, ...heard: Parameters<typeof listen>): Readable {
    if (!isMade && this.constructor?.name === 'TestsStream' && isCalledByHarness(on)) {
      isMade = true;
      // Unless somebody else has put another in our place.
      if (prototype.on === on) prototype.on = listen;
      if (prototype.addListener === on) prototype.addListener = listen;
      addRootHooks(tests, script);
    }
    return Reflect.apply(listen, this, heard);
  }
  prototype.on = on as typeof listen;
  prototype.addListener = on as typeof listen;
}

function isCalledByHarness(callee: (...heard: never) => unknown): boolean {
  const place: { stack?: string } = {};
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 1;
  Error.captureStackTrace(place, callee);
  // As a text now: where the program has set prepareStackTrace, it is called here.
  const text = String(place.stack);
  Error.stackTraceLimit = stackTraceLimit;
  return text.includes('test_runner/harness');
}

export function addRootHooks(tests: TestPort, script: string): void {
  tests.runnerIs('node:test', script);
  const { beforeEach, afterEach } = process.getBuiltinModule('node:test') as unknown as NodeTest;
  beforeEach((context) => {
    const { fullName, name, filePath = script } = context;
    tests.begin({ file: filePath, name: (fullName ?? name).split(' > ') }, context);
  });
  afterEach((context) => finish(tests, context, Boolean(context.error), context.error));
}

/** A test whose subtests failed is named by them. */
function finish(tests: TestPort, key: object, hasFailed: boolean, error: unknown): void {
  const failureType = (error as { failureType?: string } | undefined)?.failureType;
  const isOwn = hasFailed && failureType !== 'subtestsFailed' && failureType !== 'hookFailed';
  tests.end(key, isOwn ? 'failed' : 'passed', error);
}

const longestHead = 64 * 1024;

function namesNodeTest(script: string): boolean {
  try {
    return /['"]node:test['"]/.test(readFileSync(script, 'utf8').slice(0, longestHead));
  } catch {
    return false;
  }
}
