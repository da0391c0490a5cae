/** A bundle that is sent is stored once, whole, or refused in words. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { packBundle } from '../../../src/bundle/finished/pack.ts';
import { encryptBundle } from '../../../src/bundle/finished/pack-encrypted.ts';
import { verifyBundle } from '../../../src/bundle/finished/verify.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { readLock } from '../../../src/bundle/write/age-key.ts';
import { fetchBundle } from '../../../src/store/fetch-bundle.ts';
import { listIssues, showIssue } from '../../../src/store/issues.ts';
import { sendBundle, sendBundles } from '../../../src/store/sending/send.ts';
import { randomId, writeDeath } from '../synth-death.ts';
import type { StoreUnderTest } from './store-under-test.ts';

const later = Date.parse('2026-11-24T00:00:00Z');

export function testSending(tested: StoreUnderTest): void {
  const refused = async (path: string, because: RegExp, more = {}) => {
    const sent = await sendBundle(tested.store, path, more);
    assert.equal(sent.outcome, 'refused');
    assert.match(sent.because ?? '', because);
    assert.deepEqual(await listIssues(tested.store), []);
  };

  tested.test('a bundle is stored once, whole, and says what it was', async () => {
    const path = writeDeath(tested.dumps, { release: '1.2.0', host: 'web-3', repeats: 4 });
    const first = await sendBundle(tested.store, path);
    assert.equal(first.outcome, 'stored');
    assert.equal((await sendBundle(tested.store, path)).outcome, 'there');
    assert.equal((await sendBundle(tested.store, packBundle(path).path)).outcome, 'there');
    const [issue, ...others] = await listIssues(tested.store, { nowMs: later });
    assert.deepEqual(others, []);
    assert.deepEqual(issue, {
      id: first.issue,
      title: issue?.title,
      kind: 'uncaught-exception',
      count: 5,
      firstSeen: '2026-11-21T03:04:05.678Z',
      lastSeen: '2026-11-21T03:04:05.678Z',
      firstRelease: '1.2.0',
      lastRelease: '1.2.0',
      status: 'ongoing',
      because: issue?.because,
    });
    assert.match(issue.title, /^TypeError: Cannot read properties of undefined \(reading 'title'\)/);
    assert.match(issue.because, /error TypeError, .*stack planNextStep@plan\.js < runAgent@\(main\)/);
    const story = await showIssue(tested.store, issue.id.slice(0, 6));
    assert.deepEqual(story.hours, [{ hour: '2026-11-21T03:00:00.000Z', count: 5 }]);
    assert.deepEqual(story.hosts, [{ name: 'web-3', count: 5 }]);
    assert.equal(story.bundles, 1);
    const [death] = story.deaths;
    assert.equal(death?.bundle, first.bundle);
    const blob = basename(death?.path ?? '');
    assert.equal(death?.path, tested.store.blobs.locate(blob));
    const kept = openBundle(await tested.store.blobs.read(blob));
    assert.deepEqual([kept.id, kept.packed, kept.sealed], [first.bundle, true, true]);
    kept.close();
    const copy = join(tested.dumps, 'copy.zip');
    const id = first.bundle ?? '';
    assert.equal(await fetchBundle(tested.store, id.slice(0, 6), copy), copy);
    assert.ok(readFileSync(copy).equals(readFileSync(await tested.store.blobs.read(blob))));
    await assert.rejects(fetchBundle(tested.store, id, copy), /EEXIST/);
    await assert.rejects(fetchBundle(tested.store, 'ffff%'), { code: 'not-found' });
  });

  tested.test('what is no sealed bundle is refused in words, and leaves nothing', async () => {
    await refused(join(tested.dumps, 'nothing'), /there is nothing at/);
    const text = join(tested.dumps, 'a.agentdump.zip');
    writeFileSync(text, 'no zip at all');
    await refused(text, /is no bundle/);
    mkdirSync(join(tested.dumps, 'empty'));
    await refused(join(tested.dumps, 'empty'), /./);
    const altered = writeDeath(tested.dumps);
    appendFileSync(join(altered, 'error.json'), ' ');
    await refused(altered, /not as it was sealed: error\.json/);
    const more = writeDeath(tested.dumps);
    writeFileSync(join(more, 'more.txt'), 'x');
    await refused(more, /no seal names: more\.txt/);
    const torn = writeDeath(tested.dumps);
    rmSync(join(torn, 'manifest.json'));
    await refused(torn, /no seal/);
    await refused(writeDeath(tested.dumps), /more than the 100 that a store takes/, { mostBytes: 100 });
    await refused(packBundle(writeDeath(tested.dumps)).path, /more than the 100 that/, { mostBytes: 100 });
    await refused(writeDeath(tested.dumps, { id: '../../../../etc/x' }), /no seal|its id is none/);
    const drafts = readdirSync(dirname(tested.store.blobs.draft('any')));
    assert.deepEqual(
      drafts.filter((name) => name.includes(`.${process.pid}-`)),
      [],
    );
  });

  tested.test('another bundle under an id that is there is refused', async () => {
    const id = randomId();
    await tested.send({ id });
    const sent = await sendBundle(
      tested.store,
      writeDeath(tested.dumps, { id, message: 'another', at: '2026-11-22T00:00:00.000Z' }),
    );
    assert.equal(sent.outcome, 'refused');
    assert.match(sent.because ?? '', /another bundle with its id/);
    assert.equal((await listIssues(tested.store))[0]?.count, 1);
  });

  tested.test('of two with one id that two processes add at once the first stays', async () => {
    const id = randomId();
    const first = writeDeath(tested.dumps, { id });
    const other = writeDeath(tested.dumps, { id, message: 'another', at: '2026-11-22T00:00:00.000Z' });
    const keep = async (blob: string, draft: string) => {
      assert.equal((await sendBundle(tested.store, first)).outcome, 'stored');
      await tested.store.blobs.keep(blob, draft);
    };
    const late = await sendBundle({ ...tested.store, blobs: { ...tested.store.blobs, keep } }, other);
    assert.match(late.because ?? '', /another bundle with its id/);
    const copy = join(tested.dumps, 'first.zip');
    await fetchBundle(tested.store, id, copy);
    assert.equal(verifyBundle(copy).manifestSha256, verifyBundle(first).manifestSha256);
  });

  tested.test('of several with one id that are sent at once one is stored', async () => {
    const id = randomId();
    const first = writeDeath(tested.dumps, { id });
    const other = writeDeath(tested.dumps, { id, message: 'another', at: '2026-11-22T00:00:00.000Z' });
    const sent = await sendBundles(tested.store, [
      first,
      packBundle(first).path,
      other,
      writeDeath(tested.dumps),
    ]);
    assert.deepEqual(
      sent.map(({ outcome }) => outcome),
      ['stored', 'there', 'refused', 'stored'],
    );
    const copy = join(tested.dumps, 'first.zip');
    await fetchBundle(tested.store, id, copy);
    assert.equal(verifyBundle(copy).manifestSha256, verifyBundle(first).manifestSha256);
  });

  tested.test('a bundle at which the store fails does not keep the next ones from it', async () => {
    const id = randomId();
    const paths = Array.from({ length: 20 }, (_, n) => writeDeath(tested.dumps, n === 2 ? { id } : {}));
    const keep = async (blob: string, draft: string) => {
      if (blob.startsWith(id)) throw new Error('no reason');
      await tested.store.blobs.keep(blob, draft);
    };
    const failing = { ...tested.store, blobs: { ...tested.store.blobs, keep } };
    const told: string[] = [];
    const sending = sendBundles(failing, paths, { onSent: ({ path }) => told.push(path) });
    await assert.rejects(sending, /no reason/);
    assert.deepEqual(
      told,
      paths.filter((_, n) => n !== 2),
    );
  });

  tested.test('a store that fails at every bundle is not asked for all of them', async () => {
    const paths = Array.from({ length: 40 }, () => writeDeath(tested.dumps));
    let asked = 0;
    const keep = async () => {
      asked++;
      throw new Error('full');
    };
    const full = { ...tested.store, blobs: { ...tested.store.blobs, keep } };
    await assert.rejects(sendBundles(full, paths), /full/);
    assert.ok(asked < paths.length, String(asked));
  });

  tested.test(
    'texts that a database does not take, and times that can not be, are taken as they can be',
    async () => {
      const at = '2999-01-01T00:00:00.000Z';
      await tested.send({
        message: 'nul \0 half \ud83d bidi \u202e end',
        host: 'a\0b',
        release: '1\0',
        program: 'x',
      });
      await sendBundle(tested.store, writeDeath(tested.dumps, { at, message: 'the future' }));
      const issues = await listIssues(tested.store);
      assert.equal(issues.length, 2);
      assert.ok(issues.every(({ lastSeen }) => Date.parse(lastSeen) <= Date.now()));
    },
  );

  tested.test(
    'an encrypted bundle is stored sealed, and counted where it belongs once it is opened',
    async () => {
      const clear = writeDeath(tested.dumps);
      const { path } = encryptBundle(clear, readLock('passphrase:open sesame 42'));
      const keys = { identities: [], passphrase: 'open sesame 42' };
      const sealed = await sendBundle(tested.store, path);
      assert.equal(sealed.outcome, 'stored');
      assert.equal((await sendBundle(tested.store, path)).outcome, 'there');
      const [unopened] = await listIssues(tested.store);
      assert.equal(unopened?.title, 'Encrypted bundles of agent: uncaught-exception');
      const wrong = { identities: [], passphrase: 'wrong' };
      assert.equal((await sendBundle(tested.store, path, { keys: wrong })).outcome, 'refused');
      assert.equal((await sendBundle(tested.store, path, { keys })).outcome, 'stored');
      assert.equal((await sendBundle(tested.store, path)).outcome, 'there');
      assert.equal((await sendBundle(tested.store, clear)).outcome, 'there');
      const issues = await listIssues(tested.store);
      assert.deepEqual(
        issues.map(({ kind, count }) => [kind, count]),
        [['uncaught-exception', 1]],
      );
      const { deaths } = await showIssue(tested.store, issues[0]?.id ?? '');
      assert.match(deaths[0]?.path ?? '', /\.agentdump\.zip\.age$/);
    },
  );
}
