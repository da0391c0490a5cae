import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findInnerAwaits } from '../../../src/analysis/stacks/awaits/inner-awaits.ts';

const main = 'file:///app/main.mjs';

async function inner(modules: Record<string, string>): Promise<string[]> {
  const texts = new Map(Object.entries(modules).map(([name, text]) => [`file:///app/${name}`, text]));
  const lines = (texts.get(main) ?? '').split('\n');
  const line = lines.findIndex((one) => /^(?:console\.log\()?await /.test(one));
  const column = (lines[line] ?? '').indexOf('await') + 1;
  const found = await findInnerAwaits({ url: main, line: line + 1, column }, (url) => texts.get(url));
  return found.map((one) => `${one.name} ${one.url.slice(12)}:${one.line}:${one.column}`);
}

test('functions with one await each are followed through the modules of the program', async () => {
  assert.deepEqual(
    await inner({
      'main.mjs': `import { classify } from './lib/chain.mjs';\nasync function main() {\n  const kind = await classify('x');\n  console.log(kind);\n}\nawait main();`,
      'lib/chain.mjs': `const ask = async (text) => model.invoke(text);\nexport async function classify(mail) {\n  const reply = await ask(mail);\n  return reply;\n}`,
    }),
    ['main main.mjs:3:16', 'classify lib/chain.mjs:3:17', 'ask lib/chain.mjs:1:29'],
  );
});

test('an export by another name, and a default, are found', async () => {
  assert.deepEqual(
    await inner({
      'main.mjs': `import run, { go as start } from './a.mjs';\nconsole.log(await start());`,
      'a.mjs': `async function begin() { await null; }\nexport { begin as go };`,
    }),
    ['start a.mjs:1:26'],
  );
  assert.deepEqual(
    await inner({
      'main.mjs': `import run from './a.mjs';\nawait run();`,
      'a.mjs': 'export default async function () { await null; }',
    }),
    ['run a.mjs:1:36'],
  );
});

for (const [what, text] of [
  ['two awaits', 'async function go() { await a(); await b(); }'],
  ['another promise is returned', 'async function go() { if (x) return b(); await a(); }'],
  ['the error of another is thrown', 'async function go() { try { await a(); } catch (e) { throw e; } }'],
  ['the await can not leave', 'async function go() { try { await a(); } catch { other(); } }'],
  ['a variable may have changed', 'async function go() { let r = await a(); r = b(); return r; }'],
  ['a member may be a promise', 'async function go() { const { job } = await a(); return job.done; }'],
  ['a part may be a promise', 'async function go() { const { done } = await a(); return done; }'],
  [
    'a name of two variables',
    'async function go() { const r = await a(); if (r) { let r = b(); return r; } }',
  ],
  [
    'a promise that was made before is returned',
    'async function go() { const p = b(); await a(); return p; }',
  ],
  ['no async function', 'function go() { return a(); }'],
  ['a generator', 'async function* go() { await a(); }'],
  ['a variable that may change', 'let go = async () => { await a(); };'],
  ['unknown', ''],
  ['an import of a package', `import { go } from 'pack';`],
  ['a module that is not there', `import { go } from './gone.mjs';`],
] as const)
  test(`nothing is followed: ${what}`, async () => {
    assert.deepEqual(await inner({ 'main.mjs': `${text}\nawait go();` }), []);
  });

for (const [what, text] of [
  ['a parameter', 'async function go(step) { await step(); }'],
  ['a part of a parameter', 'async function go({ run: [step] }) { await step(); }'],
  ['a variable', 'async function go() { const step = pick(); await step(); }'],
  ['a function within', 'async function go() { await step(); async function step() {} }'],
] as const)
  test(`a call of ${what} is not one of the module's function of that name`, async () => {
    const found = await inner({ 'main.mjs': `${text}\nawait go();\nasync function step() { await null; }` });
    assert.equal(found.length, 1);
    assert.match(found[0] ?? '', /^go /);
  });

test('nor is one in a block around a top-level await', async () => {
  const text = 'async function go() { await null; }';
  assert.deepEqual(await inner({ 'main.mjs': `${text}\nfor (const go of steps)\nawait go();` }), []);
  assert.equal((await inner({ 'main.mjs': `${text}\nfor (const one of steps)\nawait go(one);` })).length, 1);
});

test('an await in a handler, or in a try that has none, can leave', async () => {
  for (const text of ['try { await 1; } finally { b(); }', 'try { b(); } catch { await 1; }'])
    assert.equal((await inner({ 'main.mjs': `async function go() { ${text} }\nawait go();` })).length, 1);
});

test('awaits of functions within are not those of the function, and recursion ends', async () => {
  assert.deepEqual(
    await inner({
      'main.mjs':
        'async function go() { const f = async () => { await 1; await 2; }; await go(); }\nawait go();',
    }),
    ['go main.mjs:1:68'],
  );
});
