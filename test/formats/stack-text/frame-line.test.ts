/** One frame line of every form that V8, Node 20 to 26 and their users print. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFrameLine } from '../../../src/formats/stack-text/frame-line.ts';

const frameOf = (line: string) => parseFrameLine(line)?.frame;

/** The line, and what must be parsed from it: name, file, line, column. */
const sourceForms: [string, string | undefined, string, number, number | undefined][] = [
  ['    at foo (/app/a.js:10:5)', 'foo', '/app/a.js', 10, 5],
  ['    at /app/a.js:10:5', undefined, '/app/a.js', 10, 5],
  ['\tat foo (/app/a.js:10:5)', 'foo', '/app/a.js', 10, 5],
  ['at foo (/app/a.js:10:5)', 'foo', '/app/a.js', 10, 5],
  ['    at foo (/app/a.js:10)', 'foo', '/app/a.js', 10, undefined],
  ['    at Object.<anonymous> (/app/a.js:1:7)', 'Object.<anonymous>', '/app/a.js', 1, 7],
  ['    at /home/u/My App (1)/a.js:1:2', undefined, '/home/u/My App (1)/a.js', 1, 2],
  ['    at foo (/home/u/My App (1)/a.js:1:2)', 'foo', '/home/u/My App (1)/a.js', 1, 2],
  ['    at foo (/a:b/c:1/d.js:3:4)', 'foo', '/a:b/c:1/d.js', 3, 4],
  ['    at foo (/a, b/c.js:3:4)', 'foo', '/a, b/c.js', 3, 4],
  ['    at foo (C:\\Program Files (x86)\\app\\a.js:3:4)', 'foo', 'C:\\Program Files (x86)\\app\\a.js', 3, 4],
  ['    at C:\\app\\a.js:3:4', undefined, 'C:\\app\\a.js', 3, 4],
  ['    at foo (\\\\server\\share\\a.js:3:4)', 'foo', '\\\\server\\share\\a.js', 3, 4],
  ['    at foo (file:///app/a%20b/%C3%BC.mjs:3:4)', 'foo', '/app/a b/ü.mjs', 3, 4],
  ['    at file:///app/a.mjs?x=1#y:3:4', undefined, '/app/a.mjs', 3, 4],
  ['    at foo (file:///C:/app/a.mjs:3:4)', 'foo', 'C:\\app\\a.mjs', 3, 4],
  ['    at foo (file://server/share/a.mjs:3:4)', 'foo', '\\\\server\\share\\a.mjs', 3, 4],
  ['    at foo (file:///app/100%.mjs:3:4)', 'foo', '/app/100%.mjs', 3, 4],
  [
    '    at node:internal/main/run_main_module:28:49',
    undefined,
    'node:internal/main/run_main_module',
    28,
    49,
  ],
  ['    at internal/main/run_main_module.js:17:47', undefined, 'internal/main/run_main_module.js', 17, 47],
  ['    at foo (internal/timers.js:17:47)', 'foo', 'internal/timers.js', 17, 47],
  ['    at t (/app/bundle.min.js:1:1048576)', 't', '/app/bundle.min.js', 1, 1048576],
  ['    at [eval]:1:7', undefined, '[eval]', 1, 7],
  ['    at foo ([worker eval]:1:7)', 'foo', '[worker eval]', 1, 7],
  ['    at REPL1:1:7', undefined, 'REPL1', 1, 7],
  ['    at evalmachine.<anonymous>:1:7', undefined, 'evalmachine.<anonymous>', 1, 7],
  ['    at foo (webpack-internal:///./src/a.ts:3:4)', 'foo', 'webpack-internal:///./src/a.ts', 3, 4],
  ['    at <anonymous>:1:3', undefined, '<anonymous>', 1, 3],
  ['    at data:text/javascript,throw%201:1:3', undefined, 'data:text/javascript,throw%201', 1, 3],
  ['    at get size (/app/a.js:1:2)', 'get size', '/app/a.js', 1, 2],
  ['    at Foo.[Symbol.iterator] (/app/a.js:1:2)', 'Foo.[Symbol.iterator]', '/app/a.js', 1, 2],
  ['    at Foo.odd name (really) (/app/a.js:1:2)', 'Foo.odd name (really)', '/app/a.js', 1, 2],
  ['    at Foo.#secret (/app/a.js:1:2)', 'Foo.#secret', '/app/a.js', 1, 2],
];

for (const [line, name, file, row, column] of sourceForms)
  test(`reads ${line.trim()}`, () => {
    const frame = frameOf(line);
    assert.equal(frame?.location.kind, 'source');
    if (frame?.location.kind !== 'source') return;
    const { position } = frame.location;
    assert.deepEqual(
      [frame.functionName, position.file, position.line, position.column],
      [name, file, row, column],
    );
    assert.equal(frame.raw, line.trim());
  });

test('reads async, new, alias', () => {
  const async = frameOf('    at async Agent.run [as start] (/app/a.js:1:2)');
  assert.deepEqual([async?.async, async?.functionName, async?.alias], [true, 'Agent.run', 'start']);
  const bare = frameOf('    at async file:///app/a.mjs:1:2');
  assert.deepEqual([bare?.async, bare?.functionName, bare?.location.kind], [true, undefined, 'source']);
  const made = frameOf('    at new Agent (/app/a.js:1:2)');
  assert.deepEqual([made?.construct, made?.functionName], [true, 'Agent']);
  const computed = frameOf('    at Object.<computed> [as a b] (/app/a.js:1:2)');
  assert.deepEqual([computed?.functionName, computed?.alias], ['Object.<computed>', 'a b']);
  const asyncNew = frameOf('    at async new Agent (/app/a.js:1:2)');
  assert.deepEqual([asyncNew?.async, asyncNew?.construct, asyncNew?.functionName], [true, true, 'Agent']);
});

test('reads frames without a position', () => {
  assert.deepEqual(frameOf('    at async Promise.all (index 3)')?.location, { kind: 'promise', index: 3 });
  assert.deepEqual(frameOf('    at Array.map (<anonymous>)')?.location, { kind: 'anonymous' });
  assert.deepEqual(frameOf('    at Array.map (native)')?.location, { kind: 'native' });
  assert.deepEqual(frameOf('    at <anonymous>')?.location, { kind: 'anonymous' });
  assert.deepEqual(frameOf('    at foo (unknown location)')?.location, { kind: 'anonymous' });
});

test('reads eval inside eval, from the inside out', () => {
  const frame = frameOf(
    '    at eval (eval at g (eval at f (/a (b)/c.js:7:9), <anonymous>:3:4), <anonymous>:1:2)',
  );
  assert.equal(frame?.functionName, 'eval');
  assert.deepEqual(frame?.location, {
    kind: 'eval',
    position: { file: '<anonymous>', line: 1, column: 2 },
    origins: [
      { functionName: 'g', file: '<anonymous>', line: 3, column: 4 },
      { functionName: 'f', file: '/a (b)/c.js', line: 7, column: 9 },
    ],
  });
  const named = frameOf('    at eval (eval at <anonymous> (file:///a.mjs:1:2), made-up.js:5:6)');
  assert.equal(named?.location.kind, 'eval');
  if (named?.location.kind !== 'eval') return;
  assert.deepEqual(named.location.position, { file: 'made-up.js', line: 5, column: 6 });
  assert.deepEqual(named.location.origins[0]?.file, '/a.mjs');
});

test('reads wasm frames', () => {
  assert.deepEqual(frameOf('    at wasm://wasm/8e6d5a1e:wasm-function[3]:0x12')?.location, {
    kind: 'wasm',
    module: 'wasm://wasm/8e6d5a1e',
    functionIndex: 3,
    offset: 18,
  });
  const named = frameOf('    at go.run (wasm://wasm/go-8e6d5a1e:wasm-function[1234]:0xABC)');
  assert.deepEqual([named?.functionName, named?.location.kind], ['go.run', 'wasm']);
});

const noFrames = [
  'at least one thing',
  '    at least one thing (or two)',
  '    at 10:30 we met',
  '    at 10:30',
  '    at <unknown> (Error: listen EADDRINUSE: address already in use :::3000)',
  '    at (/app/a.js)',
  '    at foo (/app/a.js)',
  '    at foo (/app/a.js:0:1)',
  '    at wasm://wasm/8e6d5a1e:wasm-function[]:0x12',
  'atfoo (/app/a.js:1:2)',
  '    at ',
  '',
];
for (const line of noFrames)
  test(`${JSON.stringify(line)} is no frame`, () => {
    assert.equal(frameOf(line), undefined);
  });
