/** Requests that are not model calls, recorded with their content and answered in a replay, as a user sees it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { openBundle } from '../../src/bundle/read/reader.ts';
import { cleanEnvironment, runCli } from '../support/agents/recorded-deaths.ts';
import { onlyWide } from '../support/run/test-nodes.ts';
import { findFreePort } from '../support/system/free-port.ts';
import { preload } from '../support/victims/run-victim.ts';

const here = dirname(fileURLToPath(import.meta.url));
const faulty = readFileSync(join(here, 'http-program.mjs'), 'utf8');
const fixed = faulty.replace('days[0].degrees', "days[0]?.degrees ?? 'unknown'");
const secrets = {
  API_KEY: 'k9-hunter2-hunter2-hunter2',
  answered: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
};
const large = `${'a line of a long text\n'.repeat(15_000)}`;
let dir = '';
let recorded = { bundle: '', port: 0 };

/** Starts the API, on `port` if it is to come back at the recorded one. */
async function startApi(port?: number) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    if (request.url === '/large') return void response.end(large);
    if (request.url === '/picture') return void response.end(Buffer.from([0x89, 0x50, 0, 0xff]));
    if (request.url?.startsWith('/search')) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      return void response.end(gzipSync(JSON.stringify({ id: 7, token: secrets.answered })));
    }
    response.writeHead(200, { 'content-type': 'application/json', etag: '"seven"' });
    response.end(JSON.stringify({ days: [], note: 'Snøfall, «tung»' }));
  });
  server.listen(port ?? (await findFreePort()), '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { asked, port: (server.address() as AddressInfo).port, close };
}

async function record(name: string, more: Record<string, string>): Promise<{ bundle: string; port: number }> {
  const api = await startApi();
  const env = cleanEnvironment(dir, {
    API_URL: `http://127.0.0.1:${api.port}`,
    API_KEY: secrets.API_KEY,
    AGENTDUMP_DIR: join(dir, name),
    AGENTDUMP_HEAP: 'off',
    ...more,
  });
  await once(
    spawn(process.execPath, ['--require', preload, 'http-program.mjs'], { cwd: dir, env, stdio: 'ignore' }),
    'exit',
  );
  await api.close();
  const [bundle = assert.fail('no bundle')] = readdirSync(join(dir, name)).filter((one) =>
    /\.agentdump(\.zip\.age)?$/.test(one),
  );
  return { bundle: join(dir, name, bundle), port: api.port };
}

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
  writeFileSync(join(dir, 'http-program.mjs'), faulty);
  recorded = await record('content', { AGENTDUMP_CAPTURE_HTTP: 'content' });
});

after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));

const agent = ['--', process.execPath, 'http-program.mjs'];
async function replay(
  bundle: string,
  words: string[] = [],
  env: Record<string, string> = {},
  program = faulty,
) {
  writeFileSync(join(dir, 'http-program.mjs'), program);
  return runCli(['replay', bundle, ...words, ...agent], dir, env);
}

test('a death of what an API said is reproduced with the API gone, five times of five', {
  skip: onlyWide,
}, async () => {
  for (let n = 0; n < 5; n++) {
    const { code, stdout, stderr } = await replay(recorded.bundle, ['--expect', 'same']);
    assert.match(stdout, /^REPRODUCED: the same death/, stderr);
    assert.match(stdout, /answered +2 of 2 other recorded requests/);
    assert.match(stderr, /1 answer held a secret: the program gets what stands in its place/);
    assert.equal(code, 0);
  }
});

test('a fixed program gets the recorded text and headers, and ends well', async () => {
  const { code, stdout, stderr } = await replay(recorded.bundle, ['--expect', 'fixed'], {}, fixed);
  assert.match(stdout, /^NO DEATH: it ended well/m, stderr);
  assert.match(stderr, /unknown degrees, "seven"/);
  assert.equal(code, 0);
});

test('a changed request is shown as a diff, and stops, goes live, or is answered', {
  skip: onlyWide,
}, async () => {
  const env = { CITY: 'Bergen' };
  const stopped = await replay(recorded.bundle, [], env);
  assert.match(stopped.stdout, /^DIVERGED/, stopped.stderr);
  assert.match(stopped.stdout, /h1 body\n +- .*"city":"Oslo".*\n +\+ .*"city":"Bergen"/);
  assert.equal(stopped.code, 1);
  const answered = await replay(recorded.bundle, ['--on-mismatch', 'answer'], env);
  assert.match(answered.stdout, /^REPRODUCED/, answered.stderr);
  const elsewhere = await replay(recorded.bundle, [], {}, faulty.replace('units=metric', 'units=imperial'));
  assert.match(elsewhere.stdout, /h1 url\n +- .*units=metric\n +\+ .*units=imperial/, elsewhere.stderr);
  const api = await startApi(recorded.port);
  const live = await replay(recorded.bundle, ['--on-mismatch', 'live'], env);
  await api.close();
  assert.match(live.stdout, /^REPRODUCED/, live.stderr);
  assert.deepEqual(api.asked, ['POST /search?units=metric']);
});

test('a program that asks for more than was recorded has gone past the death', {
  skip: onlyWide,
}, async () => {
  const program = `${fixed}\nawait get(base + '/more');`;
  const { stdout, stderr } = await replay(recorded.bundle, ['--expect', 'fixed'], {}, program);
  assert.match(stdout, /^NO DEATH: it went on past/m, stderr);
});

test('neither the secret that was sent nor the one that came is in the bundle or in a saved test', {
  skip: onlyWide,
}, async () => {
  const bundle = openBundle(recorded.bundle);
  const parts = bundle.parts.map(({ name }) => Buffer.from(bundle.readPart(name) ?? []).toString('latin1'));
  bundle.close();
  const { stdout } = await replay(recorded.bundle, ['--save-test', join(dir, 'saved')]);
  const [, saved = ''] = stdout.trim().split('\n');
  const texts = [...parts, readFileSync(saved, 'utf8')];
  assert.ok(texts.some((text) => text.includes('units=metric')));
  for (const secret of Object.values(secrets))
    for (const text of texts) assert.ok(!text.includes(secret), `${secret} is in it`);
  const again = await replay(saved, ['--expect', 'same']);
  assert.match(again.stdout, /^REPRODUCED[\s\S]*2 of 2 other/, again.stderr);
});

test('an answer that was too long, or no text, is named, and stops or goes live', {
  skip: onlyWide,
}, async () => {
  for (const [first, reason] of [
    ['/large', /h1 can't be answered: its answer has 330000 bytes, of which only the beginning is kept/],
    ['/picture', /h1 can't be answered: its answer has 4 bytes, which are no text and not kept/],
  ] as const) {
    const { bundle, port } = await record(`name-${first.slice(1)}`, {
      AGENTDUMP_CAPTURE_HTTP: 'content',
      FIRST: first,
    });
    const stopped = await replay(bundle);
    assert.match(stopped.stdout, /^DIVERGED/, stopped.stderr);
    assert.match(stopped.stdout, reason);
    const api = await startApi(port);
    const live = await replay(bundle, ['--on-mismatch', 'live']);
    await api.close();
    assert.match(live.stdout, /^REPRODUCED/, live.stderr);
    assert.deepEqual(api.asked, [`GET ${first}`]);
  }
});

test('by default nothing of the content is recorded, and the replay says how to change that', {
  skip: onlyWide,
}, async () => {
  const { bundle } = await record('metadata', {});
  const opened = openBundle(bundle);
  const events = Buffer.from(opened.readPart('agent-events.json') ?? []).toString('utf8');
  opened.close();
  assert.match(events, /"http\.(start|end)"/);
  assert.doesNotMatch(events, /units=metric|"answered"|"asked"/);
  const { stderr } = await replay(bundle);
  const said = stderr.match(
    /2 other requests were recorded without content; record them with AGENTDUMP_CAPTURE_HTTP=content/g,
  );
  assert.equal(said?.length, 1, stderr);
});

test('under a recipient nothing of it is on the disk in the clear, and its reader can replay it', {
  skip: onlyWide,
}, async () => {
  const AGENTDUMP_PASSPHRASE = 'correct horse battery';
  const { bundle } = await record('sealed', {
    AGENTDUMP_CAPTURE_HTTP: 'content',
    AGENTDUMP_RECIPIENT: `passphrase:${AGENTDUMP_PASSPHRASE}`,
  });
  const folder = join(dir, 'sealed');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) assert.ok(!readFileSync(join(entry.parentPath, entry.name)).includes('units=metric'));
  const { stdout, stderr } = await replay(bundle, [], { AGENTDUMP_PASSPHRASE });
  assert.match(stdout, /^REPRODUCED[\s\S]*answered +2 of 2 other recorded requests/, stderr);
});

test('a death by SIGKILL, which writes nothing itself, is answered from the journal', {
  skip: onlyWide,
}, async () => {
  const program = `${fixed}\nprocess.kill(process.pid, 'SIGKILL');`;
  writeFileSync(join(dir, 'http-program.mjs'), program);
  const api = await startApi();
  const env = cleanEnvironment(dir, {
    API_URL: `http://127.0.0.1:${api.port}`,
    AGENTDUMP_DIR: join(dir, 'killed'),
    AGENTDUMP_CAPTURE_HTTP: 'content',
  });
  await runCli(['run', '--', process.execPath, 'http-program.mjs'], dir, env as Record<string, string>);
  await api.close();
  const [bundle = assert.fail('no bundle')] = readdirSync(join(dir, 'killed')).filter((one) =>
    one.endsWith('.agentdump'),
  );
  const { stdout, stderr } = await replay(
    join(dir, 'killed', bundle),
    [],
    { API_URL: `http://127.0.0.1:${api.port}` },
    program,
  );
  assert.match(stdout, /^REPRODUCED[\s\S]*answered +2 of 2 other recorded requests/, stderr);
});
