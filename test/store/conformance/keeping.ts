/** What stays of stored bundles, and what new rules make of them. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { fetchBundle } from '../../../src/store/fetch-bundle.ts';
import { countOutdated, reprocess } from '../../../src/store/grouping/reprocess.ts';
import { recount } from '../../../src/store/index/recount.ts';
import { findIssue, listIssues, showIssue } from '../../../src/store/issues.ts';
import { removeSurplus } from '../../../src/store/retention.ts';
import { sendBundle } from '../../../src/store/sending/send.ts';
import { randomId, writeDeath } from '../synth-death.ts';
import { copySignature, type StoreUnderTest } from './store-under-test.ts';

export function testKeeping(tested: StoreUnderTest): void {
  tested.test('of a fault and release the first and the newest bundles stay, and all counts', async () => {
    const at = (day: number) => `2026-11-${String(day).padStart(2, '0')}T00:00:00.000Z`;
    const ids = Array.from({ length: 6 }, () => randomId());
    for (const [n, id] of ids.entries()) await tested.send({ id, at: at(n + 1), release: '1.0.0' });
    const other = randomId();
    const issue = await tested.send({ id: other, at: at(9), release: '2.0.0' });
    assert.equal(await removeSurplus(tested.store, [other], 3), 3);
    assert.equal(await removeSurplus(tested.store, [other], 3), 0);
    const { count, bundles, deaths, releases } = await showIssue(tested.store, issue);
    assert.deepEqual([count, bundles, releases.map((one) => one.count)], [7, 4, [6, 1]]);
    const kept = deaths.filter(({ path }) => path !== undefined);
    assert.deepEqual(
      kept.map(({ bundle }) => bundle),
      [other, ids[5], ids[4], ids[0]],
    );
    for (const { path } of kept) assert.ok(existsSync(await tested.store.blobs.read(basename(path ?? ''))));
    const dropped = basename(kept[1]?.path ?? '').replace(ids[5]!, ids[1]!);
    await assert.rejects(tested.store.blobs.read(dropped), { code: 'not-found' });
    await assert.rejects(fetchBundle(tested.store, ids[1]!), /does not keep bundle .* any more/);
    const again = await sendBundle(
      tested.store,
      writeDeath(tested.dumps, { id: ids[1]!, at: at(2), release: '1.0.0' }),
    );
    assert.equal(again.outcome, 'there', 'what was removed is not taken again');
  });

  tested.test(
    'rules of now group again what older ones have grouped, and the issue keeps its history',
    async () => {
      const now = [
        await tested.send({ message: 'the one' }),
        await tested.send({ message: 'the one' }),
        await tested.send({ message: 'the other' }),
      ];
      // As if older rules had grouped them as one.
      const { query } = tested.store.index;
      const old = 'abcdef0123456789';
      await query('insert into agentdump_issues (id, ignored_at) values ($1, now())', [old]);
      await query(copySignature('$1', '$1', 'where id = $2'), [old, now[0]]);
      await query('update agentdump_signatures set version = 2 where id = $1', [old]);
      await query('update agentdump_deaths set signature = $1', [old]);
      await tested.store.index.transaction(recount);
      await query('delete from agentdump_signatures where count = 0');
      assert.equal(await countOutdated(tested.store.index), 3);
      const [before] = await listIssues(tested.store);
      assert.deepEqual([before?.id, before?.count, before?.status], [old, 3, 'ignored']);

      assert.deepEqual(await reprocess(tested.store), {
        deaths: 3,
        unreadable: 0,
        issuesBefore: 1,
        issuesAfter: 2,
      });
      const after = new Map((await listIssues(tested.store)).map((one) => [one.id, one]));
      assert.deepEqual([after.get(old)?.count, after.get(old)?.status], [2, 'ignored']);
      assert.deepEqual([after.get(now[2] ?? '')?.count, after.get(now[2] ?? '')?.status], [1, 'ignored']);
      assert.equal(await findIssue(tested.store.index, old.slice(0, 8)), old);
      const story = await showIssue(tested.store, old);
      assert.deepEqual(story.hours, [{ hour: '2026-11-21T03:00:00.000Z', count: 2 }]);
      assert.equal(await tested.send({ message: 'the one' }), old);
      assert.equal((await reprocess(tested.store)).deaths, 0);

      // A death whose bundle is missing keeps its signature, which follows the issue of its other deaths.
      await query('update agentdump_signatures set version = 2 where count > 0');
      await query(
        `update agentdump_deaths set blob = 'gone' where bundle in (select bundle from agentdump_deaths limit 1)`,
      );
      assert.equal((await reprocess(tested.store)).unreadable, 1);
      assert.equal(
        (await listIssues(tested.store)).reduce((sum, { count }) => sum + count, 0),
        4,
      );
    },
  );
}
