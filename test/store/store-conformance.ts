/** What every store must do, whichever database runs its SQL. */
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
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { packBundle } from '../../src/bundle/finished/pack.ts';
import { encryptBundle } from '../../src/bundle/finished/pack-encrypted.ts';
import { verifyBundle } from '../../src/bundle/finished/verify.ts';
import { openBundle } from '../../src/bundle/read/reader.ts';
import { readLock } from '../../src/bundle/write/age-key.ts';
import { fetchBundle } from '../../src/store/fetch-bundle.ts';
import { addDeath, findDeath } from '../../src/store/index/add-death.ts';
import { recount } from '../../src/store/index/recount.ts';
import {
  findIssue,
  ignoreIssue,
  listIssues,
  mergeIssues,
  reopenIssue,
  resolveIssue,
  showIssue,
  splitIssue,
} from '../../src/store/issues.ts';
import type { Store } from '../../src/store/open-store.ts';
import { countOutdated, reprocess } from '../../src/store/reprocess.ts';
import { removeSurplus } from '../../src/store/retention.ts';
import { sendBundle, sendBundles } from '../../src/store/send.ts';
import { randomId, type SynthDeath, writeDeath } from './synth-death.ts';

export interface StoreKind {
  name: string;
  skip?: string | undefined;
  open(folder: string): Promise<Store>;
}

const tables = ['deaths', 'signatures', 'issues', 'spans', 'hours', 'names', 'releases', 'alerts'];
/** Another signature like one that is there. */
const copySignature = (id: string, issue: string, where: string): string =>
  `insert into agentdump_signatures
     (id, version, parts, kind, title, program, issue, count, bundles, runs, first_seen, first_release, last_seen, last_release)
   select ${id}, version, parts, kind, title, program, ${issue}, count, bundles, runs, first_seen, first_release, last_seen,
     last_release
   from agentdump_signatures ${where}`;
const day = 24 * 60 * 60_000;
const later = Date.parse('2026-11-24T00:00:00Z');

export function testStore({ name, skip, open }: StoreKind): void {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-store-'));
  const options = { skip: skip ?? false };
  let store: Store;
  let dumps = '';
  beforeEach(async () => {
    if (skip) return;
    store ??= await open(folder);
    for (const table of tables)
      await store.index.query(`delete from agentdump_${table} where true`).catch(() => {});
    for (const table of tables) await store.index.query(`delete from agentdump_${table} where true`);
    dumps = mkdtempSync(join(folder, 'dumps-'));
  });
  after(async () => {
    await store?.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  const send = async (death: SynthDeath = {}) => {
    const sent = await sendBundle(store, writeDeath(dumps, death));
    assert.equal(sent.outcome, 'stored', sent.because);
    return sent.issue ?? assert.fail();
  };
  const refused = async (path: string, because: RegExp, more = {}) => {
    const sent = await sendBundle(store, path, more);
    assert.equal(sent.outcome, 'refused');
    assert.match(sent.because ?? '', because);
    assert.deepEqual(await listIssues(store), []);
  };

  test(`${name}: a bundle is stored once, whole, and says what it was`, options, async () => {
    const path = writeDeath(dumps, { release: '1.2.0', host: 'web-3', repeats: 4 });
    const first = await sendBundle(store, path);
    assert.equal(first.outcome, 'stored');
    assert.equal((await sendBundle(store, path)).outcome, 'there');
    assert.equal((await sendBundle(store, packBundle(path).path)).outcome, 'there');
    const [issue, ...others] = await listIssues(store, { nowMs: later });
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
    assert.match(issue.because, /error TypeError, .*stack planNextStep@plan\.js < runAgent@agent\.js/);
    const story = await showIssue(store, issue.id.slice(0, 6));
    assert.deepEqual(story.hours, [{ hour: '2026-11-21T03:00:00.000Z', count: 5 }]);
    assert.deepEqual(story.hosts, [{ name: 'web-3', count: 5 }]);
    assert.equal(story.bundles, 1);
    const [death] = story.deaths;
    assert.equal(death?.bundle, first.bundle);
    const blob = basename(death?.path ?? '');
    assert.equal(death?.path, store.blobs.locate(blob));
    const kept = openBundle(await store.blobs.read(blob));
    assert.deepEqual([kept.id, kept.packed, kept.sealed], [first.bundle, true, true]);
    kept.close();
    const copy = join(dumps, 'copy.zip');
    const id = first.bundle ?? '';
    assert.equal(await fetchBundle(store, id.slice(0, 6), copy), copy);
    assert.ok(readFileSync(copy).equals(readFileSync(await store.blobs.read(blob))));
    await assert.rejects(fetchBundle(store, id, copy), /EEXIST/);
    await assert.rejects(fetchBundle(store, 'ffff%'), { code: 'not-found' });
  });

  test(`${name}: what is no sealed bundle is refused in words, and leaves nothing`, options, async () => {
    await refused(join(dumps, 'nothing'), /there is nothing at/);
    const text = join(dumps, 'a.agentdump.zip');
    writeFileSync(text, 'no zip at all');
    await refused(text, /is no bundle/);
    mkdirSync(join(dumps, 'empty'));
    await refused(join(dumps, 'empty'), /./);
    const altered = writeDeath(dumps);
    appendFileSync(join(altered, 'error.json'), ' ');
    await refused(altered, /not as it was sealed: error\.json/);
    const more = writeDeath(dumps);
    writeFileSync(join(more, 'more.txt'), 'x');
    await refused(more, /no seal names: more\.txt/);
    const torn = writeDeath(dumps);
    rmSync(join(torn, 'manifest.json'));
    await refused(torn, /no seal/);
    await refused(writeDeath(dumps), /more than the 100 that a store takes/, { mostBytes: 100 });
    await refused(packBundle(writeDeath(dumps)).path, /more than the 100 that/, { mostBytes: 100 });
    await refused(writeDeath(dumps, { id: '../../../../etc/x' }), /no seal|its id is none/);
    const drafts = readdirSync(dirname(store.blobs.draft('any')));
    assert.deepEqual(
      drafts.filter((name) => name.includes(`.${process.pid}-`)),
      [],
    );
  });

  test(`${name}: another bundle under an id that is there is refused`, options, async () => {
    const id = randomId();
    await send({ id });
    const sent = await sendBundle(
      store,
      writeDeath(dumps, { id, message: 'another', at: '2026-11-22T00:00:00.000Z' }),
    );
    assert.equal(sent.outcome, 'refused');
    assert.match(sent.because ?? '', /another bundle with its id/);
    assert.equal((await listIssues(store))[0]?.count, 1);
  });

  test(`${name}: of two with one id that two processes add at once the first stays`, options, async () => {
    const id = randomId();
    const first = writeDeath(dumps, { id });
    const other = writeDeath(dumps, { id, message: 'another', at: '2026-11-22T00:00:00.000Z' });
    const keep = async (blob: string, draft: string) => {
      assert.equal((await sendBundle(store, first)).outcome, 'stored');
      await store.blobs.keep(blob, draft);
    };
    const late = await sendBundle({ ...store, blobs: { ...store.blobs, keep } }, other);
    assert.match(late.because ?? '', /another bundle with its id/);
    const copy = join(dumps, 'first.zip');
    await fetchBundle(store, id, copy);
    assert.equal(verifyBundle(copy).manifestSha256, verifyBundle(first).manifestSha256);
  });

  test(`${name}: of several with one id that are sent at once one is stored`, options, async () => {
    const id = randomId();
    const first = writeDeath(dumps, { id });
    const other = writeDeath(dumps, { id, message: 'another', at: '2026-11-22T00:00:00.000Z' });
    const sent = await sendBundles(store, [first, packBundle(first).path, other, writeDeath(dumps)]);
    assert.deepEqual(
      sent.map(({ outcome }) => outcome),
      ['stored', 'there', 'refused', 'stored'],
    );
    const copy = join(dumps, 'first.zip');
    await fetchBundle(store, id, copy);
    assert.equal(verifyBundle(copy).manifestSha256, verifyBundle(first).manifestSha256);
  });

  test(
    `${name}: texts that a database does not take, and times that can not be, are taken as they can be`,
    options,
    async () => {
      const at = '2999-01-01T00:00:00.000Z';
      await send({
        message: 'nul \0 half \ud83d bidi \u202e end',
        host: 'a\0b',
        release: '1\0',
        program: 'x',
      });
      await sendBundle(store, writeDeath(dumps, { at, message: 'the future' }));
      const issues = await listIssues(store);
      assert.equal(issues.length, 2);
      assert.ok(issues.every(({ lastSeen }) => Date.parse(lastSeen) <= Date.now()));
    },
  );

  test(
    `${name}: an encrypted bundle is stored sealed, and counted where it belongs once it is opened`,
    options,
    async () => {
      const clear = writeDeath(dumps);
      const { path } = encryptBundle(clear, readLock('passphrase:open sesame 42'));
      const keys = { identities: [], passphrase: 'open sesame 42' };
      const sealed = await sendBundle(store, path);
      assert.equal(sealed.outcome, 'stored');
      assert.equal((await sendBundle(store, path)).outcome, 'there');
      const [unopened] = await listIssues(store);
      assert.equal(unopened?.title, 'Encrypted bundles of agent: uncaught-exception');
      await refusedLike(await sendBundle(store, path, { keys: { identities: [], passphrase: 'wrong' } }));
      assert.equal((await sendBundle(store, path, { keys })).outcome, 'stored');
      assert.equal((await sendBundle(store, path)).outcome, 'there');
      assert.equal((await sendBundle(store, clear)).outcome, 'there');
      const issues = await listIssues(store);
      assert.deepEqual(
        issues.map(({ kind, count }) => [kind, count]),
        [['uncaught-exception', 1]],
      );
      const { deaths } = await showIssue(store, issues[0]?.id ?? '');
      assert.match(deaths[0]?.path ?? '', /\.agentdump\.zip\.age$/);
    },
  );

  const refusedLike = async (sent: { outcome: string }) => assert.equal(sent.outcome, 'refused');

  test(
    `${name}: resolved in a release, and regressed by a death in it or a later one only`,
    options,
    async () => {
      const at = (hour: number) => `2026-11-21T${String(hour).padStart(2, '0')}:00:00.000Z`;
      const status = async (nowMs = later) => (await listIssues(store, { nowMs }))[0]?.status;
      const id = await send({ at: at(1), release: '1.9.0' });
      assert.equal(await status(Date.parse(at(2))), 'new');
      assert.equal(await status(), 'ongoing');
      await resolveIssue(store.index, id, '1.10.0');
      assert.equal(await status(), 'resolved');
      const soon = new Date(Date.now()).toISOString();
      await send({ at: soon, release: '1.9.3' });
      assert.equal(await status(), 'resolved', 'an older release has no fix');
      await send({ at: at(3), release: '1.10.0' });
      assert.equal(await status(), 'resolved', 'it died before it was resolved');
      await send({ at: new Date(Date.now()).toISOString(), release: '1.10.0' });
      assert.equal(await status(), 'regressed');
      await ignoreIssue(store.index, id);
      assert.equal(await status(), 'ignored');
      await reopenIssue(store.index, id);
      assert.notEqual(await status(), 'ignored');
      await resolveIssue(store.index, id);
      assert.equal(await status(), 'resolved');
      const { releases, resolved } = await showIssue(store, id);
      assert.deepEqual(releases.map(({ release, count }) => [release, count]).sort(), [
        ['1.10.0', 2],
        ['1.9.0', 1],
        ['1.9.3', 1],
      ]);
      assert.ok(resolved);
    },
  );

  test(`${name}: new again means new in the newest release`, options, async () => {
    const old = await send({ at: '2026-11-01T00:00:00.000Z', release: '2.0.0' });
    const fresh = await send({ at: '2026-11-10T00:00:00.000Z', release: '2.1.0', message: 'only since 2.1' });
    const of = new Map(
      (await listIssues(store, { nowMs: later + 30 * day })).map((one) => [one.id, one.status]),
    );
    assert.equal(of.get(old), 'ongoing');
    assert.equal(of.get(fresh), 'new');
  });

  test(`${name}: merged issues stay one for what comes, and split again`, options, async () => {
    const a = await send({ message: 'the first' });
    const b = await send({ message: 'the second' });
    assert.notEqual(a, b);
    await assert.rejects(splitIssue(store.index, a), /nothing was merged/);
    assert.equal(await mergeIssues(store.index, a, [b]), a);
    assert.equal(await send({ message: 'the second' }), a);
    const [merged, ...others] = await listIssues(store);
    assert.deepEqual([merged?.id, merged?.count, others.length], [a, 3, 0]);
    assert.match(merged?.because ?? '', /merged by hand with 1 more/);
    assert.equal(await findIssue(store.index, b), a, 'by the id it had');
    assert.deepEqual(await splitIssue(store.index, a), [a, b].sort());
    const counts = (await listIssues(store)).map(({ id, count }) => [id, count]);
    assert.deepEqual(counts.sort(), [[a, 1] as const, [b, 2] as const].sort() as unknown);
  });

  test(`${name}: an issue that is not there, and the start of several`, options, async () => {
    await send({ message: 'one' });
    await assert.rejects(findIssue(store.index, 'ffffffffffffffff'), { code: 'not-found' });
    await assert.rejects(findIssue(store.index, "x' or true --"), { code: 'not-found' });
    const [first] = await store.index.query<{ issue: string }>('select issue from agentdump_signatures');
    await store.index.query("insert into agentdump_issues (id) values ('abcd000000000002')");
    for (const [id, issue] of [
      ['abcd000000000001', first?.issue],
      ['abcd000000000002', 'abcd000000000002'],
    ])
      await store.index.query(copySignature('$1', '$2', 'where id = issue limit 1'), [id, issue]);
    await assert.rejects(findIssue(store.index, 'abcd'), /several issues begin with abcd/);
    assert.equal(await findIssue(store.index, 'abcd000000000001'), first?.issue);
  });

  test(`${name}: a deploy's signals are kept and no fault`, options, async () => {
    await send();
    await store.index.query("update agentdump_signatures set kind = 'terminated'");
    assert.deepEqual(await listIssues(store), []);
    assert.equal((await listIssues(store, { all: true })).length, 1);
  });

  test(
    `${name}: a stack that tells less goes to the one issue that it fits, and nowhere where two do`,
    options,
    async () => {
      const add = async (...frames: string[]) => {
        const id = randomId();
        const parts = ['kind:thrown', 'error:Error', 'message:no', ...frames];
        const signature = createHash('sha256').update(parts.join()).digest('hex').slice(0, 16);
        const stored = { bundle: id, digest: id, blob: id, bytes: 1, signature, version: 3, parts };
        const death = {
          ...stored,
          link: 'one',
          kind: 'uncaught-exception',
          title: 'no',
          runs: 0,
          repeats: 0,
        };
        await addDeath(store.index, { ...death, at: '2026-11-21T03:04:05.678Z' });
        return (await findDeath(store.index, { bundle: id }))?.issue;
      };
      const nameless = await add('names:minified');
      assert.equal(
        await add('frame:check@check.js', 'frame:pay@pay.js'),
        nameless,
        'the first that has names',
      );
      assert.equal(await add('frame:pay@pay.js'), nameless);
      const other = await add('frame:check@check.js', 'frame:refund@refund.js');
      assert.notEqual(other, nameless);
      assert.equal(
        await add('frame:refund@refund.js', 'frame:run@run.js'),
        await add('frame:refund@refund.js', 'frame:run@run.js'),
      );
      assert.notEqual(await add('frame:check@check.js'), nameless, 'it fits both');
      const [first] = (await listIssues(store)).filter(({ id }) => id === nameless);
      assert.equal(first?.count, 3);
      assert.match(first?.because ?? '', /more or less of the same callers/);
    },
  );

  test(
    `${name}: of a fault and release the first and the newest bundles stay, and all counts`,
    options,
    async () => {
      const at = (day: number) => `2026-11-${String(day).padStart(2, '0')}T00:00:00.000Z`;
      const ids = Array.from({ length: 6 }, () => randomId());
      for (const [n, id] of ids.entries()) await send({ id, at: at(n + 1), release: '1.0.0' });
      const other = randomId();
      const issue = await send({ id: other, at: at(9), release: '2.0.0' });
      assert.equal(await removeSurplus(store, [other], 3), 3);
      assert.equal(await removeSurplus(store, [other], 3), 0);
      const { count, bundles, deaths, releases } = await showIssue(store, issue);
      assert.deepEqual([count, bundles, releases.map((one) => one.count)], [7, 4, [6, 1]]);
      const kept = deaths.filter(({ path }) => path !== undefined);
      assert.deepEqual(
        kept.map(({ bundle }) => bundle),
        [other, ids[5], ids[4], ids[0]],
      );
      for (const { path } of kept) assert.ok(existsSync(await store.blobs.read(basename(path ?? ''))));
      const dropped = basename(kept[1]?.path ?? '').replace(ids[5]!, ids[1]!);
      await assert.rejects(store.blobs.read(dropped), { code: 'not-found' });
      await assert.rejects(fetchBundle(store, ids[1]!), /does not keep bundle .* any more/);
      const again = await sendBundle(store, writeDeath(dumps, { id: ids[1]!, at: at(2), release: '1.0.0' }));
      assert.equal(again.outcome, 'there', 'what was removed is not taken again');
    },
  );

  test(
    `${name}: rules of now group again what older ones have grouped, and the issue keeps its history`,
    options,
    async () => {
      const now = [
        await send({ message: 'the one' }),
        await send({ message: 'the one' }),
        await send({ message: 'the other' }),
      ];
      // As if older rules had grouped them as one.
      const { query } = store.index;
      const old = 'abcdef0123456789';
      await query('insert into agentdump_issues (id, ignored_at) values ($1, now())', [old]);
      await query(copySignature('$1', '$1', 'where id = $2'), [old, now[0]]);
      await query('update agentdump_signatures set version = 2 where id = $1', [old]);
      await query('update agentdump_deaths set signature = $1', [old]);
      await store.index.transaction(recount);
      await query('delete from agentdump_signatures where count = 0');
      assert.equal(await countOutdated(store.index), 3);
      const [before] = await listIssues(store);
      assert.deepEqual([before?.id, before?.count, before?.status], [old, 3, 'ignored']);

      assert.deepEqual(await reprocess(store), { deaths: 3, unreadable: 0, issuesBefore: 1, issuesAfter: 2 });
      const after = new Map((await listIssues(store)).map((one) => [one.id, one]));
      assert.deepEqual([after.get(old)?.count, after.get(old)?.status], [2, 'ignored']);
      assert.deepEqual([after.get(now[2] ?? '')?.count, after.get(now[2] ?? '')?.status], [1, 'ignored']);
      assert.equal(await findIssue(store.index, old.slice(0, 8)), old);
      const story = await showIssue(store, old);
      assert.deepEqual(story.hours, [{ hour: '2026-11-21T03:00:00.000Z', count: 2 }]);
      assert.equal(await send({ message: 'the one' }), old);
      assert.equal((await reprocess(store)).deaths, 0);

      // A death whose bundle is missing keeps its signature, which follows the issue of its other deaths.
      await query('update agentdump_signatures set version = 2 where count > 0');
      await query(
        `update agentdump_deaths set blob = 'gone' where bundle in (select bundle from agentdump_deaths limit 1)`,
      );
      assert.equal((await reprocess(store)).unreadable, 1);
      assert.equal(
        (await listIssues(store)).reduce((sum, { count }) => sum + count, 0),
        4,
      );
    },
  );
}
