/** Rates: what dump folders say of starts is counted once, whoever says it again, and held against the deaths of these starts. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { CountedStarts } from '../../../src/bundle/keep/starts.ts';
import { noteStart } from '../../../src/bundle/keep/starts.ts';
import { addStarts } from '../../../src/store/index/starts.ts';
import { listIssues, showIssue } from '../../../src/store/issues.ts';
import { localStore } from '../../../src/store/local-store.ts';
import { sendBundle } from '../../../src/store/sending/send.ts';
import { tellStarts } from '../../../src/store/sending/starts.ts';
import { beOn } from '../../support/hostname.ts';
import { writeDeath } from '../synth-death.ts';
import type { StoreUnderTest } from './store-under-test.ts';

const dayMs = 24 * 60 * 60_000;
const dayOf = (ago: number): string => new Date(Date.now() - ago * dayMs).toISOString().slice(0, 10);

export function testStarts(tested: StoreUnderTest): void {
  const report = (ago: number, count: number, more: Partial<CountedStarts> = {}): CountedStarts => {
    const usual = { log: 'a'.repeat(15) + ago.toString(16), host: 'web-1', program: 'shop' };
    return { ...usual, day: dayOf(ago), count, ...more };
  };
  const add = (...starts: CountedStarts[]) => addStarts(tested.store.index, starts);
  const die = async (startedAs: string | undefined, ago = 0, more = {}) => {
    const at = new Date(Date.now() - ago * dayMs).toISOString();
    const path = writeDeath(tested.dumps, { at, ...more });
    const sent = await sendBundle(tested.store, path, { programOf: () => startedAs });
    return sent.issue ?? assert.fail(sent.because);
  };
  const rateOf = async (id: string) => (await showIssue(tested.store, id)).rate;

  tested.test('a rate is the deaths of counted starts, of the starts since the first of them', async () => {
    const issue = await die('shop', 2, { repeats: 1 });
    assert.equal(await rateOf(issue), undefined, 'no start is known');
    await add(report(3, 1000), report(2, 50), report(1, 30), report(1, 7, { program: 'other' }));
    await die('shop');
    await die(undefined);
    const expected = { deaths: 3, starts: 80, since: dayOf(2) };
    assert.deepEqual(await rateOf(issue), expected);
    assert.deepEqual(
      (await listIssues(tested.store)).map(({ rate }) => rate),
      [expected],
    );
    assert.equal((await showIssue(tested.store, issue)).count, 4);
  });

  tested.test('starts that are reported again replace what was reported, and are never fewer', async () => {
    const issue = await die('shop');
    await add(report(0, 5), report(0, 7, { log: 'b'.repeat(16) }));
    await add(report(0, 5));
    await add(report(0, 9));
    await add(report(0, 4));
    assert.equal((await rateOf(issue))?.starts, 16);
    await Promise.all(Array.from({ length: 8 }, () => add(report(0, 12))));
    assert.equal((await rateOf(issue))?.starts, 19);
  });

  tested.test('machines that share or copy a folder tell its logs as often as they like', async (t) => {
    const issue = await die('shop');
    const names = ['web-1', 'web-2', 'web-3'];
    const folder = join(tested.dumps, 'shared');
    for (const [n, host] of names.entries()) {
      beOn(t, host);
      for (let start = 0; start <= n; start++)
        noteStart(folder, { session: '0'.repeat(16), program: 'shop' });
    }
    for (const host of names) {
      const copy = join(tested.dumps, host);
      cpSync(folder, copy, { recursive: true });
      beOn(t, host);
      await tellStarts(copy, 'a store', localStore(tested.store));
      noteStart(copy, { session: '1'.repeat(16), program: 'shop' });
      await tellStarts(copy, 'a store', localStore(tested.store));
    }
    assert.equal((await rateOf(issue))?.starts, 1 + 2 + 3 + names.length);
  });

  tested.test('a day that is long over, or has not come, is not counted', async () => {
    const issue = await die('shop', 60);
    await add(report(40, 5), report(-3, 5), report(1, 2));
    assert.deepEqual(await rateOf(issue), { deaths: 1, starts: 2, since: dayOf(1) });
  });

  tested.test('a day that is told again when it closes is not counted again, in any time zone', async () => {
    const issue = await die('shop', 60);
    const { index } = tested.store;
    await add(report(2, 5));
    await add(report(1, 1));
    const [zone] = await index.query<{ TimeZone: string }>('show timezone');
    await index.query('update agentdump_start_logs set day = day - 30');
    for (const name of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', zone?.TimeZone ?? 'UTC'])
      await index.transaction(async (query) => {
        await query(`set local time zone '${name}'`);
        await addStarts({ ...index, transaction: (work) => work(query) }, []);
      });
    const kept = await index.query('select from agentdump_start_logs');
    assert.equal(kept.length, 2, 'what was accepted a day ago is still known');
    assert.equal((await rateOf(issue))?.starts, 6);
    await index.query('update agentdump_start_logs set day = day - 3');
    await add();
    assert.deepEqual(await index.query('select from agentdump_start_logs'), []);
  });

  tested.test('there is no rate while some of its starts are not counted', async () => {
    const issue = await die('shop', 2);
    await add(report(2, 5));
    const limits = { sender: 'cron', most: 1 };
    const logs = [report(0, 5, { log: 'b'.repeat(16) }), report(1, 5, { log: 'c'.repeat(16) })];
    await addStarts(tested.store.index, logs.slice(0, 1), limits);
    assert.equal((await rateOf(issue))?.starts, 10);
    await addStarts(tested.store.index, logs, limits);
    assert.equal(await rateOf(issue), undefined, 'no room for the second log');
    const invented = report(1, 5, { log: 'd'.repeat(16), program: 'invented' });
    await addStarts(tested.store.index, [invented], limits);
    assert.equal((await tested.store.index.query('select from agentdump_start_sums')).length, 3);

    const other = await die('other', 0, { message: 'another fault' });
    await add(report(1, 7, { program: 'other', isAtLeast: true }), report(0, 3, { program: 'other' }));
    assert.equal((await rateOf(other))?.starts, 3, 'all of this day were counted');
    await add(report(0, 3, { program: 'other', isAtLeast: true }));
    assert.equal(await rateOf(other), undefined);
  });
}
