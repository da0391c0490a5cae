/** One fault has one signature: which changes must not alter it, and which must. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeSignature } from '../../../src/analysis/signature.ts';
import type { Account } from '../../../src/model/account.ts';
import type { Frame } from '../../../src/model/thread.ts';
import type { Verdict } from '../../../src/model/verdict.ts';

interface Variation {
  root?: string;
  line?: number;
  message?: string;
  fn?: string;
  name?: string;
  chunk?: string;
}
const verdict: Verdict = {
  kind: 'uncaught-exception',
  title: '',
  summary: '',
  confidence: 'certain',
  evidence: [],
  refutedBy: '',
  nextSteps: [],
};

function account(variation: Variation = {}): Account {
  const {
    root = '/srv/app',
    line = 10,
    message = 'job 17 failed',
    fn = 'run',
    name = 'Error',
    chunk = 'main',
  } = variation;
  const frame = (f: string, file: string): Frame => ({
    function: f,
    ...(file !== undefined && { file }),
    line,
    column: 3,
    inApp: !file.includes('node_modules') && !file.startsWith('node:'),
    trust: 'stack-text',
  });
  return {
    schema: 'agentdump.analysis/1',
    verdict,
    process: { pid: line, cwd: root },
    error: {
      name,
      message,
      frames: [
        frame('emit', 'node:events'),
        frame('query', `${root}/node_modules/pg/lib/client.js`),
        frame(fn, `${root}/dist/${chunk}.js`),
        frame(fn, `${root}/dist/${chunk}.js`),
        frame('async main', `file://${root}/dist/${chunk}.js`),
      ],
    },
    gaps: [],
  };
}
const idOf = (variation?: Variation) => computeSignature(account(variation))?.id;

test('the parts say what was hashed', () => {
  const signature = computeSignature(account());
  assert.deepEqual(signature?.parts, [
    'kind:thrown',
    'error:Error',
    'message:job <value> failed',
    'frame:run@main.js',
    'frame:main@main.js',
  ]);
  assert.match(signature?.id ?? '', /^[0-9a-f]{16}$/);
  assert.equal(signature?.version, 5);
});

test('stable across roots, lines, numbers and hashes of chunks', () => {
  assert.equal(idOf({ root: '/home/x/y', line: 99, message: 'job 2,345 failed' }), idOf());
  assert.equal(idOf({ chunk: 'main-4F7QKZ2A' }), idOf({ chunk: 'main-9XB2LL0P' }));
});

test('another function, error or message is another fault', () => {
  const variations = [{}, { fn: 'stop' }, { name: 'TypeError' }, { message: 'no route' }];
  assert.equal(new Set(variations.map(idOf)).size, 4);
});

test('a signal has no frames in its signature, an exit its code', () => {
  const { error, ...rest } = account();
  const stopped = {
    ...rest,
    verdict: { ...verdict, kind: 'terminated' as const },
    signal: { name: 'SIGTERM' },
    threads: [{ id: 0, kind: 'main' as const, crashed: true, frames: error?.frames ?? [] }],
  };
  assert.deepEqual(computeSignature(stopped)?.parts, ['kind:terminated', 'signal:SIGTERM']);
  const exited = { ...rest, verdict: { ...verdict, kind: 'exit' as const }, process: { exit: { code: 3 } } };
  assert.deepEqual(computeSignature(exited)?.parts, ['kind:exit', 'exit:3']);
});

const framesOf = (...frames: [name: string, file: string | undefined][]) => {
  const { error, ...rest } = account();
  const made = frames.map(([name, file]) => ({
    function: name,
    ...(file !== undefined && { file }),
    line: 1,
    column: 1,
    inApp: file !== undefined,
    trust: 'stack-text' as const,
  }));
  return computeSignature({ ...rest, error: { ...error, frames: made } })?.parts.filter((part) =>
    part.startsWith('frame:'),
  );
};

test('three functions that have a name of their own, by the names of their files', () => {
  const way: [string, string][] = [
    ['check', '/srv/app/src/lib/check.js'],
    ['', '/srv/app/src/orders/index.js'],
    ['Timeout._onTimeout', '/srv/app/src/main.js'],
    ['pay', '/srv/app/src/orders/index.js'],
    ['run', '/srv/app/src/run.js'],
    ['start', '/srv/app/src/main.js'],
  ];
  assert.deepEqual(framesOf(...way), ['frame:check@check.js'], 'who calls a callback later is the way there');
  const atOnce: [string, string | undefined][] = [
    ...way.slice(0, 2),
    ['Array.forEach', undefined],
    ...way.slice(3),
  ];
  assert.deepEqual(framesOf(...atOnce), [
    'frame:check@check.js',
    'frame:pay@orders/index.js',
    'frame:run@run.js',
  ]);
  assert.deepEqual(
    framesOf(['', '/srv/app/src/main.js']),
    ['frame:(anonymous)@main.js'],
    'unless none has one',
  );
});

test('whether somebody awaited it is no matter of the fault', () => {
  const rejected = { ...account(), verdict: { ...verdict, kind: 'unhandled-rejection' as const } };
  assert.equal(computeSignature(rejected)?.id, idOf());
  const text =
    'This error originated either by throwing … The promise rejected with the reason "bad state 17".';
  const error = { name: 'UnhandledPromiseRejection', code: 'ERR_UNHANDLED_REJECTION', message: text };
  assert.deepEqual(computeSignature({ ...rejected, error })?.parts, [
    'kind:thrown',
    'error:thrown value',
    'message:bad state <value>',
  ]);
});
