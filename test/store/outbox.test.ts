/**
 * The record of what a dump folder has sent: accepted, refused and failed bundles, by store; torn and foreign lines; a list
 * that has grown long.
 */
import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { noteFailure, noteSent, readOutbox, sentName } from '../../src/store/sending/outbox.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';
import { randomId, writeDeath } from './synth-death.ts';

const place = '/srv/store';
const names = (dir: string, at = place) => readOutbox(dir, at).waiting.map(({ name }) => name);

test('what is sealed waits, oldest first, until this store took or refused it', (t) => {
  const dir = temporaryFolder(t);
  const [late, early] = [
    writeDeath(dir, { at: '2026-11-22T03:04:05.678Z' }),
    writeDeath(dir, { at: '2026-11-21T03:04:05.678Z' }),
  ];
  assert.deepEqual(
    names(dir),
    [early, late].map((path) => basename(path)),
  );
  noteSent(dir, place, { path: early, outcome: 'stored' });
  assert.deepEqual(names(dir), [basename(late)]);
  assert.equal(names(dir, '/srv/other').length, 2);
  noteSent(dir, place, { path: late, outcome: 'refused', because: 'it is torn' });
  assert.deepEqual(readOutbox(dir, place), {
    waiting: [],
    refused: [{ name: basename(late), because: 'it is torn' }],
  });
  noteSent(dir, place, { path: late, outcome: 'there' });
  assert.deepEqual(readOutbox(dir, place).refused, []);
});

test('a failure is told until a try succeeds, and no password is kept', (t) => {
  const dir = temporaryFolder(t);
  const [first, second] = ['postgres://me:geheim99@db/x /blobs', 'postgres://me:changed@db/x /blobs'];
  const path = writeDeath(dir);
  noteFailure(dir, first, 'connect ECONNREFUSED');
  assert.equal(readOutbox(dir, second).failure?.because, 'connect ECONNREFUSED');
  noteSent(dir, second, { path, outcome: 'stored' });
  assert.equal(readOutbox(dir, first).failure, undefined);
  assert.deepEqual(names(dir, first), []);
  assert.doesNotMatch(readFileSync(join(dir, sentName), 'utf8'), /geheim99|changed/);
});

test('after a failure the newest go first, so that old ones that always fail hold up no others', (t) => {
  const dir = temporaryFolder(t);
  const paths = ['2026-11-21', '2026-11-22', '2026-11-23'].map((day) =>
    writeDeath(dir, { id: randomId(), at: `${day}T03:04:05.678Z` }),
  );
  const inOrder = paths.map((path) => basename(path));
  noteFailure(dir, place, 'no space left');
  assert.deepEqual(names(dir), inOrder.toReversed());
  noteSent(dir, place, { path: paths[2] ?? '', outcome: 'stored' });
  assert.deepEqual(names(dir), inOrder.slice(0, 2));
});

test('torn and foreign lines cost a question and nothing else', (t) => {
  const dir = temporaryFolder(t);
  const path = writeDeath(dir);
  for (const line of ['{"at":"2026', 'null', '[]', '{"at":1,"store":2,"outcome":"stored"}', '\0\0'])
    appendFileSync(join(dir, sentName), `${line}\n`);
  assert.equal(names(dir).length, 1);
  noteSent(dir, place, { path, outcome: 'stored' });
  assert.deepEqual(names(dir), []);
});

test('a list that grew keeps the bundles that are there', (t) => {
  const dir = temporaryFolder(t);
  const [kept, gone] = [writeDeath(dir, { id: randomId() }), writeDeath(dir, { id: randomId() })];
  for (const path of [kept, gone]) noteSent(dir, place, { path, outcome: 'stored' });
  rmSync(gone, { recursive: true });
  const long = 'x'.repeat(1000);
  for (let n = 0; n < 1200; n++) noteFailure(dir, place, long);
  assert.ok(statSync(join(dir, sentName)).size < 500_000);
  const text = readFileSync(join(dir, sentName), 'utf8');
  assert.ok(text.includes(basename(kept)) && !text.includes(basename(gone)));
  assert.deepEqual(names(dir), []);
});

test('a folder that cannot be written to is asked about again', { skip: process.getuid?.() === 0 }, (t) => {
  const dir = temporaryFolder(t);
  const path = writeDeath(dir);
  chmodSync(dir, 0o500);
  noteSent(dir, place, { path, outcome: 'stored' });
  assert.equal(names(dir).length, 1);
  chmodSync(dir, 0o700);
});

test('a folder that is not there has nothing to send', () => {
  assert.deepEqual(readOutbox('/nowhere/at/all', place), { waiting: [], refused: [] });
  noteFailure('/nowhere/at/all', place, 'no folder');
});
