/** Bundles in S3: the conformance tests, and what the bucket's answers become. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname } from 'node:path';
import { after, before, test } from 'node:test';
import { openS3Blobs, readS3Place } from '../../src/store/blobs/s3-blobs.ts';
import { listIssues } from '../../src/store/issues.ts';
import { openStore } from '../../src/store/open-store.ts';
import { sendBundle } from '../../src/store/sending/send.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../support/system/postgres.ts';
import { type S3Server, startS3, whyNoS3 } from '../support/system/s3.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';
import { testStore } from './conformance/conformance.ts';
import { writeDeath } from './synth-death.ts';

const skip = whyNoPostgres() ?? whyNoS3();
let database: PostgresServer;
let s3: S3Server;
before(async () => {
  if (skip) return;
  [database, s3] = await Promise.all([startPostgres(), startS3()]);
  Object.assign(process.env, s3.environment);
});
after(async () => {
  await database?.remove();
  await s3?.remove();
});

testStore({ name: 'S3', skip, open: () => openStore(`${database.url} s3://dumps/team/prod`) });

test('a file of several parts comes back as it was sent, and nothing of it stays here', {
  skip: skip ?? false,
}, async (t) => {
  const blobs = await openS3Blobs({ bucket: 'dumps', prefix: 'large/' });
  const draft = blobs.draft('large.zip');
  const bytes = Buffer.alloc(40 * 1024 ** 2 + 17);
  for (let at = 0; at < bytes.length; at += 4093) bytes[at] = at % 251;
  writeFileSync(draft, bytes);
  await blobs.keep('large.zip', draft);
  assert.equal(existsSync(draft), false);
  const copy = await blobs.read('large.zip');
  assert.ok(readFileSync(copy).equals(bytes));
  await blobs.drop('large.zip');
  await blobs.drop('large.zip');
  await assert.rejects(blobs.read('large.zip'), {
    code: 'not-found',
    message: 'the store has no bundle at s3://dumps/large/large.zip',
  });
  await blobs.close();
  assert.equal(existsSync(dirname(copy)), false);
  t.diagnostic(`${bytes.length} bytes`);
});

test('a bucket that is missing, keys that are wrong, and a server that is away are told apart', {
  skip: skip ?? false,
}, async (t) => {
  const open = () => openS3Blobs({ bucket: 'nowhere', prefix: '' });
  await assert.rejects(open(), { code: 'unwritable', message: 's3://nowhere/: there is no such bucket' });
  const known = { ...process.env };
  t.after(() => Object.assign(process.env, known));
  // This server checks who asks, and not the signature.
  process.env['AWS_ACCESS_KEY_ID'] = 'not-the-key-4711';
  await assert.rejects(openS3Blobs({ bucket: 'dumps', prefix: '' }), (error: Error) => {
    assert.match(error.message, /s3:\/\/dumps\/: access is denied/);
    assert.doesNotMatch(error.message, /4711/);
    return true;
  });
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  process.env['AWS_ENDPOINT_URL_S3'] = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  await assert.rejects(openS3Blobs({ bucket: 'dumps', prefix: '' }, { silentMs: 50 }), {
    message: 's3://dumps/: it does not answer',
  });
  process.env['AWS_ENDPOINT_URL_S3'] = 'http://127.0.0.1:1';
  await assert.rejects(openS3Blobs({ bucket: 'dumps', prefix: '' }), /ECONNREFUSED/);
});

test('a server that dies while a bundle is sent loses nothing, and counts nothing twice', {
  skip: skip ?? false,
}, async (t) => {
  const folder = temporaryFolder(t);
  const store = await openStore(`${database.url} s3://dumps/dies`);
  t.after(() => store.close());
  const count = async () =>
    (await listIssues(store)).find(({ title }) => /while s3 was away/.test(title))?.count;
  const path = writeDeath(folder, { message: 'while s3 was away' });
  await s3.kill();
  await assert.rejects(sendBundle(store, path), { code: 'unwritable' });
  assert.equal(await count(), undefined, 'the index names no bundle that is not there');
  const drafts = readdirSync(dirname(store.blobs.draft('any'))).filter((name) =>
    name.includes(`.${process.pid}-`),
  );
  assert.deepEqual(drafts, []);
  await s3.start();
  assert.equal((await sendBundle(store, path)).outcome, 'stored');
  assert.equal((await sendBundle(store, path)).outcome, 'there');
  assert.equal(await count(), 1);
});

test('what names a bucket, and what does not', () => {
  assert.deepEqual(readS3Place('s3://dumps'), { bucket: 'dumps', prefix: '' });
  assert.deepEqual(readS3Place('s3://dumps/'), { bucket: 'dumps', prefix: '' });
  assert.deepEqual(readS3Place('s3://my.dumps//team/prod//'), { bucket: 'my.dumps', prefix: 'team/prod/' });
  assert.equal(readS3Place('/srv/s3'), undefined);
  assert.throws(() => readS3Place('s3://'), /names no bucket/);
  assert.throws(() => readS3Place('s3:///x'), /names no bucket/);
});

test('a bucket alone is no store', async () => {
  await assert.rejects(openStore('s3://dumps/x'), /a store needs an index, "postgres:\/\/host\/database s3:/);
});
