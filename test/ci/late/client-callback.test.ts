/**
 * What throws in the callback of a reply belongs to the test that sent the request, also on a connection that another test opened. Node runs
 * such a callback in the context in which the connection was opened.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testNodes } from '../../support/run/test-nodes.ts';
import { runnerCommands, runUnderCi, suitesFolder } from '../../support/runners/runner-matrix.ts';

const suite = `import { after, test } from 'node:test';
import http from 'node:http';
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const server = http.createServer((request, reply) => setTimeout(() => reply.end('x'), 60)).listen(0);
after(() => server.close());
const ask = (react) => http.get({ port: server.address().port, agent }, react);
test('opens the connection', () => new Promise((done) => ask((reply) => reply.resume().on('end', () => setTimeout(done, 50)))));
test('asks again', () => {
  ask((reply) => {
    reply.resume();
    throw new TypeError('a bad reply');
  });
});
test('waits', () => new Promise((done) => setTimeout(done, 600)));
`;

for (const { name, path } of testNodes)
  test(`${name}: an error in the callback of a reply`, async (context) => {
    const folder = suitesFolder(context);
    writeFileSync(join(folder, 'node-test.mjs'), suite);
    const command = runnerCommands['node:test'];
    const { summary, output } = await runUnderCi({ folder, death: 'none', command, node: path });
    const bundle = summary?.bundles.find(({ title }) => title?.includes('a bad reply'));
    assert.deepEqual(bundle?.test?.name, ['asks again'], output);
    assert.match(bundle?.summary ?? '', /^The test asks again began it/);
    assert.equal(bundle?.place?.line, 11);
  });
