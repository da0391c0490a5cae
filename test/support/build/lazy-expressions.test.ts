/** The build's change of regular expressions leaves what a program does as it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { parse } from 'acorn';
import { build } from 'esbuild';

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

test('a part that is assigned later is the one of the time', () => {
  assertSame(`var end = 'b'; var word = new RegExp(end); end = 'c'; word.source`, false);
  assertSame(`let end = 'b'; var word = new RegExp(end); (() => { end = 'c'; })(); word.source`, false);
});

test('wherever an expression is used', () => {
  for (const use of [
    `(function f(x = word) { return x.source; })()`,
    `(function f({ x = word } = {}) { return x.source; })()`,
    `class A { p = word; static q = word; [word.source]() { return 1; } } [new A().p.source, A.q.source, new A().a()]`,
    `\`\${word}\` + String.raw\`\${word}\``,
    `[typeof word, word instanceof RegExp, word?.source]`,
    `new word.constructor('b').source`,
    `word.lastIndex = 1; ['ba'.replace(word, 'x'), word.lastIndex]`,
    `var { word: z } = { word: 1 }; var y; y ??= word; [z, y === word]`,
    `({ word() { return word.source; } }).word()`,
  ])
    assertSame(`var word = /a/y; ${use}`, true);
});

test('of two expressions one of which is a part of the other, the part is made lazily at most', () => {
  assertSame(`var part = /a/; var word = new RegExp(part); [part.source, word.source]`, true);
});

test('in the halves of a death, each use of such a name calls it', async () => {
  for (const half of ['cold-half.ts', 'redaction-half.ts']) {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(`../../../src/capture/install/${half}`, import.meta.url))],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20.19',
      write: false,
    });
    const changed = makeExpressionsLazy(outputFiles[0]!.text) as string;
    const names = new Set(Array.from(changed.matchAll(/([\w$]+)\$made\?\?=/g), ([, name]) => name));
    assert.ok(names.size > 100, `${names.size}`);
    const program = parse(changed, { ecmaVersion: 'latest' }) as unknown as Node;
    const declared = new Set<unknown>();
    walk(program, (node, parent, key) => {
      if (node.type !== 'Identifier' || !names.has(node.name)) return;
      const isName = key === 'property' || (key === 'key' && /Property|Definition/.test(parent.type));
      if (isName && !parent['computed']) return;
      if (parent.type === 'CallExpression' && key === 'callee') return;
      assert.deepEqual(
        [parent.type, key, declared.has(node.name)],
        ['VariableDeclarator', 'id', false],
        node.name,
      );
      declared.add(node.name);
    });
    assert.equal(declared.size, names.size);
  }
});

type Node = Record<string, unknown> & { type: string; name?: string };

function walk(node: Node, see: (node: Node, parent: Node, key: string) => void): void {
  for (const [key, child] of Object.entries(node))
    for (const one of Array.isArray(child) ? child : [child])
      if (one !== null && typeof one === 'object' && 'type' in one) {
        see(one as Node, node, key);
        walk(one as Node, see);
      }
}
