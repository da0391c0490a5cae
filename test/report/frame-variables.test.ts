/** Variables of frames in the text: the frame's own first, few of enclosing scopes, and no source of functions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Account, accountSchema } from '../../src/model/account.ts';
import type { Frame, LocalVariable } from '../../src/model/thread.ts';
import { renderText } from '../../src/report/text.ts';

const local = (name: string, value: string, scope = 'local'): LocalVariable => ({ name, value, scope });
const frame = (name: string, inApp: boolean, locals?: LocalVariable[]): Frame => ({
  function: name,
  file: inApp ? `/app/${name}.js` : `/app/node_modules/router/${name}.js`,
  line: 3,
  column: 1,
  inApp,
  trust: 'inspector',
  ...(locals && { locals }),
});
const stackOf = (frames: Frame[]): string => {
  const threads = [{ id: 0, kind: 'main', crashed: false, frames }];
  const text = renderText({ schema: accountSchema, gaps: [], threads } as Account);
  return text.slice(text.indexOf('\nStack'));
};

test('a function is its first line, also in bundles that hold its source; of the module only values are shown', () => {
  const source = "function settle (req, options = {}) {\n  return 'a'\n}";
  const text = stackOf([
    frame('location', true, [
      local('url', '"http://127.0.0.1/"'),
      local('settle', source),
      local('handler', 'async (req) => {\n  await 1;\n}'),
      local('method', '*rows (n) {\n  yield 1;\n}'),
      local('send', source, 'closure'),
      local('resolve', 'ƒ resolve(...args)', 'closure'),
      local('later', 'functionCall(args) {\n  return 1;\n}'),
      local('each', 'functions => functions.map(x)'),
      local('path', 'Object {join: ƒ, resolve: ƒ, sep: "/", …}', 'closure'),
      local('Client', 'class Client extends Base {\n  #key;\n}', 'closure'),
      ...Array.from({ length: 9 }, (_, n) => local(`outer${n}`, String(n), 'closure')),
    ]),
  ]);
  assert.match(text, /^ {8}url = "http:\/\/127\.0\.0\.1\/"$/m);
  assert.match(text, /^ {8}settle = ƒ settle \(req, options = \{\}\)$/m);
  assert.match(text, /^ {8}handler = ƒ async \(req\) =>$/m);
  assert.match(text, /^ {8}later = ƒ functionCall\(args\)$/m);
  assert.match(text, /^ {8}each = ƒ functions => functions\.map\(x\)$/m);
  assert.match(text, /^ {8}method = ƒ \*rows \(n\)$/m);
  assert.match(text, /outer3 = 3\n {8}… 9 more variables$/m);
  assert.doesNotMatch(text, /return 'a'|#key|Client|send =|path =|resolve =/);
});

test('Buffers, typed arrays, collections and objects with a method are values', () => {
  const values = [
    'Buffer(5) {0: 104, 1: 105, …}',
    'Float64Array(2) {0: 1.5, 1: 2}',
    'Map(3) { "a" => 1 }',
    'Proxy(Object) {a: 1}',
    'Object {pos: 3, next: ƒ}',
  ];
  const text = stackOf([
    frame(
      'f',
      true,
      values.map((value, at) => local(`v${at}`, value, at % 2 ? 'local' : 'closure')),
    ),
  ]);
  for (const [at, value] of values.entries())
    assert.ok(text.includes(`v${at} = ${value}\n`), `${value}\n${text}`);
});

test('text that only begins like a function is a value', () => {
  const text = stackOf([
    frame('f', true, [
      local('a', '"function"', 'closure'),
      local('b', 'functional', 'closure'),
      local('c', '(1)'),
    ]),
  ]);
  assert.match(text, /a = "function"/);
  assert.match(text, /b = functional/);
});

test('foreign frames below the program are folded, whatever variables they have; those above it keep theirs', () => {
  const foreign = ['next', 'handle', 'dispatch'].map((name) => frame(name, false, [local('req', 'Request')]));
  const text = stackOf([frame('parse', false, [local('at', '7')]), frame('location', true), ...foreign]);
  assert.match(text, /parse .*\n {8}at = 7\n.*location/);
  assert.match(text, /… 3 frames of router/);
  assert.doesNotMatch(text, /req = Request/);
});

test('without a frame of the program all keep their variables', () => {
  assert.match(stackOf([frame('parse', false), frame('next', false, [local('at', '7')])]), /at = 7/);
});
