/** Rates: what dump folders say of starts is counted once, whoever says it again, and held against the deaths of these starts. */
import assert from 'node:assert/strict';

import { addStarts, type CountedStarts } from '../../../src/store/index/starts.ts';
import { listIssues, showIssue } from '../../../src/store/issues.ts';
import { sendBundle } from '../../../src/store/send.ts';
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
    await add(report(0, 3, { host: 'web-2' }));
    assert.equal((await rateOf(issue))?.starts, 19, 'a folder that was copied with its logs');
    await Promise.all(Array.from({ length: 8 }, () => add(report(0, 12))));
    assert.equal((await rateOf(issue))?.starts, 22);
  });

  tested.test('a day that is long over, or has not come, is not counted', async () => {
    const issue = await die('shop', 60);
    await add(report(40, 5), report(-3, 5), report(1, 2));
    assert.deepEqual(await rateOf(issue), { deaths: 1, starts: 2, since: dayOf(1) });
  });
}
