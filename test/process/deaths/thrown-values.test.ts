/**
 * What is reported about a thrown value other than a plain error: a chain of causes, a cycle, an object, an undefined reason.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { findBundle } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn, onlyWide, sampleOf } from '../../support/run/test-nodes.ts';
import { accountOf } from '../../support/victims/run-account.ts';
import { type NodeBinary, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

async function dieOf(t: TestContext, node: NodeBinary, program: string) {
  const dir = temporaryFolder(t);
  writeFileSync(join(dir, 'app.cjs'), program);
  spawnSync(node.path, [join(dir, 'app.cjs')], {
    cwd: dir,
    env: {
      PATH: '',
      HOME: dir,
      AGENTDUMP_DIR: join(dir, 'dumps'),
      AGENTDUMP_HEAP: 'off',
      NODE_OPTIONS: `--require ${preload}`,
    },
  });
  return await accountOf(findBundle('latest', join(dir, 'dumps')));
}

const armedIn = (dir: string): NodeJS.ProcessEnv => ({
  AGENTDUMP_DIR: join(dir, 'dumps'),
  AGENTDUMP_HEAP: 'off',
  AGENTDUMP_LOCALS: 'uncaught',
  NODE_OPTIONS: `--require ${preload}`,
});

/** Node 20 and 22 lose the exception of vm code at a pause, so there are no locals, and the bundle says why. */
async function assertLocalsOr(why: RegExp, dir: string, node: NodeBinary): Promise<void> {
  const bundle = openBundle(findBundle('latest', join(dir, 'dumps')));
  const { verdict } = await analyzeBundle(bundle);
  bundle.close();
  assert.ok(
    !verdict?.nextSteps.some((step) => step.includes('AGENTDUMP_LOCALS')),
    'nobody is told to do what was done',
  );
  const isToldWhy = bundle.gaps.some(({ part, reason }) => part === 'locals.json' && why.test(reason));
  const hasLocals = bundle.readJson('locals.json') !== undefined;
  assert.deepEqual([hasLocals, isToldWhy], /2[02]$/.test(node.name) ? [false, true] : [true, false]);
}

for (const node of nodesInTurn)
  for (const [name, words, input] of [
    ['-e', ['-e', 'throw new TypeError("gone")'], ''],
    ['-p', ['-p', 'throw new TypeError("gone")'], ''],
    ['stdin', ['-'], 'throw new TypeError("gone")'],
  ] as const)
    test(`${node.name}: locals armed, a throw of code from ${name} is a death all the same`, async (t) => {
      const dir = temporaryFolder(t);
      const die = (env: NodeJS.ProcessEnv) =>
        spawnSync(node.path, words, {
          cwd: dir,
          input,
          env: { PATH: '', HOME: dir, ...env },
          encoding: 'utf8',
        });
      const bare = die({});
      const armed = die(armedIn(dir));
      assert.equal(armed.status, bare.status);
      assert.match(armed.stderr, /TypeError: gone/);
      await assertLocalsOr(/no file/, dir, node);
    });

const vmThrows = `const vm = require('node:vm');
setTimeout(() => {
  vm.runInContext('tool()', vm.createContext({ tool() { throw new TypeError('gone'); } }));
  console.log('went on');
}, 10);
setTimeout(() => console.log('alive'), 100);`;

for (const node of nodesInTurn)
  for (const [name, program] of [
    ['nobody handles', vmThrows],
    ['is handled', `process.on('uncaughtException', (error) => console.log(error.message));${vmThrows}`],
  ] as const)
    test(`${node.name}: locals armed, a throw of vm code that ${name} ends as without`, {
      skip: onlyWide,
    }, async (t) => {
      const dir = temporaryFolder(t);
      const file = join(dir, 'sandbox.cjs');
      writeFileSync(file, program);
      const die = (env: NodeJS.ProcessEnv) =>
        spawnSync(node.path, [file], { cwd: dir, env: { PATH: '', HOME: dir, ...env }, encoding: 'utf8' });
      const bare = die({});
      const armed = die(armedIn(dir));
      assert.deepEqual([armed.status, armed.stdout], [bare.status, bare.stdout]);
      await assertLocalsOr(/node:vm/, dir, node);
    });

const cases: [name: string, program: string, title: string, gap?: RegExp][] = [
  [
    'an object with a code',
    `throw { code: 'E_BUSY', status: 503, body: { a: 1 } };`,
    'Thrown object: { code: "E_BUSY", status: 503, body: {…} }, likely at app.cjs:1:1',
  ],
  [
    'an object with a message',
    `throw { status: 429, message: 'slow down' };`,
    'Thrown object: slow down, likely at app.cjs:1:1',
  ],
  [
    'a rejection with undefined',
    'Promise.reject();',
    'Rejected with what is no error: undefined, likely at app.cjs:1:1',
  ],
  [
    'a rejection with text',
    `Promise.reject('no "such"\\nmodel');`,
    'Rejected with what is no error: no "such", likely at app.cjs:1:1',
  ],
  [
    'a rejection with an object with a code and a message',
    `Promise.reject({ code: 'E_LIMIT', message: 'too many', status: 429 });`,
    'Rejected with an object [E_LIMIT]: too many, likely at app.cjs:1:1',
  ],
  [
    'a rejection with an object with neither',
    'Promise.reject({ status: 429 });',
    'Rejected with an object: { status: 429 }, likely at app.cjs:1:1',
  ],
  [
    'a rejection with an object that the program listens for',
    `process.on('unhandledRejection', () => process.exit(3));\nPromise.reject({ status: 429 });`,
    'Rejected with an object: { status: 429 }, likely at app.cjs:2:1',
  ],
  [
    'text with a part that only the run knew, among others',
    `function pick(id) {\n  if (id < 0) throw 'negative';\n  throw \`no seat for \${id}\`;\n}\nsetTimeout(pick, 1, 7);`,
    'Thrown string: no seat for 7, likely at app.cjs:3:3',
  ],
  [
    'text that two places give',
    `function pick(id) {\n  if (id < 0) throw 'no seat';\n  throw 'no seat';\n}\nsetTimeout(pick, 1, 7);`,
    'Thrown string: no seat',
  ],
  [
    'text that none gives',
    `const words = ['no', 'seat'];\nsetTimeout(() => { throw words.join(' '); }, 1);`,
    'Thrown string: no seat',
  ],
  [
    'the reject of a promise by another name',
    `new Promise((_, no) => {\n  setTimeout(() => no('too late'), 1);\n});`,
    'Rejected with what is no error: too late, likely at app.cjs:2:20',
  ],
  [
    'an error that is its own cause',
    `const error = new Error('round'); error.cause = error; throw error;`,
    'Error: round at app.cjs:1:15',
    /its cause is one of the errors above/,
  ],
];

for (const node of nodesInTurn) {
  for (const [name, program, title, gap] of sampleOf(cases, 8))
    test(`${node.name}: ${name}`, async (t) => {
      const { verdict, error, gaps } = await dieOf(t, node, program);
      assert.equal(verdict?.title, title);
      assert.equal(error?.cause, undefined);
      assert.equal(
        gap === undefined || gaps.some(({ reason }) => gap.test(reason)),
        true,
        JSON.stringify(gaps),
      );
    });

  test(`${node.name}: an object is one fault, thrown or rejected`, async (t) => {
    for (const value of [`{ code: 'E_LIMIT', message: 'too many', status: 429 }`, '{ status: 429 }']) {
      const [thrown, rejected] = await Promise.all([
        dieOf(t, node, `throw ${value};`),
        dieOf(t, node, `Promise.reject(${value});`),
      ]);
      assert.deepEqual(rejected.error?.properties, { status: 429 });
      assert.equal(rejected.error?.code, thrown.error?.code);
      assert.equal(rejected.signature?.id, thrown.signature?.id, JSON.stringify(rejected.signature));
    }
  });

  test(`${node.name}: a program sees nothing of how its rejected object is read`, async (t) => {
    const dir = temporaryFolder(t);
    const file = join(dir, 'app.cjs');
    writeFileSync(
      file,
      `process.on('uncaughtException', (error) => {
  console.log(error.code, Object.getOwnPropertyNames(globalThis).filter((name) => /agentdump/i.test(name)));
});
let read = 0;
Promise.reject({ get status() { return ++read; }, toString() { read++; return ''; } });
setTimeout(() => console.log('alive', read), 10);`,
    );
    const die = (env: NodeJS.ProcessEnv) =>
      spawnSync(node.path, [file], { cwd: dir, env: { PATH: '', HOME: dir, ...env }, encoding: 'utf8' });
    const [bare, hooked] = [die({}), die({ ...armedIn(dir), AGENTDUMP_LOCALS: 'off' })];
    assert.deepEqual([hooked.status, hooked.stdout], [bare.status, bare.stdout]);
  });

  test(`${node.name}: of a long chain of causes the first eight and the last`, async (t) => {
    const { verdict, error, gaps } = await dieOf(
      t,
      node,
      `let error = new TypeError('the root');
for (let i = 1; i <= 5000; i++) error = new Error('level ' + i, { cause: error });
throw error;`,
    );
    const told: (string | undefined)[] = [];
    for (let next = error; next; next = next.cause) told.push(next.message);
    assert.deepEqual(told.slice(0, 2), ['level 5000', 'level 4999']);
    assert.deepEqual(told.slice(-2), ['level 4992', 'the root']);
    assert.equal(told.length, 10);
    assert.match(verdict?.summary ?? '', /Root cause: TypeError: the root at app\.cjs:1:13\./);
    assert.ok(
      gaps.some(({ reason }) => reason === '4991 causes in between were not read'),
      JSON.stringify(gaps),
    );
  });
}
