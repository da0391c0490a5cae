/** The build's change of regular expressions leaves what a program does as it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';

// Not typed.
const { makeExpressionsLazy } = await import(`${new URL('lazy-expressions.mjs', import.meta.url)}`);

const run = (text: string): unknown => JSON.parse(JSON.stringify(runInNewContext(text, {})));

function assertSame(text: string, lazy: boolean): void {
  const changed = makeExpressionsLazy(text) as string;
  assert.equal(changed.includes('??='), lazy, changed);
  assert.deepEqual(run(changed), run(text));
}

test('an expression is made when it is first used, and once', () => {
  assertSame(`var word = /a(b)/; [word.exec('xab')[1], word.test('c'), word === word]`, true);
  assertSame(`var each = /a/g; [each.test('aa'), each.lastIndex, each.test('aa'), each.lastIndex]`, true);
  assertSame(`var word = /a/; var box = { word }; [box.word.source, { word: 1 }.word]`, true);
  assertSame(`var end = 'b'; var word = new RegExp(\`a\${end}\` + 'c', 'u'); word.source`, true);
  assertSame(`var word = new RegExp(String.raw\`\\d+\`); word.test('1')`, true);
});

test('what may be another variable, or another value later, stays', () => {
  assertSame(`var word = /a/; function f(word) { return word; } [f(1), word.source]`, false);
  assertSame(`var word = /a/; word = /b/; word.source`, false);
  assertSame(
    `var word = /a/; var { word: other = word } = {}; var [more] = [1]; ({ word }) && other.source`,
    true,
  );
  assertSame(`var word = /a/; ({ word } = { word: /b/ }); word.source`, false);
  assertSame(`var part = () => 'a'; var word = new RegExp(part()); word.source`, false);
});

test('of two expressions one of which is a part of the other, the part is made lazily at most', () => {
  assertSame(`var part = /a/; var word = new RegExp(part); [part.source, word.source]`, true);
});
