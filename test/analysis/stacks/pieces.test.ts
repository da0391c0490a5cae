/** The pure functions: in-app, code frames, alignment of two stacks, scopes in generated code. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { alignFrames } from '../../../src/analysis/stacks/align.ts';
import { cutCodeFrame, splitLines } from '../../../src/analysis/stacks/code-frame.ts';
import { isInApp } from '../../../src/analysis/stacks/in-app.ts';
import { findEnclosingScopes } from '../../../src/analysis/stacks/js-scopes.ts';
import type { RawFrame } from '../../../src/bundle/layout/bundle.ts';
import { parseFrameLine, type TextFrame } from '../../../src/formats/stack-text/frame-line.ts';
import '../../support/run/fuzz-runs.ts';

const appFiles = [
  '/app/a.js',
  'C:\\app\\a.js',
  'src/a.ts',
  '[eval]',
  'REPL1',
  '/app/my_node_modules/a.js',
  'webpack://x/src/a.ts',
  '/app/src/register.cjs',
  '/app/better-half.js',
];
const otherFiles = [
  'node:fs',
  'internal/timers.js',
  'events.js',
  '_stream_readable.js',
  '/app/node_modules/p/a.js',
  'C:\\app\\node_modules\\p\\a.js',
  'node_modules/p/a.js',
  'webpack://x/node_modules/p/a.js',
  'webpack/bootstrap',
  'webpack://x/webpack/runtime/define',
  'webpack://x/(webpack)/a.js',
  '[eval]-wrapper',
  'wasm://wasm/8e6d5a1e',
  '<anonymous>',
  '',
  '/app/.yarn/cache/p.zip/a.js',
  '/home/me/agentdump/dist/register.cjs',
  'agentdump:deadline',
  '/home/me/agentdump/dist/register.cjs:recording-half',
  'C:\\me\\agentdump\\dist\\register-tests.cjs:testing-half',
];
test('in-app is what is not Node, a package or a bundler', () => {
  assert.deepEqual(
    appFiles.filter((file) => !isInApp(file)),
    [],
  );
  assert.deepEqual(
    otherFiles.filter((file) => isInApp(file)),
    [],
  );
});

test('a program installed below node_modules is its own', () => {
  const root = '/usr/lib/node_modules/@x/agent/';
  assert.equal(isInApp(`${root}dist/cli.js`, root), true);
  assert.equal(isInApp(`${root}node_modules/p/a.js`, root), false);
  assert.equal(isInApp('/usr/lib/node_modules/other/a.js', root), false);
});

test('a code frame has the lines around, and none outside of the text', () => {
  const lines = splitLines('a\nb\r\nc\u2028d\re');
  assert.deepEqual(lines, ['a', 'b', 'c', 'd', 'e']);
  assert.deepEqual(cutCodeFrame(lines, 1, 1, 1), [
    { line: 1, text: 'a' },
    { line: 2, text: 'b' },
  ]);
  assert.deepEqual(cutCodeFrame(lines, 5, 2, 0), [{ line: 5, text: 'e' }]);
  for (const [line, column] of [
    [0, 1],
    [6, 1],
    [1, 3],
    [1, 0],
    [Number.NaN, 1],
  ] as const)
    assert.equal(cutCodeFrame(lines, line, column, 2), undefined);
});

test('fuzz: the column of a cut line stays in sight', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), fc.nat(2000), (length, nth) => {
      const column = (nth % length) + 1;
      const text = Array.from({ length }, (_, n) => String.fromCharCode(97 + (n % 26))).join('');
      const [line] = cutCodeFrame([text], 1, column, 0) ?? [];
      const start = line?.startColumn ?? 1;
      assert.equal(line?.text[column - start], text[column - 1]);
      assert.equal(line?.text, text.slice(start - 1, start - 1 + (line?.text.length ?? 0)));
    }),
  );
});

const printed = (...lines: string[]) => lines.map((line) => parseFrameLine(`at ${line}`)?.frame as TextFrame);
const raw = (functionName: string, url: string, line: number, column: number): RawFrame => ({
  functionName,
  scriptId: '1',
  url,
  line,
  column,
});
const pairs = (joined: ReturnType<typeof alignFrames>) =>
  joined.frames.map(({ text, raw: own }) => `${text?.functionName ?? '-'}/${own?.functionName ?? '-'}`);

test('equal positions are joined, builtins stand alone, async frames too', () => {
  const joined = alignFrames(
    printed('f (/a.js:1:2)', 'Array.map (<anonymous>)', 'g (file:///a.js:3:4)', 'async h (/a.js:5:6)'),
    [raw('f', 'file:///a.js', 1, 2), raw('g', 'file:///a.js', 3, 4)],
  );
  assert.deepEqual(pairs(joined), ['f/f', 'Array.map/-', 'g/g', 'h/-']);
  assert.equal(joined.hostMaps, false);
});

test('a host that maps changes places and names; the order still joins', () => {
  const joined = alignFrames(printed('parse (/a.ts:10:2)', 'Shop.ship (/a.ts:20:4)', '/a.ts:30:1'), [
    raw('s', 'file:///a.js', 1, 20),
    raw('ship', 'file:///a.js', 1, 44),
    raw('', 'file:///a.js', 1, 99),
  ]);
  assert.deepEqual(pairs(joined), ['parse/s', 'Shop.ship/ship', '-/']);
  assert.equal(joined.hostMaps, true);
});

test('a frame that one side leaves out moves nothing', () => {
  const joined = alignFrames(printed('f (/a.ts:1:2)', 'h (/a.ts:5:6)'), [
    raw('f', 'file:///a.js', 1, 2),
    raw('g', 'file:///a.js', 3, 4),
    raw('h', 'file:///a.js', 5, 6),
  ]);
  assert.deepEqual(pairs(joined), ['f/f', '-/g', 'h/h']);
});

test('eval and wasm frames are joined by what V8 says of them', () => {
  const joined = alignFrames(
    printed('eval (eval at f (/a.js:1:2), <anonymous>:1:7)', 'wasm://wasm/1:wasm-function[3]:0x12'),
    [raw('eval', '', 1, 7), raw('', 'wasm://wasm/1', 1, 19)],
  );
  assert.equal(joined.frames.length, 2);
});

test('fuzz: joining keeps every printed frame, and the order of both', () => {
  const name = fc.constantFrom('f', 'g', 'h');
  const position = fc.nat(3);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, position), { maxLength: 12 }),
      fc.array(fc.tuple(name, position), { maxLength: 12 }),
      (a, b) => {
        const text = printed(...a.map(([n, line]) => `${n} (/a.js:${line + 1}:1)`));
        const own = b.map(([n, line]) => raw(n, 'file:///a.js', line + 1, 1));
        const { frames } = alignFrames(text, own);
        assert.deepEqual(
          frames.flatMap((frame) => frame.text ?? []),
          text,
        );
        assert.deepEqual(
          frames.flatMap((frame) => frame.raw ?? []),
          own,
        );
      },
    ),
  );
});

/** The scopes at the position that `@` marks in the text. */
function scopesAt(text: string): string[] {
  const offset = text.indexOf('@');
  const code = text.replace('@', ' ');
  const scopes = findEnclosingScopes(code, [offset])[0] ?? [];
  for (const { name, nameOffset } of scopes)
    if (name) assert.equal(code.slice(nameOffset, nameOffset + name.length), name);
  return scopes.map(({ kind, name }) => `${kind} ${name}`);
}

const scopeForms: [string, string[]][] = [
  ['@', []],
  ['function f(){ @ }', ['function f']],
  ['function f(a=g()){}; @', []],
  ['async function*f(){ if(a){ @ } }', ['function f']],
  ['var f=function(){@}', ['function f']],
  ['var f=async function(){@}', ['function f']],
  ['x={f:function(){@}}', ['function f']],
  ['const f=(a,b)=>{@}', ['function f']],
  ['const f=a=>{@}', ['function f']],
  ['const f=async a=>{@}', ['function f']],
  ['f(()=>{@})', ['function ']],
  ['class A{m(){@}}', ['function m', 'class A']],
  ['class A extends B{async m(){@}}', ['function m', 'class A']],
  ['class A extends B(C){static m(){@}}', ['function m', 'class A']],
  ['var A=class{constructor(){@}}', ['function constructor', 'class A']],
  ['class A{get m(){@}}', ['function m', 'class A']],
  ['class A{#m(){@}}', ['function #m', 'class A']],
  ['function f(){for(;;){while(a){@}}}', ['function f']],
  ['function f(){try{}catch(e){@}}', ['function f']],
  ['function f(){switch(a){case 1:@}}', ['function f']],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the code that is read
  ['function f(){return`}${g(()=>{return"}"})}}`+@}', ['function f']],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the code that is read
  ['function f(){return`${`${@}`}`}', ['function f']],
  ['function f(){/* } */ // }\n @}', ['function f']],
  ['function f(){return/[/}]}/.test(a)&&@}', ['function f']],
  ['function f(){return a/b}function g(){return"/"+@}', ['function g']],
  ['function f(){"a\\"}";@}', ['function f']],
  ['function f(){}}}})]@', []],
  ['function ä(){@}', ['function ä']],
];
for (const [text, wanted] of scopeForms)
  test(`scopes of ${text}`, () => {
    assert.deepEqual(scopesAt(text), wanted);
  });

test('scopes of many offsets are found in one pass', () => {
  const text = 'function f(){a}function g(){b}';
  const found = findEnclosingScopes(text, [text.indexOf('a}'), text.indexOf('b}')]);
  assert.deepEqual(
    found.map((scopes) => scopes[0]?.name),
    ['f', 'g'],
  );
});

const hostileTexts: Record<string, string> = {
  braces: '{'.repeat(1 << 20),
  'closing braces': '}'.repeat(1 << 20),
  templates: '`${'.repeat(1 << 18),
  slashes: '/'.repeat(1 << 20),
  'slashes on lines': '= /\n'.repeat(1 << 18),
  quotes: '"\n'.repeat(1 << 19),
  backslashes: `"${'\\'.repeat(1 << 20)}`,
  comments: '/*'.repeat(1 << 19),
};
for (const [name, text] of Object.entries(hostileTexts))
  test(`hostile: scopes of a megabyte of ${name}`, () => {
    assert.equal(findEnclosingScopes(text, [text.length]).length, 1);
  });
