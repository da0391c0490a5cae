/** Uploads to a service that are cut, late, hostile or not what was announced. */
import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { packBundle } from '../../../src/bundle/finished/pack.ts';
import { listIssues } from '../../../src/store/issues.ts';
import type { Offer } from '../../../src/store/service/protocol.ts';
import { openRemoteStore } from '../../../src/store/service/remote-store.ts';
import { serveStore } from '../../../src/store/service/serve.ts';
import { listTokens } from '../../../src/store/service/tokens.ts';
import { Uploads } from '../../../src/store/service/uploads.ts';
import { randomId, writeDeath } from '../synth-death.ts';
import { serviceUnderTest } from './under-test.ts';

const at = serviceUnderTest();
const { sendTo, sendAs, ask, offer, offerOf, put, nothingIsLeft, tokens, notes } = at;

test('an upload that was cut continues where it ended, and counts once', async () => {
  const file = packBundle(writeDeath(at.dumps)).path;
  const offered = offerOf(file);
  const bytes = readFileSync(file);
  const half = Math.floor(bytes.length / 2);
  const used = async () => (await listTokens(at.store.index)).find(({ name }) => name === 'send');
  const first = await used();
  assert.deepEqual(await (await offer(offered)).json(), { offset: 0 });
  await cutUpload(offered, bytes.subarray(0, half));
  const continued = await offsetAbove(0, offered);
  assert.ok(continued <= half);
  const wrong = await put(offered, bytes, 0);
  assert.match(await wrong.text(), /continues at \d+, not at 0/);
  assert.equal((await sendAs('send', file)).outcome, 'stored');
  const last = await used();
  assert.deepEqual(
    [last?.bundles, last?.bytes],
    [(first?.bundles ?? 0) + 1, (first?.bytes ?? 0) + bytes.length],
  );
  nothingIsLeft();
});

test('what a killed service has left beyond the end of an upload is sent anew', async () => {
  const file = packBundle(writeDeath(at.dumps)).path;
  const offered = offerOf(file);
  writeFileSync(join(at.uploads, `send-${offered.sha256}`), Buffer.alloc(offered.bytes + 1));
  assert.equal((await sendAs('send', file)).outcome, 'stored');
  nothingIsLeft();
});

/** The service has the bytes a moment after they were sent. */
async function offsetAbove(least: number, offered: object): Promise<number> {
  for (let tries = 0; tries < 1000; tries++) {
    const { offset } = (await (await offer(offered)).json()) as { offset: number };
    if (offset > least) return offset;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail('no byte came');
}

/** Sends some bytes of an upload, and closes the connection when the service has some of them. */
function cutUpload({ sha256, bytes, name }: Offer, part: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const url = new URL(
      `/v1/uploads/${sha256}?bytes=${bytes}&name=${encodeURIComponent(name)}`,
      at.service.url,
    );
    const headers = { authorization: `Bearer ${tokens.send}`, 'upload-offset': '0', 'content-length': bytes };
    const sending = request(url, { method: 'PUT', headers });
    sending.on('error', () => {});
    sending.on('close', () => resolve());
    sending.write(part);
    const timer = setInterval(() => {
      if (statSync(join(at.uploads, `send-${sha256}`)).size === 0) return;
      clearInterval(timer);
      sending.destroy();
    }, 5);
  });
}

test('an examination that takes longer than a request waits is asked for again, and done once', async () => {
  const hasty = await serveStore({
    store: { ...at.store, close: async () => {} },
    host: '127.0.0.1',
    port: 0,
    uploads: join(at.folder, 'hasty'),
    patienceMs: 0,
    note: (one) => notes.push(one),
  });
  const path = packBundle(writeDeath(at.dumps)).path;
  const senders = [1, 2, 3].map(() => sendTo(openRemoteStore(hasty.url, tokens.send), path));
  const outcomes = (await Promise.all(senders)).map(({ outcome }) => outcome);
  assert.ok(outcomes.includes('stored') && !outcomes.includes('refused'), outcomes.join());
  assert.deepEqual(readdirSync(join(at.folder, 'hasty')), []);
  await hasty.close();
});

test('what is no bundle, or another one than it says, is refused with its reason and leaves nothing', async () => {
  const text = join(at.dumps, 'a.zip');
  writeFileSync(text, 'no zip at all');
  const refused = async (file: string, because: RegExp) => {
    const offered = offerOf(file);
    assert.deepEqual(await (await offer(offered)).json(), { offset: 0 });
    const answer = (await (await put(offered, readFileSync(file))).json()) as {
      outcome: string;
      because: string;
    };
    assert.equal(answer.outcome, 'refused');
    assert.match(answer.because, because);
    nothingIsLeft();
  };
  const count = (await listIssues(at.store, { all: true })).length;
  await refused(text, /is no bundle/);
  const altered = writeDeath(at.dumps);
  appendFileSync(join(altered, 'error.json'), ' ');
  await refused(packBundle(altered).path, /not as it was sealed: error\.json/);
  const torn = readFileSync(packBundle(writeDeath(at.dumps)).path);
  const tornFile = join(at.dumps, 'torn.zip');
  writeFileSync(tornFile, torn.subarray(0, torn.length - 100));
  await refused(tornFile, /./);
  const id = randomId();
  assert.equal((await sendAs('send', writeDeath(at.dumps, { id, message: 'first' }))).outcome, 'stored');
  const other = await sendAs(
    'send',
    writeDeath(at.dumps, { id, message: 'other', at: '2026-11-22T00:00:00.000Z' }),
  );
  assert.match(other.because ?? '', /another bundle with its id/);
  assert.equal((await listIssues(at.store, { all: true })).length, count + 1);
  const local = await sendAs('send', join(at.dumps, 'nothing'));
  assert.match(local.because ?? '', /there is nothing at/);
  nothingIsLeft();
});

test('bytes that were not announced are refused', async () => {
  const file = packBundle(writeDeath(at.dumps)).path;
  const bytes = readFileSync(file);
  const offered = { ...offerOf(file), sha256: 'a'.repeat(64) };
  await offer(offered);
  const wrong = await put(offered, bytes);
  assert.deepEqual(
    [wrong.status, (await wrong.text()).includes('not those that were announced')],
    [400, true],
  );
  nothingIsLeft();
  const short = { ...offerOf(file), bytes: 10 };
  await offer(short);
  assert.equal((await put(short, bytes)).status, 400);
  nothingIsLeft();
  assert.equal((await put(offered, bytes)).status, 400, 'it was not offered');
  nothingIsLeft();
});

test('requests that say nonsense are refused, and the service lives', async () => {
  const sha256 = 'b'.repeat(64);
  const nonsense: object[] = [
    {},
    { sha256: '../../../../etc/passwd', bytes: 1, name: 'x' },
    { sha256, bytes: -1, name: 'x' },
    { sha256, bytes: 1.5, name: 'x' },
    { sha256, bytes: 1, name: '../x' },
    { sha256, bytes: 1, name: 'x', bundle: 'zz', digest: sha256 },
    { sha256, bytes: 1, name: 'x', bundle: '0123456789abcdef' },
    { name: 'x'.repeat(100_000) },
  ];
  for (const fields of nonsense)
    assert.ok([400, 413].includes((await offer(fields)).status), JSON.stringify(fields));
  const huge = await offer({ sha256, bytes: 2 ** 40, name: 'x' });
  assert.match(await huge.text(), /more than the \d+ that a store takes/);
  const bodies = ['', '[]', 'null', '{"action":"drop"}', '{"action":"merge","others":[1]}', '{'];
  for (const body of bodies)
    assert.equal((await ask('/v1/issues/0123', tokens.manage, { method: 'POST', body })).status, 400, body);
  for (const path of [
    '/v1/bundles/..%2f..%2fetc%2fpasswd',
    '/v1/bundles/%00',
    '/v1/bundles/',
    '/v1/issues/%27or',
  ])
    assert.equal((await ask(path, tokens.read)).status, 404, path);
  assert.equal((await ask('/v1/bundles/%E0%A4%A', tokens.read)).status, 400);
  assert.equal((await ask('/health')).status, 200);
  nothingIsLeft();
  assert.deepEqual(notes, []);
});

test('a refusal arrives although its request was not read', async () => {
  const body = Buffer.alloc(8 * 1024 ** 2);
  const offered = { sha256: 'd'.repeat(64), bytes: body.length, name: 'x' };
  for (const [path, token, method, status] of [
    [`/v1/uploads/${offered.sha256}?bytes=${body.length}&name=x`, 'adt_wrong', 'PUT', 401],
    [`/v1/uploads/${offered.sha256}?bytes=${body.length}&name=x`, tokens.read, 'PUT', 403],
    [`/v1/uploads/${offered.sha256}?bytes=${body.length}&name=x`, tokens.send, 'PUT', 400],
    ['/v1/offers', tokens.send, 'POST', 413],
    ['/nowhere', tokens.send, 'PUT', 404],
  ] as const)
    assert.equal((await ask(path, token, { method, body })).status, status, `${method} ${path}`);
  assert.equal(await statusOf('//'), 401);
  assert.equal(await statusOf('//health'), 401);
  assert.deepEqual(notes, []);
});

/** Of a path that `fetch` would rewrite. */
function statusOf(path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(at.service.url);
  return new Promise((resolve, reject) => {
    const asking = request({ hostname, port, path }, (response) => resolve(response.resume().statusCode));
    asking.on('error', reject).end();
  });
}

test('a service that is stopped does not wait for what it examines', async () => {
  const stopped = await serveStore({
    store: { ...at.store, close: async () => {} },
    host: '127.0.0.1',
    port: 0,
    uploads: join(at.folder, 'stopped'),
    patienceMs: 0,
    note: () => {},
  });
  const file = packBundle(writeDeath(at.dumps)).path;
  const offered = offerOf(file);
  const asked = (path: string, method: string, body: string | Buffer) =>
    fetch(new URL(path, stopped.url), {
      method,
      body,
      headers: { authorization: `Bearer ${tokens.send}` },
    });
  await asked('/v1/offers', 'POST', JSON.stringify(offered));
  const name = encodeURIComponent(offered.name);
  const address = `/v1/uploads/${offered.sha256}?bytes=${offered.bytes}&name=${name}`;
  const answer = await asked(address, 'PUT', readFileSync(file));
  assert.deepEqual(await answer.json(), { offset: offered.bytes });
  await stopped.close();
  assert.deepEqual(readdirSync(join(at.folder, 'stopped')), [`send-${offered.sha256}`]);
});

test('an upload that two requests begin at once keeps what came first', () => {
  const own = new Uploads(join(at.dumps, 'uploads'));
  const upload = { sender: 'send', sha256: 'c'.repeat(64), bytes: 100 };
  assert.equal(own.begin(upload), 0);
  appendFileSync(own.pathOf(upload), 'some bytes');
  assert.equal(own.begin(upload), 10);
  assert.deepEqual([own.hasRoom(upload), own.hasRoom({ ...upload, bytes: 2 ** 52 })], [true, false]);
});
