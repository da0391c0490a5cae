/** Which deaths are one issue, what state it is in, and what users decide. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { addDeath, findDeath } from '../../../src/store/index/add-death.ts';
import {
  findIssue,
  ignoreIssue,
  listIssues,
  mergeIssues,
  reopenIssue,
  resolveIssue,
  showIssue,
  splitIssue,
} from '../../../src/store/issues.ts';
import { randomId } from '../synth-death.ts';
import { copySignature, type StoreUnderTest } from './store-under-test.ts';

const day = 24 * 60 * 60_000;
const later = Date.parse('2026-11-24T00:00:00Z');

export function testIssues(tested: StoreUnderTest): void {
  tested.test('resolved in a release, and regressed by a death in it or a later one only', async () => {
    const at = (hour: number) => `2026-11-21T${String(hour).padStart(2, '0')}:00:00.000Z`;
    const status = async (nowMs = later) => (await listIssues(tested.store, { nowMs }))[0]?.status;
    const id = await tested.send({ at: at(1), release: '1.9.0' });
    assert.equal(await status(Date.parse(at(2))), 'new');
    assert.equal(await status(), 'ongoing');
    await resolveIssue(tested.store.index, id, '1.10.0');
    assert.equal(await status(), 'resolved');
    const soon = new Date(Date.now()).toISOString();
    await tested.send({ at: soon, release: '1.9.3' });
    assert.equal(await status(), 'resolved', 'an older release has no fix');
    await tested.send({ at: at(3), release: '1.10.0' });
    assert.equal(await status(), 'resolved', 'it died before it was resolved');
    await tested.send({ at: new Date(Date.now()).toISOString(), release: '1.10.0' });
    assert.equal(await status(), 'regressed');
    await ignoreIssue(tested.store.index, id);
    assert.equal(await status(), 'ignored');
    await reopenIssue(tested.store.index, id);
    assert.notEqual(await status(), 'ignored');
    await resolveIssue(tested.store.index, id);
    assert.equal(await status(), 'resolved');
    const { releases, resolved } = await showIssue(tested.store, id);
    assert.deepEqual(releases.map(({ release, count }) => [release, count]).sort(), [
      ['1.10.0', 2],
      ['1.9.0', 1],
      ['1.9.3', 1],
    ]);
    assert.ok(resolved);
  });

  tested.test('new again means new in the newest release', async () => {
    const old = await tested.send({ at: '2026-11-01T00:00:00.000Z', release: '2.0.0' });
    const fresh = await tested.send({
      at: '2026-11-10T00:00:00.000Z',
      release: '2.1.0',
      message: 'only since 2.1',
    });
    const of = new Map(
      (await listIssues(tested.store, { nowMs: later + 30 * day })).map((one) => [one.id, one.status]),
    );
    assert.equal(of.get(old), 'ongoing');
    assert.equal(of.get(fresh), 'new');
  });

  tested.test('merged issues stay one for what comes, and split again', async () => {
    const a = await tested.send({ message: 'the first' });
    const b = await tested.send({ message: 'the second' });
    assert.notEqual(a, b);
    await assert.rejects(splitIssue(tested.store.index, a), /nothing was merged/);
    assert.equal(await mergeIssues(tested.store.index, a, [b]), a);
    assert.equal(await tested.send({ message: 'the second' }), a);
    const [merged, ...others] = await listIssues(tested.store);
    assert.deepEqual([merged?.id, merged?.count, others.length], [a, 3, 0]);
    assert.match(merged?.because ?? '', /merged by hand with 1 more/);
    assert.equal(await findIssue(tested.store.index, b), a, 'by the id it had');
    assert.deepEqual(await splitIssue(tested.store.index, a), [a, b].sort());
    const counts = (await listIssues(tested.store)).map(({ id, count }) => [id, count]);
    assert.deepEqual(counts.sort(), [[a, 1] as const, [b, 2] as const].sort() as unknown);
  });

  tested.test('an issue that is not there, and the start of several', async () => {
    await tested.send({ message: 'one' });
    await assert.rejects(findIssue(tested.store.index, 'ffffffffffffffff'), { code: 'not-found' });
    await assert.rejects(findIssue(tested.store.index, "x' or true --"), { code: 'not-found' });
    const [first] = await tested.store.index.query<{ issue: string }>(
      'select issue from agentdump_signatures',
    );
    await tested.store.index.query("insert into agentdump_issues (id) values ('abcd000000000002')");
    for (const [id, issue] of [
      ['abcd000000000001', first?.issue],
      ['abcd000000000002', 'abcd000000000002'],
    ])
      await tested.store.index.query(copySignature('$1', '$2', 'where id = issue limit 1'), [id, issue]);
    await assert.rejects(findIssue(tested.store.index, 'abcd'), /several issues begin with abcd/);
    assert.equal(await findIssue(tested.store.index, 'abcd000000000001'), first?.issue);
  });

  tested.test("a deploy's signals are kept and no fault", async () => {
    await tested.send();
    await tested.store.index.query("update agentdump_signatures set kind = 'terminated'");
    assert.deepEqual(await listIssues(tested.store), []);
    assert.equal((await listIssues(tested.store, { all: true })).length, 1);
  });

  tested.test(
    'a stack that tells less goes to the one issue that it fits, and nowhere where two do',
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
        await addDeath(tested.store.index, { ...death, at: '2026-11-21T03:04:05.678Z' });
        return (await findDeath(tested.store.index, { bundle: id }))?.issue;
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
      const [first] = (await listIssues(tested.store)).filter(({ id }) => id === nameless);
      assert.equal(first?.count, 3);
      assert.match(first?.because ?? '', /more or less of the same callers/);
    },
  );
}
