/**
 * What a replayed program sees, on every Node: a clock that starts at the recorded time, the same random numbers, and servers
 * that no longer exist.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createPlainServer } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodesInTurn } from '../support/run/test-nodes.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const preload = join(root, 'dist', 'replay.cjs');
const startedAtMs = Date.parse('2024-02-29T12:00:00Z');

/** Runs a program with the preload; returns what it printed, parsed as JSON. */
async function run(
  t: TestContext,
  node: string,
  program: string,
  hosts: string[] = [],
  live?: { hosts: string[]; onUnknown: (said: string) => void },
) {
  const folder = temporaryFolder(t);
  const sockets = { http: join(folder, 'http.sock'), https: join(folder, 'https.sock') };
  const servers = Object.entries(sockets).map(([scheme, path]) => {
    const server = createServer((request, response) => {
      response.end(JSON.stringify([scheme, request.headers.host, request.url]));
    });
    return server.listen(path);
  });
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const unknown = createPlainServer((socket) => {
    socket.once('data', (said) => live?.onUnknown(String(said)));
    if (live) setTimeout(() => socket.destroy(), 1500);
  }).listen(join(folder, 'unknown.sock'));
  await once(unknown, 'listening');
  t.after(() => {
    unknown.close();
    for (const server of servers) server.close().closeAllConnections();
  });
  const others = live && {
    live: live.hosts,
    unknown: join(folder, 'unknown.sock'),
    portsFile: join(folder, 'ports'),
  };
  const plan = { sockets, hosts, startedAtMs, seed: 7, pidFile: join(folder, 'pid'), others };
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan));
  writeFileSync(join(folder, 'program.mjs'), program);
  const { stdout } = await promisify(execFile)(node, ['--require', preload, join(folder, 'program.mjs')], {
    env: { AGENTDUMP_REPLAY_PLAN: join(folder, 'plan.json') },
  });
  assert.ok(existsSync(plan.pidFile));
  return JSON.parse(stdout);
}

const clock = `
const before = Date.now(), made = new Date(), given = new Date(5), parsed = new Date('2020-01-01');
console.log(JSON.stringify({
  now: before, made: +made, given: +given, parsed: parsed.toISOString(), utc: Date.UTC(2020, 0),
  isDate: made instanceof Date && made.constructor === Date && Object.prototype.toString.call(made) === '[object Date]',
  text: Date().slice(11, 15), length: Date.length,
  sub: +new (class Day extends Date { get isDay() { return true } })(9), random: [Math.random(), Math.random()],
  uuid: [crypto.randomUUID(), (await import('node:crypto')).randomUUID()],
}));`;

const connections = `
import http from 'node:http';
import https from 'node:https';
const get = (mod, url) => new Promise((resolve) => {
  mod.get(url, (response) => {
    let body = '';
    response.on('data', (chunk) => { body += chunk; }).on('end', () => resolve(JSON.parse(body)));
  }).on('error', (error) => resolve(error.code));
});
const post = async (url) => (await fetch(url, { method: 'POST', body: 'x' })).json();
console.log(JSON.stringify([
  await post('https://api.example.com/v1/a'), await post('http://api.example.com/b'), await post('http://127.0.0.1:4321/c'),
  await get(https, 'https://api.example.com/d'), await get(http, 'http://127.0.0.1:4321/e'),
  await get(http, 'http://127.0.0.1:1/f'),
]));`;

/**
 * Asks a server that is allowed to be live, one of its own, one of a child and a recorded one; then three that are unknown.
 */
const others = (port: number) => `
import http from 'node:http';
import net from 'node:net';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
const text = async (port) => (await fetch('http://localhost:' + port)).text();
const serve = (answer) => "require('node:http').createServer((_, r) => r.end('" + answer + "')).listen(0, function () { console.log(this.address().port) })";
const own = http.createServer((_, response) => response.end('own')).listen(0);
await once(own, 'listening');
const child = spawn(process.execPath, ['-e', serve('own, of a child')], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...process.env, NODE_OPTIONS: '--require ' + process.execArgv.at(-1) },
});
const [line] = await once(child.stdout, 'data');
const answers = [
  await (await fetch('http://127.0.0.1:${port}')).text(), await text(own.address().port), await text(+line),
  await (await fetch('https://api.example.com/')).json(),
];
child.kill();
own.close().closeAllConnections();
const failed = (socket) => new Promise((done) => socket.on('error', done).on('close', done));
await Promise.all([
  fetch('https://hooks.example.com/x').catch(() => {}),
  failed(net.connect(5432, 'db.example.com')),
  failed(net.connect({ port: 1, host: '127.0.0.1' })),
]);
console.log(JSON.stringify(answers));
process.exit();`;

for (const { name, path } of nodesInTurn) {
  test(`${name}: the clock begins at the recorded start, random numbers come from the seed`, async (t) => {
    const first = await run(t, path, clock);
    assert.ok(first.now >= startedAtMs && first.now < startedAtMs + 60_000, `${new Date(first.now)}`);
    assert.ok(first.made >= first.now && first.made < first.now + 60_000);
    assert.deepEqual(
      [first.given, first.parsed, first.utc, first.isDate, first.text, first.length, first.sub],
      [5, '2020-01-01T00:00:00.000Z', Date.UTC(2020, 0), true, '2024', 7, 9],
    );
    for (const uuid of first.uuid)
      assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const second = await run(t, path, clock);
    assert.deepEqual([second.random, second.uuid], [first.random, first.uuid]);
  });

  test(`${name}: recorded servers are answered for, with TLS and without; others are not touched`, async (t) => {
    assert.deepEqual(await run(t, path, connections, ['api.example.com', '127.0.0.1:4321']), [
      ['https', 'api.example.com', '/v1/a'],
      ['http', 'api.example.com', '/b'],
      ['http', '127.0.0.1:4321', '/c'],
      ['https', 'api.example.com', '/d'],
      ['http', '127.0.0.1:4321', '/e'],
      'ECONNREFUSED',
    ]);
  });

  test(`${name}: servers that nobody knows are told of; wished ones and the program's own are asked`, async (t) => {
    const real = createServer((_request, response) => response.end('real')).listen(0, '127.0.0.1');
    await once(real, 'listening');
    t.after(() => real.close().closeAllConnections());
    const { port } = real.address() as AddressInfo;
    const said: string[] = [];
    const answers = await run(t, path, others(port), ['api.example.com'], {
      hosts: [`127.0.0.1:${port}`],
      onUnknown: (line) => said.push(line.trim()),
    });
    assert.deepEqual(answers, ['real', 'own', 'own, of a child', ['https', 'api.example.com', '/']]);
    assert.deepEqual(said.filter((line) => line.startsWith('CONNECT')).sort(), [
      'CONNECT 127.0.0.1:1',
      'CONNECT db.example.com:5432',
      'CONNECT hooks.example.com:443',
    ]);
  });
}
