/**
 * Suites in which work that one test or hook began fails while another runs. At that instant, the suite itself records who
 * began it (truth.cjs): a word of the test's title, or `hook`.
 */
import { type RunnerName, runnerCommands } from '../support/runners/runner-matrix.ts';
import { wayNames } from './late-ways.ts';

export interface LateCase {
  name: string;
  command: readonly string[];
  files: Record<string, string>;
}

const names = 'pause, fail, later, rejectLater, exitLater, leave, serve, ask, askByFetch';
const globals = `const { ${names} } = require('./truth.cjs');\n`;
const modules = `import truth from './truth.cjs';\nconst { ${names} } = truth;\n`;
const long = '1500';
/** Needed because a runner may ignore the late error, and a green run leaves no report. */
const breaks = (test: string): string => `${test}('breaks', () => { throw new Error('of its own'); });`;

const tool = (runner: RunnerName): string => runnerCommands[runner][0];
const nodeTest = (name: string, code: string, more: Record<string, string> = {}): LateCase => ({
  name: `node:test, ${name}`,
  command: ['node', '--test', 'a.test.mjs', ...Object.keys(more)],
  files: {
    'a.test.mjs': `import { after, afterEach, before, beforeEach, describe, it, test } from 'node:test';\n${modules}${code}`,
    ...more,
  },
});
const mocha = (
  name: string,
  code: string,
  options: string[] = [],
  more: Record<string, string> = {},
): LateCase => ({
  name: `mocha, ${name}`,
  command: [tool('mocha'), ...options, 'a.cjs', ...Object.keys(more)],
  files: {
    'a.cjs': globals + code,
    ...Object.fromEntries(Object.entries(more).map(([file, text]) => [file, globals + text])),
  },
});
const jest = (
  name: string,
  code: string,
  options: string[] = ['-w=2'],
  more: Record<string, string> = {},
): LateCase => ({
  name: `jest, ${name}`,
  command: [tool('jest in band'), '--testMatch=**/*.spec.cjs', '--config={}', '--ci', ...options],
  files: {
    'a.spec.cjs': globals + code,
    ...Object.fromEntries(Object.entries(more).map(([file, text]) => [file, globals + text])),
  },
});
const vitest = (
  name: string,
  code: string,
  options: string[] = ['--pool', 'forks'],
  more: Record<string, string> = {},
): LateCase => {
  const head = `import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';\n${modules}`;
  return {
    name: `vitest, ${name}`,
    command: [tool('vitest forks'), 'run', ...options],
    files: {
      'vitest.config.mjs': `export default { test: { include: ['*.spec.mjs'] } };`,
      'a.spec.mjs': head + code,
      ...Object.fromEntries(Object.entries(more).map(([file, text]) => [file, head + text])),
    },
  };
};
const ava = (name: string, code: string): LateCase => ({
  name: `ava, ${name}`,
  command: [tool('ava'), 'a.mjs', '--timeout=1m'],
  files: { 'a.mjs': `import test from 'ava';\n${modules}${code}` },
});
const playwright = (name: string, code: string, retries = 0): LateCase => ({
  name: `playwright, ${name}`,
  command: [tool('playwright'), 'test', '-c', 'late.config.mjs'],
  files: {
    'late.config.mjs': `export default { testDir: '.', testMatch: 'a.pw.mjs', reporter: 'line', retries: ${retries}, outputDir: process.env.AGENTDUMP_TEST_OUTPUT };`,
    'a.pw.mjs': `import { test } from '@playwright/test';\n${modules}${code}`,
  },
});
const tap = (name: string, code: string): LateCase => ({
  name: `tap, ${name}`,
  command: [tool('tap'), '--disable-coverage', '--allow-empty-coverage', 'a.mjs'],
  files: { 'a.mjs': `import t from 'tap';\n${modules}${code}` },
});

/** Tests that ask one server, which no test started, as integration tests do. */
const askCode = (ask: 'ask' | 'askByFetch', test = 'test'): string =>
  `const server = serve();
${test}('asks first', () => ${ask}(server));
${test}('orders quince', () => ${ask}(server, 'quince'));
${test}('asks again', async () => { await ${ask}(server); await pause(${long}); });`;

const singleCases: readonly LateCase[] = [
  nodeTest('a request to a shared server', askCode('ask')),
  nodeTest('a fetch from a shared server', askCode('askByFetch')),
  mocha('a request to a shared server', `describe('shop', () => { ${askCode('ask', 'it')} });`),
  mocha('a fetch from a shared server', `describe('shop', () => { ${askCode('askByFetch', 'it')} });`),
  jest('a request to a shared server', askCode('ask')),
  vitest('a fetch from a shared server', askCode('askByFetch')),
  vitest('a request to a shared server', askCode('ask')),
  ava(
    'a fetch from a shared server',
    askCode('askByFetch')
      .replace(/\(\) => (ask\w*\(server[^)]*\))/g, 'async (t) => { await $1; t.pass(); }')
      .replace(/async \(\) => \{ /, 'async (t) => { t.pass(); '),
  ),

  nodeTest(
    'one of a table',
    `for (const n of ['ash', 'birch', 'cedar']) test('grows ' + n, () => { if (n === 'birch') later('birch'); });\ntest('waits', () => pause(${long}));`,
  ),
  nodeTest(
    'a rejection out of a nested suite',
    `describe('wood', () => { describe('inner', () => { it('fells oak', () => { void rejectLater('oak'); }); }); it('saws', () => pause(${long})); });`,
  ),
  nodeTest(
    'concurrent tests',
    `describe('mill', { concurrency: true }, () => { it('one', () => pause(${long})); it('grinds rye', async () => { later('rye'); await pause(20); }); it('three', () => pause(${long})); });`,
  ),
  nodeTest(
    'a subtest',
    `test('parent', async (t) => { await t.test('child elm', () => { later('elm'); }); await t.test('other', () => pause(${long})); });`,
  ),
  nodeTest(
    'a hook before all',
    `describe('port', () => { before(() => { later('hook'); }); it('loads', () => pause(${long})); });`,
  ),
  nodeTest(
    'a late exit',
    `test('leaves larch', () => { exitLater('larch'); });\ntest('waits', () => pause(${long}));`,
  ),
  nodeTest(
    'an unreferenced immediate chain',
    `test('spins yew', () => { const again = (n) => n ? setImmediate(again, n - 1) : setTimeout(fail, 60, 'yew').unref(); again(20); });\ntest('waits', () => pause(${long}));`,
  ),
  mocha(
    'a hook after each',
    `describe('dock', () => { let n = 0; afterEach(() => { if (n++ === 0) later('hook'); }); it('first', () => {}); it('second', () => pause(${long})); });`,
  ),
  mocha(
    'a root hook before each',
    `let n = 0; beforeEach(() => { if (n++ === 0) later('hook'); }); describe('dock', () => { it('first', () => {}); it('second', () => pause(${long})); });`,
  ),
  mocha(
    'a root hook before all',
    `before(() => { later('hook'); }); describe('dock', () => { it('first', () => {}); it('second', () => pause(${long})); });`,
  ),
  mocha(
    'a root hook of a plug-in',
    `describe('dock', () => { it('first', () => {}); it('second', () => pause(${long})); });`,
    ['--require', './root.cjs'],
    { 'root.cjs': `let n = 0; exports.mochaHooks = { beforeAll() { later('hook'); } };` },
  ),
  mocha(
    'a root hook of a plug-in, beside other files',
    `describe('dock', () => { it('first', () => {}); it('second', () => pause(${long})); });`,
    ['--parallel', '--require', './root.cjs'],
    {
      'root.cjs': `exports.mochaHooks = { beforeAll() { if (process.argv.length < 9) later('hook'); } };`,
      'b.cjs': `describe('b', () => { it('waits', () => pause(${long})); });`,
    },
  ),
  mocha(
    'a retried test',
    `describe('crane', function () { this.retries(2); let tries = 0; it('lifts teak', () => { if (tries++ === 0) { later('teak'); throw new Error('again'); } }); it('rests', () => pause(${long})); });`,
  ),
  mocha(
    'a timer that fires in the next file',
    `describe('a', () => { it('leaves fir', () => { later('fir', 200); }); });`,
    [],
    { 'b.cjs': `describe('b', () => { it('waits', () => pause(${long})); });` },
  ),
  mocha(
    'a late exit out of an emitter',
    `const { EventEmitter } = require('node:events'); describe('a', () => { it('emits pine', () => { const own = new EventEmitter(); own.on('go', () => exitLater('pine')); own.emit('go'); }); it('waits', () => pause(${long})); });`,
  ),
  mocha(
    'beside other files',
    `describe('a', () => { it('leaves fig', () => { later('fig'); }); it('waits', () => pause(${long})); });`,
    ['--parallel'],
    { 'b.cjs': `describe('b', () => { it('waits too', () => pause(${long})); });` },
  ),
  mocha(
    'a callback test',
    `const { readFile } = require('node:fs'); describe('a', () => { it('reads lime', (done) => { readFile(__filename, () => { later('lime'); done(); }); }); it('waits', () => pause(${long})); });`,
  ),
  jest(
    'one of a table',
    `test.each(['ash', 'birch', 'cedar'])('grows %s', (n) => { if (n === 'birch') later('birch'); });\ntest('waits', () => pause(${long}));`,
  ),
  jest(
    'concurrent tests',
    `test.concurrent('one', () => pause(${long}));\ntest.concurrent('grinds rye', async () => { later('rye'); await pause(20); });\ntest.concurrent('three', () => pause(${long}));`,
    ['-i'],
  ),
  jest(
    'a retried test',
    `jest.retryTimes(2); let tries = 0; test('lifts teak', () => { if (tries++ === 0) { later('teak'); throw new Error('again'); } });\ntest('rests', () => pause(${long}));\n${breaks('test')}`,
  ),
  jest(
    'a hook before each',
    `let n = 0; beforeEach(() => { if (n++ === 0) later('hook'); });\ntest('first', () => {});\ntest('second', () => pause(${long}));`,
  ),
  jest(
    'a rejection in band',
    `describe('wood', () => { test('fells oak', () => { void rejectLater('oak'); }); test('saws', () => pause(${long})); });`,
    ['-i'],
  ),
  vitest(
    'one of a table',
    `test.each(['ash', 'birch', 'cedar'])('grows %s', (n) => { if (n === 'birch') later('birch'); });\ntest('waits', () => pause(${long}));`,
  ),
  vitest(
    'concurrent tests',
    `test.concurrent('one', () => pause(${long}));\ntest.concurrent('grinds rye', async () => { later('rye'); await pause(20); });\ntest.concurrent('three', () => pause(${long}));`,
  ),
  vitest(
    'a retried test',
    `let tries = 0; test('lifts teak', { retry: 2 }, () => { if (tries++ === 0) { later('teak'); throw new Error('again'); } });\ntest('rests', () => pause(${long}));`,
  ),
  vitest(
    'a hook after all',
    `describe('a', () => { afterAll(() => { later('hook'); }); test('first', () => {}); });\ndescribe('b', () => { test('waits', () => pause(${long})); });`,
  ),
  vitest(
    'a timer that fires in the next file',
    `test('leaves fir', () => { later('fir', 400); });`,
    ['--pool', 'forks', '--no-isolate', '--no-file-parallelism'],
    { 'b.spec.mjs': `test('waits', () => pause(${long}));` },
  ),
  vitest(
    'a rejection in a thread',
    `describe('wood', () => { test('fells oak', () => { void rejectLater('oak'); }); test('saws', () => pause(${long})); });`,
    ['--pool', 'threads'],
  ),
  ava(
    'concurrent tests',
    `test('one', () => pause(${long}).then(() => {}));\ntest('grinds rye', async (t) => { later('rye'); await pause(20); t.pass(); });\ntest('three', async (t) => { await pause(${long}); t.pass(); });`,
  ),
  ava(
    'a serial rejection',
    `test.serial('fells oak', (t) => { void rejectLater('oak'); t.pass(); });\ntest.serial('saws', async (t) => { await pause(${long}); t.pass(); });`,
  ),
  ava(
    'a hook after each',
    `let n = 0; test.afterEach.always(() => { if (n++ === 0) later('hook'); });\ntest.serial('first', (t) => t.pass());\ntest.serial('second', async (t) => { await pause(${long}); t.pass(); });`,
  ),
  playwright(
    'a retried test',
    `let tries = 0; test('lifts teak', ({}, info) => { if (info.retry === 0) throw new Error('again'); later('teak'); });\ntest('rests', () => pause(${long}));\n${breaks('test')}`,
    1,
  ),
  playwright(
    'a hook before all',
    `test.beforeAll(() => { later('hook', 400); });\ntest('first', () => {});\ntest('second', () => pause(${long}));`,
  ),
  playwright(
    'one of a table',
    `for (const n of ['ash', 'birch', 'cedar']) test('grows ' + n, () => { if (n === 'birch') void rejectLater('birch'); });\ntest('waits', () => pause(${long}));`,
  ),
  tap(
    'a nested subtest',
    `t.test('parent', async (t) => { await t.test('child elm', async () => { later('elm'); }); await t.test('other', () => pause(${long})); });`,
  ),
  tap(
    'a hook before each',
    `let n = 0; t.beforeEach(() => { if (n++ === 0) later('hook'); });\nt.test('first', async () => {});\nt.test('second', () => pause(${long}));`,
  ),
];

const plainSuites: readonly ((name: string, leave: string) => LateCase)[] = [
  (name, leave) =>
    nodeTest(name, `test('leaves maple', () => { ${leave} });\ntest('waits', () => pause(${long}));`),
  (name, leave) =>
    mocha(
      name,
      `describe('a', () => { it('leaves maple', () => { ${leave} }); it('waits', () => pause(${long})); ${breaks('it')} });`,
    ),
  (name, leave) =>
    jest(
      name,
      `test('leaves maple', () => { ${leave} });\ntest('waits', () => pause(${long}));\n${breaks('test')}`,
      ['-i'],
    ),
  (name, leave) =>
    vitest(name, `test('leaves maple', () => { ${leave} });\ntest('waits', () => pause(${long}));`),
  (name, leave) =>
    ava(
      name,
      `test.serial('leaves maple', (t) => { ${leave} t.pass(); });\ntest.serial('waits', async (t) => { await pause(${long}); t.pass(); });`,
    ),
  (name, leave) =>
    playwright(name, `test('leaves maple', () => { ${leave} });\ntest('waits', () => pause(${long}));`),
  (name, leave) =>
    tap(name, `t.test('leaves maple', async () => { ${leave} });\nt.test('waits', () => pause(${long}));`),
];

/** Every way in every runner, and the suites that exist for one runner only. */
export const lateCases: readonly LateCase[] = [
  ...singleCases,
  ...wayNames.flatMap((way) => plainSuites.map((suite) => suite(way, `leave('${way}', 'maple');`))),
];
