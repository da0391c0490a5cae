import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTopLevelAwaits } from '../../../src/analysis/stacks/awaits/top-level-awaits.ts';

const placesIn = async (text: string): Promise<string[] | undefined> =>
  (await findTopLevelAwaits(text))?.map(({ line, column }) => `${line}:${column}`);

test('awaits outside of functions are found, in the order of the text', async () => {
  const text = [
    '#!/usr/bin/env node',
    `import { a } from 'a';`,
    'const first = await a();',
    `if (first) { try { await /* deep */ a(\`\${await a()}\`); } finally { await a(); } }`,
    'for await (const one of a()) await one;',
    'export default { of: await a() };',
    'class Held { static of = 1; [await a()]() {} }',
    'await using held = a();',
  ].join('\n');
  assert.deepEqual(await placesIn(text), [
    '3:15',
    '4:20',
    '4:42',
    '4:68',
    '5:1',
    '5:30',
    '6:22',
    '7:30',
    '8:1',
  ]);
});

test('those of functions are none, nor words in texts and comments', async () => {
  const text = [
    'async function f() { await 1; for await (const x of []) x; }',
    'const g = async () => await f();',
    'class C { async m() { await 1; } static { const await_ = 1; } field = async () => { await 2; }; }',
    '// await f()',
    `const words = "await f()" + \`await \${1}\` + /await f/.source;`,
    'export { f, g, C, words };',
  ].join('\n');
  assert.deepEqual(await placesIn(text), []);
});

test('what is no module is said to be none', async () => {
  assert.equal(await placesIn('const = await 1;'), undefined);
  assert.equal(await placesIn(`${'('.repeat(100_000)}await 1`), undefined);
  assert.equal(await placesIn(`//${' '.repeat(1024 * 1024)}`), undefined);
  assert.deepEqual(await placesIn(''), []);
});

test('torn at any place it is read or refused', async () => {
  const whole = `const a = \`x\${await f({ b: [await g] })}\`; export class D { static async *e() { yield await 1; } }\n`;
  for (let length = 0; length <= whole.length; length++) await findTopLevelAwaits(whole.slice(0, length));
});
