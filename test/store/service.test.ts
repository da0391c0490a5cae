/** A store behind its service: what clients may do, and what becomes of uploads that are cut, hostile or too many. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { packBundle } from '../../src/bundle/finished/pack.ts';
import { encryptBundle } from '../../src/bundle/finished/pack-encrypted.ts';
import { readLock } from '../../src/bundle/write/age-key.ts';
import { AgentdumpError } from '../../src/errors.ts';
import type { FleetStore } from '../../src/store/fleet-store.ts';
import { listIssues } from '../../src/store/issues.ts';
import type { Store } from '../../src/store/open-store.ts';
import { openRemoteStore } from '../../src/store/service/remote-store.ts';
import { type RunningService, serveStore } from '../../src/store/service/serve.ts';
import {
  claimUpload,
  listTokens,
  makeToken,
  revokeToken,
  usualLimits,
} from '../../src/store/service/tokens.ts';
import { Uploads } from '../../src/store/service/uploads.ts';
import { newStore } from './new-store.ts';
import { randomId, writeDeath } from './synth-death.ts';

let folder = '';
let uploads = '';
let store: Store;
let service: RunningService;
const tokens = { send: '', read: '', manage: '' };
const notes: string[] = [];
let dumps = '';

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agentdump-service-'));
  uploads = join(folder, 'uploads');
  store = await newStore(join(folder, 'store'));
  for (const may of ['send', 'read', 'manage'] as const)
    tokens[may] = await makeToken(store.index, { name: may, may, ...usualLimits });
  service = await serveStore({ store, host: '127.0.0.1', port: 0, uploads, note: (one) => notes.push(one) });
});
after(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  dumps = join(folder, randomId());
  mkdirSync(dumps);
});

const as = (may: keyof typeof tokens): FleetStore => openRemoteStore(service.url, tokens[may]);
const sendTo = async (one: FleetStore, path: string) => (await one.send([path]))[0] ?? assert.fail();
const sendAs = (may: keyof typeof tokens, path: string) => sendTo(as(may), path);
const ask = (path: string, token?: string, more: RequestInit = {}) =>
  fetch(new URL(path, service.url), {
    ...more,
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...(more.headers as object) },
  });
const offerOf = (file: string) => ({
  sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
  bytes: statSync(file).size,
  name: basename(file),
});
const offer = (fields: object, token = tokens.send) =>
  ask('/v1/offers', token, { method: 'POST', body: JSON.stringify(fields) });
const put = ({ sha256, bytes, name }: ReturnType<typeof offerOf>, body: Buffer, offset = 0) =>
  ask(`/v1/uploads/${sha256}?bytes=${bytes}&name=${encodeURIComponent(name)}`, tokens.send, {
    method: 'PUT',
    body: new Uint8Array(body),
    headers: { 'upload-offset': String(offset) },
  });
const nothingIsLeft = () => {
  assert.deepEqual(readdirSync(uploads), []);
  assert.deepEqual(readdirSync(dirname(store.blobs.draft('any'))), []);
};

test('without a valid token there is nothing but the health', async () => {
  const health = await ask('/health');
  assert.deepEqual([health.status, await health.json()], [200, { status: 'ok' }]);
  const paths = ['/', '/v1/issues', '/v1/issues/0123', '/v1/bundles/0123', '/nowhere', '/v1/offers'];
  for (const path of paths)
    for (const token of [undefined, 'adt_wrong', tokens.read.slice(0, -1), `${tokens.read}x`]) {
      const { status } = await ask(path, token);
      assert.equal(status, 401, `${path} ${token}`);
    }
  const revoked = await makeToken(store.index, { name: 'gone', may: 'read', ...usualLimits });
  assert.equal((await ask('/v1/issues', revoked)).status, 200);
  await revokeToken(store.index, 'gone');
  assert.equal((await ask('/v1/issues', revoked)).status, 401);
  await assert.rejects(openRemoteStore(service.url, revoked).list(), /does not accept the token/);
});

test('the index has hashes of tokens, and no token', async () => {
  const rows = JSON.stringify(await store.index.query('select * from agentdump_tokens'));
  for (const token of Object.values(tokens)) assert.ok(!rows.includes(token.slice(4)));
  await assert.rejects(makeToken(store.index, { name: 'send', may: 'send', ...usualLimits }), /already/);
  await assert.rejects(makeToken(store.index, { name: '../x', may: 'send', ...usualLimits }), {
    code: 'usage',
  });
});

test('a token may do what it was made for', async () => {
  const path = writeDeath(dumps);
  await assert.rejects(sendAs('read', path), /may read, and this is for one that may send/);
  await assert.rejects(sendAs('manage', path), /may manage/);
  const sent = await sendAs('send', path);
  assert.equal(sent.outcome, 'stored', sent.because);
  await assert.rejects(as('send').list(), /may send, and this is for one that may read/);
  const id = sent.issue ?? '';
  await assert.rejects(
    as('read').decide({ action: 'ignore', id }),
    /may read, and this is for one that may manage/,
  );
  assert.deepEqual(await as('manage').decide({ action: 'resolve', id: id.slice(0, 6), release: '2.0.0' }), [
    id,
  ]);
  const issue = (await as('read').list()).find((one) => one.id === id);
  assert.equal(issue?.status, 'resolved');
  const story = await as('read').show(id.slice(0, 8));
  assert.equal(story.resolved?.release, '2.0.0');
  const [death] = story.deaths;
  assert.equal(death?.path, `${service.url}v1/bundles/${sent.bundle}`);
  await assert.rejects(as('read').show('ffff'), { code: 'not-found' });
  await assert.rejects(as('manage').reprocess(), { code: 'usage' });
});

test('a bundle is stored once, as it was sealed, and comes back the same', async () => {
  const path = writeDeath(dumps);
  const first = await sendAs('send', path);
  assert.equal((await sendAs('send', path)).outcome, 'there');
  const packed = packBundle(path).path;
  assert.deepEqual(await sendAs('send', packed), {
    path: packed,
    outcome: 'there',
    bundle: first.bundle,
    issue: first.issue,
  });
  const reader = as('read');
  const copy = join(dumps, 'copy.zip');
  assert.equal(await reader.fetch(first.bundle?.slice(0, 10) ?? '', copy), copy);
  assert.ok(readFileSync(copy).equals(readFileSync(packed)));
  await assert.rejects(reader.fetch(first.bundle ?? '', copy), { code: 'unwritable' });
  const found = await reader.find(first.bundle ?? '');
  assert.equal(found?.issue, first.issue);
  assert.ok(existsSync(found?.path ?? ''));
  assert.equal(await reader.find('ffffffffffffffff'), undefined);
  await reader.close();
  assert.equal(existsSync(found?.path ?? ''), false);
  nothingIsLeft();
});

test('an encrypted bundle is stored as it is', async () => {
  const { path } = encryptBundle(writeDeath(dumps), readLock('passphrase:open sesame 42'));
  const sent = await sendAs('send', path);
  assert.equal(sent.outcome, 'stored', sent.because);
  assert.equal((await sendAs('send', path)).outcome, 'there');
  const issue = (await as('read').list()).find(({ id }) => id === sent.issue);
  assert.equal(issue?.title, 'Encrypted bundles of agent: uncaught-exception');
});

test('an upload that was cut continues where it ended, and counts once', async () => {
  const file = packBundle(writeDeath(dumps)).path;
  const offered = offerOf(file);
  const bytes = readFileSync(file);
  const half = Math.floor(bytes.length / 2);
  const used = async () => (await listTokens(store.index)).find(({ name }) => name === 'send');
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
function cutUpload({ sha256, bytes, name }: ReturnType<typeof offerOf>, part: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const url = new URL(`/v1/uploads/${sha256}?bytes=${bytes}&name=${encodeURIComponent(name)}`, service.url);
    const headers = { authorization: `Bearer ${tokens.send}`, 'upload-offset': '0', 'content-length': bytes };
    const sending = request(url, { method: 'PUT', headers });
    sending.on('error', () => {});
    sending.on('close', () => resolve());
    sending.write(part);
    const timer = setInterval(() => {
      if (statSync(join(uploads, `send-${sha256}`)).size === 0) return;
      clearInterval(timer);
      sending.destroy();
    }, 5);
  });
}

test('an examination that takes longer than a request waits is asked for again, and done once', async () => {
  const hasty = await serveStore({
    store: { ...store, close: async () => {} },
    host: '127.0.0.1',
    port: 0,
    uploads: join(folder, 'hasty'),
    patienceMs: 0,
    note: (one) => notes.push(one),
  });
  const path = packBundle(writeDeath(dumps)).path;
  const senders = [1, 2, 3].map(() => sendTo(openRemoteStore(hasty.url, tokens.send), path));
  const outcomes = (await Promise.all(senders)).map(({ outcome }) => outcome);
  assert.ok(outcomes.includes('stored') && !outcomes.includes('refused'), outcomes.join());
  assert.deepEqual(readdirSync(join(folder, 'hasty')), []);
  await hasty.close();
});

test('what is no bundle, or another one than it says, is refused with its reason and leaves nothing', async () => {
  const text = join(dumps, 'a.zip');
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
  const count = (await listIssues(store, { all: true })).length;
  await refused(text, /is no bundle/);
  const altered = writeDeath(dumps);
  appendFileSync(join(altered, 'error.json'), ' ');
  await refused(packBundle(altered).path, /not as it was sealed: error\.json/);
  const torn = readFileSync(packBundle(writeDeath(dumps)).path);
  const tornFile = join(dumps, 'torn.zip');
  writeFileSync(tornFile, torn.subarray(0, torn.length - 100));
  await refused(tornFile, /./);
  const id = randomId();
  assert.equal((await sendAs('send', writeDeath(dumps, { id, message: 'first' }))).outcome, 'stored');
  const other = await sendAs(
    'send',
    writeDeath(dumps, { id, message: 'other', at: '2026-11-22T00:00:00.000Z' }),
  );
  assert.match(other.because ?? '', /another bundle with its id/);
  assert.equal((await listIssues(store, { all: true })).length, count + 1);
  const local = await sendAs('send', join(dumps, 'nothing'));
  assert.match(local.because ?? '', /there is nothing at/);
  nothingIsLeft();
});

test('bytes that were not announced are refused', async () => {
  const file = packBundle(writeDeath(dumps)).path;
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
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const asking = request({ hostname, port, path }, (response) => resolve(response.resume().statusCode));
    asking.on('error', reject).end();
  });
}

test('a bundle at which the service fails does not keep the next one from it', async () => {
  const id = randomId();
  const keep = async (blob: string, draft: string) => {
    if (blob.startsWith(id)) throw new Error('no reason');
    await store.blobs.keep(blob, draft);
  };
  const told: string[] = [];
  const failing = await serveStore({
    store: { ...store, blobs: { ...store.blobs, keep }, close: async () => {} },
    host: '127.0.0.1',
    port: 0,
    uploads: join(folder, 'failing'),
    note: (one) => told.push(one),
  });
  const paths = [writeDeath(dumps, { id }), writeDeath(dumps)];
  const sent: string[] = [];
  const sending = openRemoteStore(failing.url, tokens.send).send(paths, {
    onSent: ({ path, outcome }) => sent.push(`${outcome} ${path}`),
  });
  await assert.rejects(sending, { code: 'unwritable', message: /this failed/ });
  assert.deepEqual(sent, [`stored ${paths[1]}`]);
  assert.deepEqual(told, ['a request failed: no reason']);
  await failing.close();
});

test('what is wrong with the store is told to its operator, and not to those who ask', async () => {
  const told: string[] = [];
  const failing = async () => {
    throw new AgentdumpError('unwritable', 'postgresql://db.internal/dumps: connection refused', {});
  };
  const broken = await serveStore({
    store: { ...store, index: { ...store.index, query: failing }, close: async () => {} },
    host: '127.0.0.1',
    port: 0,
    uploads: join(folder, 'broken'),
    note: (one) => told.push(one),
  });
  for (const path of ['/health', '/v1/issues']) {
    const response = await fetch(new URL(path, broken.url), {
      headers: { authorization: `Bearer ${tokens.read}` },
    });
    assert.equal(response.status, 503);
    assert.doesNotMatch(await response.text(), /internal\/dumps/);
  }
  assert.match(told[0] ?? '', /db\.internal/);
  await broken.close();
});

test('a service that is stopped does not wait for what it examines', async () => {
  const stopped = await serveStore({
    store: { ...store, close: async () => {} },
    host: '127.0.0.1',
    port: 0,
    uploads: join(folder, 'stopped'),
    patienceMs: 0,
    note: () => {},
  });
  const file = packBundle(writeDeath(dumps)).path;
  const offered = offerOf(file);
  const at = (path: string, method: string, body: string | Buffer) =>
    fetch(new URL(path, stopped.url), {
      method,
      body,
      headers: { authorization: `Bearer ${tokens.send}` },
    });
  await at('/v1/offers', 'POST', JSON.stringify(offered));
  const name = encodeURIComponent(offered.name);
  const address = `/v1/uploads/${offered.sha256}?bytes=${offered.bytes}&name=${name}`;
  const answer = await at(address, 'PUT', readFileSync(file));
  assert.deepEqual(await answer.json(), { offset: offered.bytes });
  await stopped.close();
  assert.deepEqual(readdirSync(join(folder, 'stopped')), [`send-${offered.sha256}`]);
});

test('a sender that has reached its limit is told when to come again', async () => {
  const limits = { bundlesPerHour: 2, bytesPerHour: usualLimits.bytesPerHour };
  const token = await makeToken(store.index, { name: 'small', may: 'send', ...limits });
  const small = openRemoteStore(service.url, token);
  const outcomes = [];
  for (let n = 0; n < 2; n++) outcomes.push((await sendTo(small, writeDeath(dumps))).outcome);
  assert.deepEqual(outcomes, ['stored', 'stored']);
  const path = writeDeath(dumps);
  await assert.rejects(sendTo(small, path), {
    code: 'unwritable',
    message: /limit of the token small for this hour/,
  });
  const file = packBundle(path).path;
  const answer = await offer(offerOf(file), token);
  const seconds = Number(answer.headers.get('retry-after'));
  assert.ok(answer.status === 429 && seconds > 0 && seconds <= 3600, String(seconds));
  assert.equal((await sendAs('send', path)).outcome, 'stored', 'another sender has a limit of its own');
});

test('a bundle that a token can never upload is refused, and the hours before are forgotten', async () => {
  const limits = { bundlesPerHour: 1000, bytesPerHour: 1000 };
  const token = await makeToken(store.index, { name: 'tiny', may: 'send', ...limits });
  const sent = await sendTo(openRemoteStore(service.url, token), writeDeath(dumps));
  assert.match(sent.because ?? '', /more than the 1000 that the token tiny may upload in an hour/);
  assert.equal(await claimUpload(store.index, { name: 'tiny', may: 'send', ...limits }, 1001), false);
  const claim = () => claimUpload(store.index, { name: 'tiny', may: 'send', ...limits }, 600);
  assert.deepEqual([await claim(), await claim()], [true, false]);
  await store.index.query(
    "update agentdump_uploads set hour = hour - interval '1 hour' where token = 'tiny'",
  );
  assert.equal(await claim(), true);
  const rows = await store.index.query("select from agentdump_uploads where token = 'tiny'");
  assert.equal(rows.length, 1);
  const { bundles, bytes } = (await listTokens(store.index)).find(({ name }) => name === 'tiny') ?? {};
  assert.deepEqual([bundles, bytes], [2, 1200]);
});

test('a token that was revoked can be made anew', async () => {
  const make = () => makeToken(store.index, { name: 'again', may: 'read', ...usualLimits });
  const first = await make();
  await revokeToken(store.index, 'again');
  const second = await make();
  assert.equal((await ask('/v1/issues', first)).status, 401);
  assert.equal((await ask('/v1/issues', second)).status, 200);
});

test('an upload that two requests begin at once keeps what came first', () => {
  const folder = join(dumps, 'uploads');
  const own = new Uploads(folder);
  const upload = { sender: 'send', sha256: 'c'.repeat(64), bytes: 100 };
  assert.equal(own.begin(upload), 0);
  appendFileSync(own.pathOf(upload), 'some bytes');
  assert.equal(own.begin(upload), 10);
  assert.deepEqual([own.hasRoom(upload), own.hasRoom({ ...upload, bytes: 2 ** 52 })], [true, false]);
});

test('a bundle with a secret in it is counted and not kept', async () => {
  const secret = ['ghp', '_', 'k3Jq8TzW5vXb2NcY7rLdPfHs9MaE4gUoRt6i'].join('');
  const path = writeDeath(dumps, { message: `request with token ${secret} failed`, host: 'leaky-1' });
  const sent = await sendAs('send', path);
  assert.equal(sent.outcome, 'stored', sent.because);
  assert.match(
    sent.because ?? '',
    /counted without its bundle, which seems to contain a secret: error\.json:\d+/,
  );
  const story = await as('read').show(sent.issue ?? '');
  assert.equal(story.bundles, 0);
  assert.doesNotMatch(JSON.stringify(story), new RegExp(secret.slice(4, 20)));
  assert.deepEqual(story.hosts, [{ name: 'leaky-1', count: 1 }]);
  await assert.rejects(as('read').fetch(sent.bundle ?? ''), { code: 'not-found' });
  assert.equal((await sendAs('send', path)).outcome, 'there');
  nothingIsLeft();
});
