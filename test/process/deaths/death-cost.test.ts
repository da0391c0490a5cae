/**
 * What a death may cost: texts of any length are cut before they are processed, a requested heap snapshot is written last and
 * can be interrupted, and listing a large heap does not require walking all of it. Times are measured by bench:death.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import type { ErrorPart, ScriptsPart } from '../../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { onlyWide, sampleOf } from '../../support/run/test-nodes.ts';
import { findNodes, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const node = findNodes().at(-1)!.path;

function die(t: TestContext, script: string, env: Record<string, string> = {}) {
  const dir = join(temporaryFolder(t), 'dumps');
  const options = { PATH: process.env['PATH'] ?? '', AGENTDUMP_DIR: dir, ...env };
  const { status, stderr } = spawnSync(node, ['--require', preload, '-e', script], {
    env: options,
    encoding: 'utf8',
    maxBuffer: 1024 ** 3,
  });
  const [found] = listBundles(dir);
  assert.ok(found, stderr.slice(-2000));
  const bundle = openBundle(found.path);
  t.after(() => bundle.close());
  return { status, bundle };
}

const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
const big = `'1 word of it, '.repeat(7e6)`;
const long: [name: string, script: string][] = [
  ['message', `throw new Error(${big})`],
  ['code', `throw Object.assign(new Error('x'), { code: ${big} })`],
  ['property', `throw Object.assign(new Error('x'), { answer: ${big} })`],
  [
    'list of texts',
    `const text = ${big}; throw Object.assign(new Error('x'), { answers: Array(200).fill(text) })`,
  ],
  ['thrown text', `throw ${big}`],
];
for (const [name, script] of sampleOf(long, 5))
  test(`of a ${name} of 100 MB the start is in the bundle, and no part is missing for it`, (t) => {
    const { status, bundle } = die(t, script);
    assert.equal(status, 1);
    const part = bundle.readJson<ErrorPart>('error.json');
    assert.ok(part, JSON.stringify(bundle.gaps));
    const text = JSON.stringify(part.error);
    assert.match(text, /1 word of it, 1 word of it/);
    assert.ok(text.length < 60e6);
    for (const vital of ['trigger.json', 'memory.json', 'environment.json', 'report.json'])
      assert.ok(bundle.openPartFile(vital), `${vital}: ${JSON.stringify(bundle.gaps)}`);
  });

test('a credential at the place of a cut is nowhere, not even its half', (t) => {
  for (const before of [64 * 1024 - 60, 64 * 1024 - 20]) {
    const script = `throw new Error('a '.repeat(${before} / 2) + '${secret} ' + 'b '.repeat(1e6))`;
    const { bundle } = die(t, script);
    const text = JSON.stringify(bundle.readJson<ErrorPart>('error.json'));
    assert.ok(text.includes('a a a') && !text.includes(secret.slice(0, 12)));
  }
});

test('a death loads none of the interfaces that Node loads late, such as fetch', (t) => {
  const file = join(temporaryFolder(t), 'loaded.json');
  die(
    t,
    `const loaded = () => process.moduleLoadList;
     process.on('exit', () => {
       const added = loaded().filter((name) => !before.has(name));
       require('node:fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(added));
     });
     let before;
     setTimeout(() => {
       before = new Set(loaded());
       throw new Error('dies');
     }, 20);`,
  );
  const added = JSON.parse(readFileSync(file, 'utf8')) as string[];
  assert.ok(
    added.some((name) => name.includes('report')),
    added.join(),
  );
  assert.deepEqual(
    added.filter((name) => /undici|webstreams|webcrypto|navigator|webstorage/.test(name)),
    [],
  );
});

test('the heap that was ordered comes last: what it takes is said, SIGTERM ends it, the rest is there', async (t) => {
  const dir = join(temporaryFolder(t), 'dumps');
  const file = join(temporaryFolder(t), 'server.cjs');
  // It listens for the signal, as servers do. Without special handling the listener would hold the signal off, because the
  // event loop does not turn.
  writeFileSync(
    file,
    `process.on('SIGTERM', () => {}); globalThis.kept = [];
     for (let at = 0; at < 1_500_000; at++) kept.push({ at, next: { at } });
     throw new Error('dies');`,
  );
  const env = { PATH: process.env['PATH'] ?? '', AGENTDUMP_DIR: dir, AGENTDUMP_HEAP: 'always' };
  const child = spawn(node, ['--require', preload, file], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (/which may take up to \d+ s/.test(said)) child.kill('SIGTERM');
  });
  const [code, signal] = await once(child, 'close');
  assert.deepEqual([code, signal], [null, 'SIGTERM'], said);
  assert.match(said, /agentdump: writing the heap, which may take up to \d+ s; SIGTERM ends it/);
  const [found] = listBundles(dir);
  assert.equal(found?.verdictKind, 'uncaught-exception', readdirSync(dir).join());
  const bundle = openBundle(found.path);
  t.after(() => bundle.close());
  for (const name of [
    'trigger.json',
    'error.json',
    'memory.json',
    'environment.json',
    'report.json',
    'scripts.json',
  ])
    assert.ok(bundle.openPartFile(name), name);
});

test('of a large heap the scripts are listed without a debugger, the text on the stack from its file', {
  skip: onlyWide,
}, (t) => {
  const file = join(temporaryFolder(t), 'large.cjs');
  writeFileSync(
    file,
    `globalThis.kept = []; for (let at = 0; at < 6e6; at++) kept.push({ at, text: at });\nthrow new Error('large');`,
  );
  const { bundle } = die(t, `require(${JSON.stringify(file)})`);
  const { scripts = [] } = bundle.readJson<ScriptsPart>('scripts.json') ?? {};
  const script = scripts.find(({ url }) => url === file);
  assert.ok(script?.sourcePart && bundle.openPartFile(script.sourcePart), JSON.stringify(scripts));
  assert.match(
    bundle.gaps.find(({ part }) => part === 'scripts.json')?.reason ?? '',
    /as they are on the disk/,
  );
});
