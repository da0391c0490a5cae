/** The name by which a person knows a program, from how it was started. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { programName } from '../../../src/capture/install/program-name.ts';

const cases: [string, readonly string[], string][] = [
  ['its script', ['node', '/srv/agent/worker.mjs'], 'worker'],
  ['the folder, where the script’s name says nothing', ['node', '/srv/agent/dist/src/index.js'], 'agent'],
  ['nothing but a name that says nothing', ['node', '/main.js'], 'main'],
  ['no script', ['node'], 'node'],
  ['the package, of a file within one', ['node', '/app/node_modules/@acme/pool/lib/worker.js'], 'pool'],
  ['its program, of what a package installs as one', ['node', '/app/node_modules/typescript/bin/tsc'], 'tsc'],
  ['its link, of a package’s program', ['node', '/app/node_modules/.bin/vitest'], 'vitest'],
  ['an own folder called bin', ['node', '/app/node_modules/agent/dist/bin/serve.js'], 'serve'],
  ['code on the command line, with a word of its own', ['node', '1067'], 'node'],
  ['flags only', ['node', '--eval'], 'node'],
];
for (const [what, argv, name] of cases) test(what, () => assert.equal(programName(argv), name));

test('below pm2 it is the program that pm2 loads', () => {
  const argv = ['node', '/usr/lib/node_modules/pm2/lib/ProcessContainerFork.js'];
  assert.equal(programName(argv, { pm_exec_path: '/srv/agent/loop.cjs' }), 'loop');
  assert.equal(programName(argv, {}), 'pm2');
  const own = ['node', '/srv/mine/ProcessContainerFork.js'];
  assert.equal(programName(own, { pm_exec_path: '/srv/agent/loop.cjs' }), 'ProcessContainerFork');
});

test('a worker process of a runner’s pool bears the runner’s name', () => {
  const vitest3 = [
    'node',
    '/app/node_modules/.pnpm/tinypool@1.1.1/node_modules/tinypool/dist/entry/process.js',
  ];
  assert.equal(programName(vitest3, { VITEST: 'true' }), 'vitest');
  assert.equal(programName(vitest3, {}), 'tinypool');
  const mocha = ['node', '/app/node_modules/workerpool/src/worker.js'];
  assert.equal(programName(mocha, { MOCHA_WORKER_ID: '0' }), 'mocha');
  const vitest4 = ['node', '/app/node_modules/vitest/dist/workers/forks.js'];
  assert.equal(programName(vitest4, {}), 'vitest');
});
