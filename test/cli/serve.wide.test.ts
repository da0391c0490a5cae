/** `agentdump serve` through the built program: a death on one machine, read on another, and a service that is killed. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { noteStart } from '../../src/bundle/keep/starts.ts';
import { readOutbox } from '../../src/store/sending/outbox.ts';
import { writeDeath } from '../store/synth-death.ts';
import { findFreePort } from '../support/system/free-port.ts';
import { preload, temporaryFolder } from '../support/victims/run-victim.ts';

const cli = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));

test('a sender, a reader, and a service that is killed between them', async (t) => {
  const folder = temporaryFolder(t);
  const dumps = join(folder, 'dumps');
  const place = join(folder, 'store');
  const uploads = join(folder, 'uploads');
  mkdirSync(folder, { recursive: true });
  const agentdump = (more: Record<string, string>, ...words: string[]) => {
    const env = { PATH: process.env['PATH'], HOME: folder, AGENTDUMP_DIR: dumps, ...more };
    const ran = spawnSync(process.execPath, [cli, ...words], { env, cwd: folder, encoding: 'utf8' });
    return { status: ran.status, stdout: ran.stdout, stderr: ran.stderr };
  };
  const die = (name: string) => {
    writeFileSync(join(folder, `${name}.js`), `function ${name}(o) { return o.total; }\n${name}();\n`);
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      AGENTDUMP_DIR: dumps,
      AGENTDUMP_HEAP: 'off',
    };
    assert.equal(
      spawnSync(process.execPath, ['--require', preload, join(folder, `${name}.js`)], { env }).status,
      1,
    );
  };
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/`;
  const serve = async (): Promise<ChildProcess> => {
    const words = [cli, 'serve', '--store', place, '--port', String(port), '--uploads', uploads];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
    t.after(() => child.kill('SIGKILL'));
    const [first] = await once(child.stdout, 'data');
    assert.equal(String(first), `${url}\n`);
    return child;
  };
  const token = (name: string, may: string) => {
    const made = agentdump({}, 'serve', 'token', name, '--may', may, '--store', place);
    assert.match(made.stdout, /^adt_[\w-]{43}\n$/, made.stderr);
    return { AGENTDUMP_STORE: url, AGENTDUMP_STORE_TOKEN: made.stdout.trim() };
  };
  const [sender, reader] = [token('ci', 'send'), token('me', 'manage')];
  const first = await serve();

  die('pay');
  const sent = agentdump(sender, 'send', '--all');
  assert.deepEqual([sent.status, sent.stderr], [0, '']);
  assert.match(sent.stdout, /^stored +\S+\.agentdump {2}issue [0-9a-f]{8}\n$/);
  const { issues } = JSON.parse(agentdump(reader, 'issues', '--json').stdout);
  assert.equal(issues.length, 1);
  assert.match(issues[0].title, /TypeError: .*'total'.* at .*pay\.js:1/);
  const story = JSON.parse(agentdump(reader, 'issues', 'show', issues[0].id, '--json').stdout);
  const fetched = agentdump(reader, 'issues', 'fetch', story.deaths[0].bundle, '--output', 'copy.zip');
  assert.equal(fetched.stdout.trim(), join(folder, 'copy.zip'));
  assert.match(
    agentdump({}, 'analyze', 'copy.zip').stdout,
    /^✖ TypeError: Cannot read properties of undefined/,
  );
  assert.match(agentdump(reader, 'issues', 'resolve', issues[0].id.slice(0, 8)).stdout, /resolved/);
  const refused = agentdump(sender, 'issues');
  assert.deepEqual(
    [refused.status, /may send, and GET \S+ is for one that may read/.test(refused.stderr)],
    [2, true],
  );

  first.kill('SIGKILL');
  await once(first, 'exit');
  die('load');
  const away = agentdump(sender, 'send', '--all', '--background');
  assert.equal(away.status, 0);
  assert.match(agentdump(sender, 'status').stdout, /ECONNREFUSED/);
  const second = await serve();
  assert.equal(agentdump(sender, 'send', '--all').status, 0);
  assert.equal(JSON.parse(agentdump(reader, 'issues', '--json').stdout).issues.length, 2);
  second.kill('SIGTERM');
  assert.deepEqual(await once(second, 'exit'), [0, null]);

  assert.match(agentdump({}, 'serve', 'tokens', '--store', place).stdout, /ci +send .* 2, \d/);
  assert.equal(agentdump({}, 'serve', 'revoke', 'ci', '--store', place).stdout, 'ci revoked\n');
  assert.equal(agentdump({}, 'serve', 'revoke', 'ci', '--store', place).status, 3);
  assert.ok(existsSync(uploads));
});

test('starts that a service does not count keep no bundle from being sent', async (t) => {
  const dumps = join(temporaryFolder(t), 'dumps');
  noteStart(dumps, { session: '0'.repeat(16), program: 'pay' });
  writeDeath(dumps);
  const asked: string[] = [];
  const service = createServer((request, response) => {
    asked.push(request.url ?? '');
    const isStarts = request.url === '/v1/starts';
    request
      .resume()
      .once('end', () =>
        response
          .writeHead(isStarts ? 500 : 200)
          .end(isStarts ? '{"error":{"code":"internal","message":"this failed"}}' : '{"outcome":"stored"}'),
      );
  });
  service.listen(0, '127.0.0.1');
  t.after(() => service.close());
  await once(service, 'listening');
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/`;
  const env = {
    PATH: process.env['PATH'],
    AGENTDUMP_DIR: dumps,
    AGENTDUMP_STORE: url,
    AGENTDUMP_STORE_TOKEN: 'x',
  };
  const send = async (...words: string[]) => {
    const child = spawn(process.execPath, [cli, 'send', '--all', ...words], { env });
    child.stdout.resume();
    const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    return { status, said };
  };
  const { status, said } = await send('--background');
  assert.deepEqual([status, said], [0, '']);
  assert.deepEqual(asked, ['/v1/starts', '/v1/offers']);
  const { waiting, failure } = readOutbox(dumps, url);
  assert.deepEqual(waiting, []);
  assert.match(failure?.because ?? '', /^the starts were not counted: .*this failed/);
  const again = await send();
  assert.deepEqual([again.status, /the starts were not counted/.test(again.said)], [0, true]);
});

test('words of serve that make no sense', (t) => {
  const folder = temporaryFolder(t);
  const serve = (...words: string[]) =>
    spawnSync(process.execPath, [cli, 'serve', ...words], {
      encoding: 'utf8',
      env: { HOME: folder, PATH: process.env['PATH'] },
    });
  for (const [words, because] of [
    [[], /no store: name one/],
    [['--store', 'https://x/'], /is a service itself/],
    [['--store', folder, 'tokn'], /no action tokn/],
    [['--store', folder, 'token', 'ci'], /--may send\|read\|manage/],
    [['--store', folder, 'token', '--may', 'send'], /serve token <name>/],
    [['--store', folder, 'tokens', 'ci'], /takes no name/],
    [['--store', folder, '--may', 'send'], /--may/],
    [['--store', folder, '--port', '99999'], /0 to 65535/],
  ] as const) {
    const { status, stderr } = serve(...words);
    assert.equal(status, 2, words.join(' '));
    assert.match(stderr, because);
  }
});
