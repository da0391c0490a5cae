/** A store behind its service: what clients may do, what is kept of a bundle, and the limits of a sender. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packBundle } from '../../../src/bundle/finished/pack.ts';
import { encryptBundle } from '../../../src/bundle/finished/pack-encrypted.ts';
import { readLock } from '../../../src/bundle/write/age-key.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { openRemoteStore } from '../../../src/store/service/remote-store.ts';
import { serveStore } from '../../../src/store/service/serve.ts';
import {
  claimUpload,
  listTokens,
  makeToken,
  revokeToken,
  usualLimits,
} from '../../../src/store/service/tokens.ts';
import { randomId, writeDeath } from '../synth-death.ts';
import { serviceUnderTest } from './under-test.ts';

const at = serviceUnderTest();
const { as, sendTo, sendAs, ask, offer, offerOf, nothingIsLeft, tokens } = at;

test('without a valid token there is nothing but the health', async () => {
  const health = await ask('/health');
  assert.deepEqual([health.status, await health.json()], [200, { status: 'ok' }]);
  const paths = ['/', '/v1/issues', '/v1/issues/0123', '/v1/bundles/0123', '/nowhere', '/v1/offers'];
  for (const path of paths)
    for (const token of [undefined, 'adt_wrong', tokens.read.slice(0, -1), `${tokens.read}x`]) {
      const { status } = await ask(path, token);
      assert.equal(status, 401, `${path} ${token}`);
    }
  const revoked = await makeToken(at.store.index, { name: 'gone', may: 'read', ...usualLimits });
  assert.equal((await ask('/v1/issues', revoked)).status, 200);
  await revokeToken(at.store.index, 'gone');
  assert.equal((await ask('/v1/issues', revoked)).status, 401);
  await assert.rejects(openRemoteStore(at.service.url, revoked).list(), /does not accept the token/);
});

test('a refusal says by its code what is wrong, and in its text where and what next', async () => {
  const cases: [string, string | undefined, number, string, RegExp][] = [
    ['/v1/issues', undefined, 401, 'token-missing', /GET \/v1\/issues has no token.*Bearer.*serve token/],
    ['/v1/issues', 'adt_wrong', 401, 'token-invalid', /GET \/v1\/issues has a token.*revoked.*serve token/],
    ['/v1/issues', tokens.send, 403, 'not-allowed', /token send may send.*GET \/v1\/issues.*--may read/],
    ['/v2/faults?q=x', tokens.read, 404, 'no-such-address', /GET \/v2\/faults: check .*AGENTDUMP_STORE/],
    ['/v1/issues/ffff', tokens.read, 404, 'not-found', /no issue ffff/],
    ['/v1/issues/%ff', tokens.read, 400, 'bad-address', /%ff/],
    [`/${'a'.repeat(5_000)}`, tokens.read, 404, 'no-such-address', /^.{1,400}$/],
  ];
  for (const [path, token, status, code, text] of cases) {
    const response = await ask(path, token);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    assert.deepEqual([response.status, error.code], [status, code], path);
    assert.match(error.message, text);
    assert.ok(!error.message.includes('?'), error.message);
  }
});

test('the index has hashes of tokens, and no token', async () => {
  const rows = JSON.stringify(await at.store.index.query('select * from agentdump_tokens'));
  for (const token of Object.values(tokens)) assert.ok(!rows.includes(token.slice(4)));
  await assert.rejects(makeToken(at.store.index, { name: 'send', may: 'send', ...usualLimits }), /already/);
  await assert.rejects(makeToken(at.store.index, { name: '../x', may: 'send', ...usualLimits }), {
    code: 'usage',
  });
});

test('a token may do what it was made for', async () => {
  const path = writeDeath(at.dumps);
  await assert.rejects(
    sendAs('read', path),
    /may read, and POST \/v1\/offers is for one that may send.*serve token <name> --may send/,
  );
  await assert.rejects(sendAs('manage', path), /may manage/);
  const sent = await sendAs('send', path);
  assert.equal(sent.outcome, 'stored', sent.because);
  await assert.rejects(as('send').list(), /may send, and GET \/v1\/issues is for one that may read/);
  const id = sent.issue ?? '';
  await assert.rejects(
    as('read').decide({ action: 'ignore', id }),
    /may read, and POST \/v1\/issues\/\w+ is for one that may manage/,
  );
  assert.deepEqual(await as('manage').decide({ action: 'resolve', id: id.slice(0, 6), release: '2.0.0' }), [
    id,
  ]);
  const issue = (await as('read').list()).find((one) => one.id === id);
  assert.equal(issue?.status, 'resolved');
  const story = await as('read').show(id.slice(0, 8));
  assert.equal(story.resolved?.release, '2.0.0');
  const [death] = story.deaths;
  assert.equal(death?.path, `${at.service.url}v1/bundles/${sent.bundle}`);
  await assert.rejects(as('read').show('ffff'), { code: 'not-found' });
  await assert.rejects(as('manage').reprocess(), { code: 'usage' });
});

test('a bundle is stored once, as it was sealed, and comes back the same', async () => {
  const path = writeDeath(at.dumps);
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
  const copy = join(at.dumps, 'copy.zip');
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

test('the starts that a sender has counted are in the rates of those who read', async () => {
  const path = writeDeath(at.dumps, { message: 'one in fifty', at: new Date().toISOString() });
  const sender = at.as('send');
  const day = new Date().toISOString().slice(0, 10);
  const starts = Array.from({ length: 120 }, (_, n) => ({
    log: n.toString(16).padStart(16, '0'),
    ...{ day, program: 'shop & co', host: 'web-1', count: 5 },
  }));
  await sender.countStarts(starts);
  const [sent] = await sender.send([path], { programOf: () => 'shop & co' });
  await sender.countStarts(starts);
  const story = await at.as('read').show(sent?.issue ?? assert.fail());
  assert.deepEqual(story.rate, { deaths: 1, starts: 600, since: day });
  await assert.rejects(at.as('read').countStarts(starts), /may read/);
});

test('a row without the form does not keep the others from being counted, nor a program name a bundle', async () => {
  const path = writeDeath(at.dumps, { message: 'one in ninety', at: new Date().toISOString() });
  const sender = at.as('send');
  const name = `${'y'.repeat(199)}\u{1f600}`;
  const program = `${'y'.repeat(199)}\ufffd`;
  const [sent] = await sender.send([path], { programOf: () => name });
  assert.equal(sent?.outcome, 'stored', sent?.because);
  const day = new Date().toISOString().slice(0, 10);
  const starts = Array.from({ length: 90 }, (_, n) => {
    const log = (0xa00 + n).toString(16).padStart(16, '0');
    return { log, day, program, host: 'web-1', count: 1 };
  });
  const bad = [
    { ...starts[0]!, program: name },
    { ...starts[0]!, day: '2026-02-30' },
  ];
  await assert.rejects(sender.countStarts([...bad, ...starts]), /program is not a program/);
  const { rate } = await at.as('read').show(sent?.issue ?? assert.fail());
  assert.equal(rate?.starts, 90);
});

test('an encrypted bundle is stored as it is', async () => {
  const { path } = encryptBundle(writeDeath(at.dumps), readLock('passphrase:open sesame 42'));
  const sent = await sendAs('send', path);
  assert.equal(sent.outcome, 'stored', sent.because);
  assert.equal((await sendAs('send', path)).outcome, 'there');
  const issue = (await as('read').list()).find(({ id }) => id === sent.issue);
  assert.equal(issue?.title, 'Encrypted bundles of agent: uncaught-exception');
});

test('a bundle at which the service fails does not keep the next one from it', async () => {
  const id = randomId();
  const keep = async (blob: string, draft: string) => {
    if (blob.startsWith(id)) throw new Error('no reason');
    await at.store.blobs.keep(blob, draft);
  };
  const told: string[] = [];
  const failing = await serveStore({
    store: { ...at.store, blobs: { ...at.store.blobs, keep }, close: async () => {} },
    host: '127.0.0.1',
    port: 0,
    uploads: join(at.folder, 'failing'),
    note: (one) => told.push(one),
  });
  const paths = [writeDeath(at.dumps, { id }), writeDeath(at.dumps)];
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
    store: { ...at.store, index: { ...at.store.index, query: failing }, close: async () => {} },
    host: '127.0.0.1',
    port: 0,
    uploads: join(at.folder, 'broken'),
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

test('a sender that has reached its limit is told when to come again', async () => {
  const limits = { bundlesPerHour: 2, bytesPerHour: usualLimits.bytesPerHour };
  const token = await makeToken(at.store.index, { name: 'small', may: 'send', ...limits });
  const small = openRemoteStore(at.service.url, token);
  const outcomes = [];
  for (let n = 0; n < 2; n++) outcomes.push((await sendTo(small, writeDeath(at.dumps))).outcome);
  assert.deepEqual(outcomes, ['stored', 'stored']);
  const path = writeDeath(at.dumps);
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
  const token = await makeToken(at.store.index, { name: 'tiny', may: 'send', ...limits });
  const sent = await sendTo(openRemoteStore(at.service.url, token), writeDeath(at.dumps));
  assert.match(sent.because ?? '', /more than the 1000 that the token tiny may upload in an hour/);
  assert.equal(await claimUpload(at.store.index, { name: 'tiny', may: 'send', ...limits }, 1001), false);
  const claim = () => claimUpload(at.store.index, { name: 'tiny', may: 'send', ...limits }, 600);
  assert.deepEqual([await claim(), await claim()], [true, false]);
  await at.store.index.query(
    "update agentdump_uploads set hour = hour - interval '1 hour' where token = 'tiny'",
  );
  assert.equal(await claim(), true);
  const rows = await at.store.index.query("select from agentdump_uploads where token = 'tiny'");
  assert.equal(rows.length, 1);
  const { bundles, bytes } = (await listTokens(at.store.index)).find(({ name }) => name === 'tiny') ?? {};
  assert.deepEqual([bundles, bytes], [2, 1200]);
});

test('a token that was revoked can be made anew', async () => {
  const make = () => makeToken(at.store.index, { name: 'again', may: 'read', ...usualLimits });
  const first = await make();
  await revokeToken(at.store.index, 'again');
  const second = await make();
  assert.equal((await ask('/v1/issues', first)).status, 401);
  assert.equal((await ask('/v1/issues', second)).status, 200);
});

test('a bundle with a secret in it is counted and not kept', async () => {
  const secret = ['ghp', '_', 'k3Jq8TzW5vXb2NcY7rLdPfHs9MaE4gUoRt6i'].join('');
  const path = writeDeath(at.dumps, { message: `request with token ${secret} failed`, host: 'leaky-1' });
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
