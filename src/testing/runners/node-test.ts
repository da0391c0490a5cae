/**
 * node:test. Since Node 24 through the channel `tracing:node.test` (doc/api/test.md), in every process. Before that through
 * the reporter of the process (node-test-reporter.ts), if the runner has started it or its script mentions `node:test`.
 */
import { readFileSync } from 'node:fs';
import type { TestPort } from '../../agent/api/test-port.ts';
import { hearReporter, isOwnFailure } from './node-test-reporter.ts';
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
    if (Number(process.versions.node.split('.')[0]) >= 24) listen(tests);
    // A worker thread started by a test runs no tests of its own, unless its script mentions them.
    else if ((isChild && isMainThread) || (!isRunner && namesNodeTest(script))) hearReporter(tests, script);
  },
};

function listen(tests: TestPort): void {
  const { channel, subscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const find = ({ name, nesting, file }: ChannelMessage) =>
    open.find(({ message }) => message.name === name && message.nesting === nesting && message.file === file);
  /** Suites start when they are declared, and run in that order; tests start when they run. */
  const open: { message: ChannelMessage; isSuite: boolean }[] = [];
  const errors = new WeakMap<object, unknown>();
  /** Suites without a selected test start and never end, so which of them is the parent is not known. */
  const isFiltered = process.execArgv.some((word) => /^--test-(?:name-pattern|skip-pattern|only)/.test(word));
  const parentAt = (nesting: number): string[] => {
    if (nesting < 0) return [];
    const level = open.filter(({ message }) => message.nesting === nesting);
    const parent =
      level.find(({ isSuite }) => !isSuite) ?? (isFiltered && level.length > 1 ? undefined : level[0]);
    return parent ? [...parentAt(nesting - 1), parent.message.name] : [];
  };
  subscribe('tracing:node.test:start', (raw) => {
    const message = raw as ChannelMessage;
    // An entry of the runner itself: a file, or the whole run.
    if (message.file === undefined || message.name === '<root>') return;
    tests.runnerIs('node:test', message.file);
    const isSuite = message.type === 'suite';
    if (!isSuite) {
      const name = [...parentAt(message.nesting - 1), message.name];
      tests.begin({ file: message.file, name }, message);
    }
    open.push({ message, isSuite });
  });
  // Node runs each test inside of the store that is bound here.
  channel('tracing:node.test:start').bindStore(tests.causal.storage, (raw) => {
    const { file, name, type } = raw as ChannelMessage;
    const isTest = file !== undefined && name !== '<root>' && type !== 'suite';
    return isTest ? tests.contextOf(raw as object) : tests.causal.current;
  });
  subscribe('tracing:node.test:error', (raw) => {
    // This message is a different object from those of start and end.
    const started = find(raw as ChannelMessage);
    if (started) errors.set(started.message, (raw as ChannelMessage).error);
  });
  subscribe('tracing:node.test:end', (raw) => {
    const at = open.findIndex(({ message }) => message === raw);
    if (at >= 0) open.splice(at, 1);
    finish(tests, raw as object, errors.has(raw as object), errors.get(raw as object));
  });
}

function finish(tests: TestPort, key: object, hasFailed: boolean, error: unknown): void {
  tests.end(key, hasFailed && isOwnFailure(error) ? 'failed' : 'passed', error);
}

const longestHead = 64 * 1024;

function namesNodeTest(script: string): boolean {
  try {
    return /['"]node:test['"]/.test(readFileSync(script, 'utf8').slice(0, longestHead));
  } catch {
    return false;
  }
}
