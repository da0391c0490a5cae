/** What an index counts while deaths come, go and are grouped anew is what the deaths themselves add up to. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Death } from '../../../src/store/grouping/death.ts';
import { addDeath, addDeaths } from '../../../src/store/index/add-death.ts';
import { mostNames } from '../../../src/store/index/dimensions.ts';
import { recount } from '../../../src/store/index/recount.ts';
import { removeDeath } from '../../../src/store/index/remove-death.ts';
import { makeTables } from '../../../src/store/index/tables.ts';
import { listIssues, mergeIssues, resolveIssue, showIssue, splitIssue } from '../../../src/store/issues.ts';
import { removeSurplus } from '../../../src/store/retention.ts';
import { oldTables } from './old-tables.ts';
import { type StoreKind, StoreUnderTest, tables } from './store-under-test.ts';

const changes = 250;

export function testCounts(kind: StoreKind): void {
  const tested = new StoreUnderTest(kind);

  const counts = async () => {
    const read = (text: string) => tested.store.index.query(text);
    return {
      signatures: await read(
        `select id, count, bundles, runs::text, first_seen::text, first_release, last_seen::text, last_release
         from agentdump_signatures where count > 0 order by id`,
      ),
      spans: await read(
        `select signature, release, count, first_seen::text, last_seen::text from agentdump_spans where count > 0 order by 1, 2`,
      ),
      hours: await read(
        'select signature, hour::text, count from agentdump_hours where count > 0 order by 1, 2',
      ),
      names: await read('select * from agentdump_names where count > 0 order by 1, 2, 3'),
    };
  };
  const holds = async () => {
    const kept = await counts();
    await tested.store.index.transaction(recount);
    assert.deepEqual(kept, await counts());
  };

  tested.test('after many changes each count is what the deaths add up to', async () => {
    const random = seeded(20261128);
    const bundles: string[] = [];
    const pick = <One>(list: readonly One[]): One => list[Math.floor(random() * list.length)]!;
    for (let n = 0; n < changes; n++) {
      const chance = random();
      if (chance < 0.7 || bundles.length < 10) {
        const death = randomDeath(random, n);
        const insteadOf = chance < 0.1 && bundles.length > 0 ? pick(bundles) : undefined;
        await addDeath(tested.store.index, death, insteadOf);
        if (insteadOf !== undefined) bundles.splice(bundles.indexOf(insteadOf), 1);
        bundles.push(death.bundle);
      } else if (chance < 0.9) {
        const [gone] = bundles.splice(Math.floor(random() * bundles.length), 1);
        await tested.store.index.transaction((query) => removeDeath(query, gone!));
      } else if (chance < 0.95) {
        await removeSurplus(tested.store, [pick(bundles)], 3);
      } else {
        const issues = await listIssues(tested.store, { all: true });
        const [one, other] = [pick(issues), pick(issues)];
        const { signatures } = await showIssue(tested.store, one.id);
        if (signatures.length > 1) await splitIssue(tested.store.index, one.id);
        else if (one !== other) await mergeIssues(tested.store.index, one.id, [other.id]);
      }
    }
    await holds();
    const issues = await listIssues(tested.store, { all: true });
    const [sum] = await tested.store.index.query<{ count: number }>(
      'select sum(1 + repeats)::integer as count from agentdump_deaths',
    );
    assert.equal(
      issues.reduce((total, { count }) => total + count, 0),
      sum?.count,
    );
    for (const { id, ...issue } of issues) {
      const { releases } = await showIssue(tested.store, id);
      assert.equal(issue.firstSeen, releases[0]?.firstSeen);
      assert.equal(
        issue.lastSeen,
        releases
          .map(({ lastSeen }) => lastSeen)
          .sort()
          .at(-1),
      );
    }
  });

  tested.test('of more names than a list holds the rest is counted together, and said', async () => {
    const random = seeded(1);
    const of = (n: number) => ({
      ...randomDeath(random, n),
      signature: 'f'.repeat(16),
      link: '',
      repeats: 0,
    });
    const deaths = Array.from({ length: mostNames + 30 }, (_, n) => ({
      ...of(n),
      host: `pod-${n}`,
      agent: 'one',
    }));
    for (let n = 0; n < deaths.length; n += 100)
      await addDeaths(tested.store.index.query, deaths.slice(n, n + 100));
    await addDeath(tested.store.index, { ...of(-1), host: 'pod-0', agent: 'one' });
    const { hosts, agents, unlisted } = await showIssue(tested.store, 'f'.repeat(16));
    assert.deepEqual(hosts[0], { name: 'pod-0', count: 2 });
    assert.equal(hosts.length, 20);
    assert.deepEqual(agents, [{ name: 'one', count: mostNames + 31 }]);
    assert.deepEqual(unlisted?.hosts, {
      names: mostNames - 20 + 1,
      count: mostNames + 31 - 21,
      isAtLeast: true,
    });
    assert.equal(unlisted?.agents, undefined);
    await tested.store.index.transaction((query) => removeDeath(query, of(mostNames + 7).bundle));
    assert.equal((await showIssue(tested.store, 'f'.repeat(16))).unlisted?.hosts?.count, mostNames + 31 - 22);
    await holds();
  });

  tested.test('an index that an earlier version has made is counted once, when it is opened', async () => {
    const { query } = tested.store.index;
    const random = seeded(3);
    const deaths = Array.from({ length: 60 }, (_, n) => randomDeath(random, n));
    for (const death of deaths) await addDeath(tested.store.index, death);
    await resolveIssue(tested.store.index, deaths[0]!.signature);
    const before = await listIssues(tested.store, { all: true });
    const stories = await Promise.all(before.map(({ id }) => showIssue(tested.store, id)));
    const keep = ['deaths', 'issues', 'signatures', 'releases'];
    for (const table of keep) await query(`create table kept_${table} as table agentdump_${table}`);
    await query('alter table kept_deaths drop column started_as');
    for (const table of [...tables, 'version']) await query(`drop table agentdump_${table} cascade`);
    for (const table of oldTables) await query(table);
    for (const [table, columns] of [
      ['deaths', '*'],
      ['issues', '*'],
      ['signatures', 'id, version, parts, kind, title, program, issue, count, link'],
      ['releases', '*'],
    ])
      await query(`insert into agentdump_${table} select ${columns} from kept_${table}`);
    for (const table of keep) await query(`drop table kept_${table}`);

    await tested.store.index.transaction(makeTables);
    await tested.store.index.transaction(makeTables);
    assert.deepEqual(await listIssues(tested.store, { all: true }), before);
    for (const story of stories) assert.deepEqual(await showIssue(tested.store, story.id), story);
    await addDeath(tested.store.index, randomDeath(random, 99));
    await holds();
    await query('drop table agentdump_tokens, agentdump_uploads');
    await query('update agentdump_version set version = 2');
    await tested.store.index.transaction(makeTables);
    assert.deepEqual(await query('select name, bundles from agentdump_tokens'), []);
    await query('update agentdump_version set version = 1000');
    await assert.rejects(tested.store.index.transaction(makeTables), { code: 'unsupported-version' });
    await query('delete from agentdump_version');
    await tested.store.index.transaction(makeTables);
  });
}

/** Few signatures, releases and times, so that they meet. */
function randomDeath(random: () => number, n: number): Death {
  const below = (most: number) => Math.floor(random() * most);
  const word = (name: string, most: number) => {
    const number = below(most + 1);
    return number === 0 ? {} : { [name]: `${name}-${number}` };
  };
  const id = createHash('sha256').update(`death ${n}`).digest('hex').slice(0, 16);
  const signature = `${below(7)}`.repeat(16);
  return {
    bundle: id,
    digest: id,
    blob: id,
    bytes: 1,
    signature,
    version: 3,
    parts: ['kind:thrown', `message:${signature}`],
    link: '',
    kind: 'uncaught-exception',
    title: `Error ${signature}`,
    at: new Date(Date.UTC(2026, 10, 21, below(5), below(4))).toISOString(),
    runs: below(3),
    repeats: below(3),
    ...word('program', 2),
    ...word('host', 5),
    ...word('node', 3),
    ...word('release', 4),
    ...word('environment', 2),
    ...word('agent', 3),
  };
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
