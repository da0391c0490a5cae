/** The name that a person knows a program by, from how it was started. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { programName } from '../../src/capture/program-name.ts';

const cases: [string, readonly string[], string][] = [
  ['its script', ['node', '/srv/agent/worker.mjs'], 'worker'],
  ['the folder, where the script’s name says nothing', ['node', '/srv/agent/dist/src/index.js'], 'agent'],
  ['nothing but a name that says nothing', ['node', '/main.js'], 'main'],
  ['no script', ['node'], 'node'],
  ['flags only', ['node', '--eval'], 'node'],
];
for (const [what, argv, name] of cases) test(what, () => assert.equal(programName(argv), name));

test('below pm2 it is the program that pm2 loads', () => {
  const argv = ['node', '/usr/lib/node_modules/pm2/lib/ProcessContainerFork.js'];
  assert.equal(programName(argv, { pm_exec_path: '/srv/agent/loop.cjs' }), 'loop');
  assert.equal(programName(argv, {}), 'ProcessContainerFork');
  const own = ['node', '/srv/mine/ProcessContainerFork.js'];
  assert.equal(programName(own, { pm_exec_path: '/srv/agent/loop.cjs' }), 'ProcessContainerFork');
});
