/** Which calls of a program leave a promise of a package to nobody. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findUnawaitedCalls } from '../../../src/analysis/stacks/unawaited-calls.ts';
import { outermostCall, outermostPackage } from '../../../src/bundle/layout/operations.ts';

const callsIn = async (text: string, name?: string) =>
  (await findUnawaitedCalls(text, 'module', { name, packageName: 'acme' }))?.map(
    (call) => `${call.name} ${call.line}:${call.column}`,
  );

test('statements that call what a package has made', async () => {
  const head = `import { Client } from 'acme/client';\nconst client = new Client();\nconst users = client.users();\n`;
  assert.deepEqual(await callsIn(`${head}client.connect();`), ['connect 4:8']);
  assert.deepEqual(await callsIn(`${head}void users.find({});`), ['find 4:12']);
  assert.deepEqual(await callsIn(`${head}users?.find({});`), ['find 4:8']);
  assert.deepEqual(await callsIn(`const { Client } = await import('acme');\nnew Client().connect();`), [
    'connect 2:14',
  ]);
  assert.deepEqual(await callsIn(`const acme = require('acme').default;\nacme.start();`), ['start 2:6']);
});

test('what is awaited, caught, returned or kept is none of them', async () => {
  const head = `import { connect } from 'acme';\n`;
  for (const use of [
    'await connect();',
    'connect().catch(log);',
    'const ready = connect();',
    'export const start = () => connect();',
    'async function start() { return connect(); }',
  ])
    assert.deepEqual(
      (await callsIn(head + use))?.filter((call) => call.startsWith('connect')),
      [],
      use,
    );
});

test('other packages, and a function by its name alone', async () => {
  assert.deepEqual(await callsIn(`import { connect } from 'acme-2';\nconnect();`), []);
  assert.deepEqual(await callsIn(`export const start = (client) => { client.connect(); };`, 'connect'), [
    'connect 1:43',
  ]);
  assert.deepEqual(await callsIn(`client['connect']();`, 'connect'), []);
  assert.equal(await callsIn('const ='), undefined);
});

test('the function and the package in which a stack begins', () => {
  const stack = `Error: down
    at Socket.onError (/srv/node_modules/acme/net.js:2:3)
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21)
    at async Object.open [as connect] (/srv/node_modules/.pnpm/x@1/node_modules/@scope/acme/client.js:4:5)`;
  assert.equal(outermostCall(stack), 'connect');
  assert.equal(outermostPackage(stack), '@scope/acme');
  const own = `${stack}\n    at async start (/srv/app.js:1:1)`;
  assert.equal(outermostCall(own), undefined);
  assert.equal(outermostPackage(own), undefined);
  assert.equal(outermostPackage('Error: down'), undefined);
});
