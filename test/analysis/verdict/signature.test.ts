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
  assert.equal(signature?.version, 8);
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

interface Sourced {
  name: string;
  text?: string;
  column?: number;
  file?: string;
}

/** Frames with the source line of each; the column is where `▼` stands in it. */
const sourced = (...frames: Sourced[]) => {
  const { error, ...rest } = account();
  const made = frames.map(({ name, text, file = '/srv/app/src/app.js' }, n): Frame => {
    const column = text === undefined ? 1 : text.indexOf('▼') + 1;
    return {
      function: name,
      file,
      line: n + 1,
      column,
      inApp: !file.startsWith('node:'),
      trust: 'stack-text',
      ...(text !== undefined && { source: [{ line: n + 1, text: text.replace('▼', '') }] }),
    };
  });
  return { ...rest, error: { ...error, frames: made } };
};
const partsOf = (of: Omit<Account, 'signature'>) =>
  computeSignature(of)?.parts.filter((part) => part.startsWith('frame:'));

test('who calls a function through a variable only shows how the fault was reached', () => {
  const top: Sourced = { name: 'must', text: '  ▼throw new Error(what);' };
  const named: Sourced = { name: 'loadUser', text: '  return ▼must(user);' };
  const expected = ['frame:must@app.js', 'frame:loadUser@app.js'];
  const dispatchers: Sourced[] = [
    { name: 'start', text: '  return ▼handler();' },
    { name: 'Router.handle', text: '  await this.routes.▼get(path)(request);' },
    { name: 'async later', text: '  ▼await task();' },
    { name: 'each', text: '  jobs.▼forEach((job) => job());' },
  ];
  for (const dispatcher of dispatchers)
    assert.deepEqual(partsOf(sourced(top, named, dispatcher)), expected, dispatcher.name);
});

test('a caller that names what it calls belongs to the fault, and one whose source is not known', () => {
  const top: Sourced = { name: 'Basket.total', text: '  ▼throw new Error(what);' };
  const callers: Sourced[] = [
    { name: 'pay', text: '  const sum = basket.▼total();' },
    { name: 'pay', text: '  const sum = (0, ▼basket_1.total)(1);' },
    { name: 'pay', text: '  return ▼await basket.total();' },
    { name: 'pay', text: '  return lines.▼map(total);' },
    { name: 'pay' },
    { name: 'pay', text: '' },
  ];
  for (const caller of callers)
    assert.deepEqual(partsOf(sourced(top, caller)), ['frame:total@app.js', 'frame:pay@app.js'], caller.text);
  const implicit: Sourced[] = [
    { name: 'toString', text: '  ▼throw new Error(what);' },
    { name: 'show', text: '  return ▼price + 1;' },
  ];
  assert.equal(partsOf(sourced(...implicit))?.length, 2);
  const constructed: Sourced[] = [
    { name: 'new Base', text: '  ▼throw new Error(what);' },
    { name: 'new Derived', text: '    ▼super(options);' },
  ];
  assert.equal(partsOf(sourced(...constructed))?.length, 2);
});

test('of a method, the class of the object that it was called on is left out', () => {
  const of = (name: string) => partsOf(sourced({ name }, { name: 'main' }));
  assert.deepEqual(of('SqlStore.save'), of('FileStore.save'));
  assert.deepEqual(of('l.save'), of('save'));
});

test('which function of a recursion was the last one is chance', () => {
  const cycle = ['visit', 'children', 'visit', 'children', 'visit', 'children'].map((name) => ({ name }));
  const overflow = (frames: Sourced[]) => {
    const made = sourced(...frames);
    return computeSignature({
      ...made,
      error: { ...made.error, name: 'RangeError', message: 'Maximum call stack size exceeded' },
    })?.parts;
  };
  assert.deepEqual(overflow(cycle), overflow(cycle.slice(1)));
  assert.deepEqual(overflow([{ name: 'leaf' }, ...cycle]), overflow(cycle));
  assert.notDeepEqual(overflow(cycle), overflow(cycle.map(({ name }) => ({ name: `${name}2` }))));
});

test('an error without a frame of the program has those that began what failed, or those of its cause', () => {
  const own = sourced({ name: 'call' }, { name: 'search' }).error.frames;
  const { error: _, ...rest } = account();
  const foreign = [{ ...own[0]!, file: 'node:internal/deps/undici/undici', inApp: false }];
  const failed = { name: 'TypeError', message: 'fetch failed' };
  const expected = ['frame:call@app.js', 'frame:search@app.js'];
  assert.deepEqual(
    partsOf({ ...rest, error: { ...failed, begun: { what: 'request', frames: own } } }),
    expected,
  );
  const cause = { name: 'Error', message: 'bad port', frames: [...foreign, ...own] };
  assert.deepEqual(partsOf({ ...rest, error: { ...failed, frames: foreign, cause } }), expected);
  assert.deepEqual(
    partsOf({ ...rest, error: { ...failed, frames: own, cause: { ...cause, frames: foreign } } }),
    expected,
  );
});

test('what an error of the program quotes is data, unless it is the engine that quotes', () => {
  const moved = (to: string) => idOf({ message: `cannot move account from "open" to "${to}"` });
  assert.equal(moved('closed'), moved('deleted'));
  const read = (name: string) => idOf({ name: 'TypeError', message: `"${name}" is not a field` });
  assert.notEqual(read('a'), read('b'));
});

test('whether a value was null or undefined is a matter of the data', () => {
  const same = [
    [
      "Cannot read properties of null (reading 'total')",
      "Cannot read properties of undefined (reading 'total')",
    ],
    [
      "Cannot destructure property 'id' of 'order' as it is undefined.",
      "Cannot destructure property 'id' of 't.order' as it is null.",
    ],
    ['undefined is not iterable', 'object null is not iterable'],
  ];
  for (const [a, b] of same) assert.equal(idOf({ message: a! }), idOf({ message: b! }), a);
  assert.notEqual(
    idOf({ message: "Cannot read properties of null (reading 'total')" }),
    idOf({ message: "Cannot read properties of null (reading 'count')" }),
  );
});
