/** `agentdump send` and `agentdump issues`, through the built program, with bundles of programs that really died. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sentName } from '../../src/store/sending/outbox.ts';
import { preload, temporaryFolder } from '../support/victims/run-victim.ts';

const cli = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const commit = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b';

test('deaths of two releases, one fault resolved and back, and the words of the commands', (t) => {
  const folder = temporaryFolder(t);
  const app = join(folder, 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"name":"shop","version":"1.4.0"}');
  writeFileSync(
    join(app, 'pay.js'),
    'function pay(n) { throw new RangeError("card " + n + " refused"); }\npay(process.pid);\n',
  );
  writeFileSync(join(app, 'load.js'), 'function load(o) { return o.customer.name; }\nload({});\n');
  const place = join(folder, 'store');
  let dumps = '';
  const die = (program: string, more: Record<string, string>) => {
    dumps = join(folder, `dumps-${Math.random().toString(16).slice(2)}`);
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      AGENTDUMP_DIR: dumps,
      AGENTDUMP_HEAP: 'off',
      ...more,
    };
    assert.equal(spawnSync(process.execPath, ['--require', preload, join(app, program)], { env }).status, 1);
  };
  const agentdump = (...words: string[]) => {
    const env = { PATH: process.env['PATH'], AGENTDUMP_DIR: dumps, AGENTDUMP_STORE: place };
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], {
      env,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const list = () => JSON.parse(agentdump('issues', '--json').stdout).issues;

  die('pay.js', { GITHUB_SHA: commit, NODE_ENV: 'production' });
  assert.deepEqual(
    JSON.parse(agentdump('send', 'latest', '--json').stdout).sent.map(
      ({ outcome }: { outcome: string }) => outcome,
    ),
    ['stored'],
  );
  const again = agentdump('send', '--all');
  assert.deepEqual([again.status, again.stderr], [0, '']);
  assert.match(again.stdout, /^there +\S+\.agentdump {2}issue [0-9a-f]{8}\n$/);
  die('load.js', { AGENTDUMP_RELEASE: 'shop@1.3.9' });
  assert.equal(agentdump('send', '--all').status, 0);

  const [first, second, ...others] = list();
  assert.deepEqual(others, []);
  const [pay, load] = /card/.test(first.title) ? [first, second] : [second, first];
  assert.deepEqual([pay.firstRelease, load.lastRelease], ['1.4.0+9f86d081884c', 'shop@1.3.9']);
  assert.deepEqual(Object.keys(pay), [
    'id',
    'title',
    'count',
    'firstSeen',
    'lastSeen',
    'firstRelease',
    'lastRelease',
    'status',
    'because',
  ]);
  assert.match(agentdump('issues').stdout, /id +status +deaths[\s\S]*new +1 .*RangeError: card \d+ refused/);

  assert.equal(
    agentdump('issues', 'resolve', pay.id.slice(0, 8), '--release', '1.5.0').stdout,
    `${pay.id.slice(0, 8)} resolved\n`,
  );
  die('pay.js', { AGENTDUMP_RELEASE: '1.4.9' });
  agentdump('send', 'latest');
  const statusOf = (id: string) => list().find((one: { id: string }) => one.id === id)?.status;
  assert.equal(statusOf(pay.id), 'resolved');
  die('pay.js', { AGENTDUMP_RELEASE: '1.5.0' });
  agentdump('send', 'latest');
  assert.equal(statusOf(pay.id), 'regressed');
  const story = JSON.parse(agentdump('issues', 'show', pay.id, '--json').stdout);
  assert.equal(story.count, 3);
  assert.deepEqual(story.environments, [{ name: 'production', count: 1 }]);
  assert.equal(story.deaths.find((one: { commit?: string }) => one.commit)?.commit, commit);
  assert.match(
    agentdump('issues', 'show', pay.id).stdout,
    /regressed · 3 deaths[\s\S]*Grouped because\n[\s\S]*error RangeError/,
  );
  assert.equal(agentdump('analyze', story.deaths[0].path).status, 0, 'what is kept can be analyzed');

  assert.equal(agentdump('send').status, 2);
  assert.equal(agentdump('send', 'latest', '--all').status, 2);
  assert.equal(agentdump('issues', 'shw', pay.id).status, 2);
  assert.equal(agentdump('issues', 'merge', pay.id).status, 2);
  assert.equal(agentdump('issues', '--release', '1').status, 2);
  assert.equal(agentdump('issues', 'show', 'ffff').status, 3);
  writeFileSync(join(folder, 'not.agentdump.zip'), 'no bundle');
  const refusal = agentdump('send', join(folder, 'not.agentdump.zip'));
  assert.equal(refusal.status, 1);
  assert.match(refusal.stdout, /^refused .*is no bundle/);
});

test('run and ci have their bundles sent by another process, and a store that is down changes nothing', async (t) => {
  const folder = temporaryFolder(t);
  const place = join(folder, 'store');
  writeFileSync(join(folder, 'dies.js'), 'setTimeout(() => { throw new RangeError("no rate"); }, 50);\n');
  writeFileSync(
    join(folder, 'fails.test.js'),
    'require("node:test").test("adds", () => { throw new Error("two is not three"); });\n',
  );
  const agentdump = (store: string, dumps: string, ...words: string[]) => {
    const env = { PATH: process.env['PATH'], AGENTDUMP_DIR: join(folder, dumps), AGENTDUMP_STORE: store };
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], {
      env,
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const untilNoted = async (dir: string, outcome: string) => {
    const list = join(folder, dir, sentName);
    while (!existsSync(list) || !readFileSync(list, 'utf8').includes(`"outcome":"${outcome}"`))
      await new Promise((resolve) => setTimeout(resolve, 50));
  };

  const downAt = `postgres://localhost:1/none ${join(folder, 'blobs')}`;
  const unsent = agentdump(downAt, 'dumps', 'run', '--', process.execPath, 'dies.js');
  assert.equal(unsent.status, 1);
  assert.match(unsent.stderr, /RangeError: no rate/);
  await untilNoted('dumps', 'failed');
  assert.match(
    agentdump(downAt, 'dumps', 'status').stdout,
    /Not sent to the store: 1 bundle, [\s\S]*The last try failed at \S+: postgres:\/\/localhost:1\/none: .*ECONNREFUSED/,
  );

  // The next death also sends the unsent bundle of the first.
  writeFileSync(join(folder, 'dies.js'), 'setTimeout(() => { null.rate; }, 50);\n');
  assert.equal(agentdump(place, 'dumps', 'run', '--', process.execPath, 'dies.js').status, 1);
  await untilNoted('dumps', 'stored');
  const report = join(folder, 'report');
  const red = agentdump(
    place,
    'dumps',
    'ci',
    '--on-failure',
    'snapshot',
    '--report',
    report,
    '--',
    process.execPath,
    '--test',
    'fails.test.js',
  );
  assert.equal(red.status, 1, red.stderr);
  await untilNoted('report/bundles', 'stored');
  while (JSON.parse(agentdump(place, 'dumps', 'status', '--json').stdout).unsent.waiting.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 100));

  // Two starts by `run` ended in deaths, this one does not. No start of the test run was counted.
  writeFileSync(join(folder, 'dies.js'), '');
  assert.equal(agentdump(place, 'dumps', 'run', '--', process.execPath, 'dies.js').status, 0);
  assert.equal(agentdump(place, 'dumps', 'send', '--all').status, 0);
  const issues = agentdump(place, 'dumps', 'issues', '--all').stdout;
  assert.match(issues, /^id +status +deaths +of starts /);
  assert.match(issues, /new +1 +1 in 3 .*no rate/);
  assert.match(issues, /new +1 +20.*two is not three/);
  const titles = JSON.parse(agentdump(place, 'dumps', 'issues', '--json', '--all').stdout).issues.map(
    ({ title }: { title: string }) => title,
  );
  for (const part of ['no rate', 'of null', 'two is not three'])
    assert.ok(
      titles.some((title: string) => title.includes(part)),
      `${part} is in ${titles.join(' | ')}`,
    );
});

test('without a store run has a collector that is down and Sentry told by another process, and dies the same death', async (t) => {
  const folder = temporaryFolder(t);
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (more: string) => {
      body += more;
    });
    request.on('end', () => {
      bodies.push(body);
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  writeFileSync(join(folder, 'dies.js'), 'setTimeout(() => { throw new RangeError("no rate"); }, 50);\n');
  const dumps = join(folder, 'dumps');
  const env = {
    PATH: process.env['PATH'],
    AGENTDUMP_DIR: dumps,
    AGENTDUMP_OTLP: 'http://127.0.0.1:1',
    AGENTDUMP_SENTRY: `http://key@127.0.0.1:${(server.address() as AddressInfo).port}/7`,
  };
  const child = spawn(process.execPath, [cli, 'run', '--', process.execPath, 'dies.js'], {
    env,
    cwd: folder,
    stdio: 'ignore',
  });
  const [code] = await once(child, 'exit');
  assert.equal(code, 1);
  const list = join(dumps, sentName);
  const lines = () => (existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : []);
  while (lines().length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(
    lines()
      .map((line) => JSON.parse(line).outcome)
      .sort(),
    ['failed', 'stored'],
  );
  assert.equal(bodies.length, 1);
  assert.match(bodies[0] ?? '', /"type":"event"[\s\S]*no rate[\s\S]*"filename":"account\.json"/);
  const { stdout } = spawnSync(process.execPath, [cli, 'status'], { env, cwd: folder, encoding: 'utf8' });
  assert.match(stdout, /Not sent to the collector at 127\.0\.0\.1:1: 1 bundle/);
  assert.match(stdout, /Every sealed bundle was sent to Sentry at 127\.0\.0\.1/);
});
