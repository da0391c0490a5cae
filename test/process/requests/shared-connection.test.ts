/**
 * One connection to a database serves all requests of a server. An async function that goes on after its reply is known by
 * its own context; a callback that the connection calls is not, since it runs in the context in which the connection was
 * opened.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { findBundle } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { requestName } from '../../../src/model/origin.ts';
import { testNodes } from '../../support/run/test-nodes.ts';
import { preload, temporaryFolder } from '../../support/victims/run-victim.ts';

/** The first request opens the connection; the third one asks a server that refuses, and dies. */
const server = (fails: string): string => `
import { createServer } from 'node:http';
import { connect, createServer as listen } from 'node:net';
import { once } from 'node:events';
const database = listen((socket) => socket.on('data', (text) => socket.write(text))).listen(0, '127.0.0.1');
const stock = createServer((request, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
await Promise.all([once(database, 'listening'), once(stock, 'listening')]);
let connection;
const waiting = [];
const query = (text, callback) => {
  connection ??= connect(database.address().port, '127.0.0.1').on('data', () => waiting.shift()());
  waiting.push(callback);
  connection.write(text);
};
const ask = () => new Promise((resolve) => query('stock', resolve));
const fails = async () => { throw new Error('nothing on stock'); };
const web = createServer(async (request, response) => {
  await ask();
  if (request.url !== '/orders/2') return response.end();
  await fetch('http://127.0.0.1:' + stock.address().port);
  ${fails}
}).listen(0, '127.0.0.1');
await once(web, 'listening');
for (const n of [0, 1, 2]) await fetch('http://127.0.0.1:' + web.address().port + '/orders/' + n);
`;

for (const node of testNodes) {
  const die = async (dir: string, fails: string) => {
    writeFileSync(join(dir, 'server.mjs'), server(fails));
    const env = { PATH: process.env['PATH'] ?? '', AGENTDUMP_DIR: dir, AGENTDUMP_CONTEXT: 'always' };
    spawnSync(node.path, ['--require', preload, 'server.mjs'], { cwd: dir, env, timeout: 60_000 });
    const bundle = openBundle(findBundle('latest', dir));
    try {
      return await analyzeBundle(bundle);
    } finally {
      bundle.close();
    }
  };

  test(`${node.name}: what goes on after a reply of a shared connection is its own request's`, async (context) => {
    const { requests, verdict } = await die(temporaryFolder(context), 'await ask(); await fails();');
    const blamed = requests?.filter(({ culprit }) => culprit) ?? [];
    assert.deepEqual(blamed.map(requestName), ['GET /orders/2']);
    assert.match(
      verdict?.beforeEnd?.[0]?.fact ?? '',
      /^Request GET \S+ was answered 503, for GET \/orders\/2,/,
    );
  });

  test(`${node.name}: what a shared connection calls is nobody's`, async (context) => {
    const { requests, origin } = await die(
      temporaryFolder(context),
      `query('again', () => { throw new Error('nothing on stock'); });`,
    );
    assert.deepEqual(requests?.filter(({ culprit }) => culprit) ?? [], []);
    assert.equal(origin?.lost, 'connection');
  });
}
