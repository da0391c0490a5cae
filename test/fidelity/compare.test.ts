/** What the comparison must treat as equal, and what as different. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareRuns, compareText, type Run } from './compare.ts';

const run = (more: Partial<Run>): Run => ({
  code: 0,
  signal: null,
  stdout: '',
  stderr: '',
  files: new Map(),
  ...more,
});

const levelOf = (bare: readonly string[], loaded: string): [string, boolean] => {
  const { level, difference } = compareText('stdout', bare, loaded);
  return [level, difference === undefined];
};

test('runs that agree are compared exactly', () => {
  assert.deepEqual(levelOf(['a 1', 'a 1'], 'a 1'), ['exact', true]);
  assert.deepEqual(levelOf(['a 1', 'a 1'], 'a 2'), ['exact', false]);
});

test('what differs between runs without the preload is left out, and no more', () => {
  assert.deepEqual(levelOf(['pid 71, 3 files', 'pid 72, 3 files'], 'pid 73, 3 files'), ['numbers', true]);
  assert.deepEqual(levelOf(['pid 71', 'pid 72'], 'pid 73\nmore'), ['numbers', false]);
  assert.deepEqual(levelOf(['ok a (2 ms)', 'ok a (1.5 ms)'], 'ok a'), ['numbers', true]);
  assert.deepEqual(levelOf(['key ab12cd', 'key ef34ab'], 'key 9a8b7c'), ['names', true]);
  assert.deepEqual(levelOf(['one\ntwo', 'two\none'], 'one\ntwo'), ['order', true]);
  assert.deepEqual(levelOf(['one\ntwo', 'two\none'], 'one\ntwo\nthree'), ['order', false]);
  assert.deepEqual(levelOf(['wait\nwait\nend', 'wait\nend'], 'wait\nwait\nwait\nend'), ['lines', true]);
  assert.deepEqual(levelOf(['wait\nwait\nend', 'wait\nend'], 'wait\nwait\nwait'), ['lines', false]);
  assert.deepEqual(levelOf(['begin\nred', 'begin\nblue'], 'begin\ngreen'), ['common', true]);
  assert.deepEqual(levelOf(['begin\nred', 'begin\nblue'], 'red'), ['common', false]);
});

test('how a program ended is compared exactly, and so is each file', () => {
  const what = (bare: Partial<Run>[], loaded: Partial<Run>) =>
    compareRuns(bare.map(run), run(loaded)).differences.map((difference) => difference.what);
  assert.deepEqual(what([{ code: 1 }, { code: 1 }], { code: 1 }), []);
  assert.deepEqual(what([{ code: 1 }, { code: 1 }], { code: 0 }), ['exit']);
  assert.deepEqual(
    what(
      [
        { code: null, signal: 'SIGTERM' },
        { code: null, signal: 'SIGTERM' },
      ],
      { code: 143 },
    ),
    ['exit'],
  );
  assert.deepEqual(what([{ code: 1 }, { code: 2 }], { code: 2 }), []);
  const files = (text: string, name = 'a') => ({ files: new Map([[name, `100644\n${text}`]]) });
  assert.deepEqual(what([files('x'), files('x')], files('y')), ['file a']);
  assert.deepEqual(what([files('x'), files('x')], files('x', 'b')), ['files']);
  assert.deepEqual(what([files('at 12:30:01'), files('at 12:30:02')], files('at 12:30:03')), []);
  assert.deepEqual(what([files('x'), files('x')], {}), ['files']);
});
