/** What gathers while a question is answered is answered together, and one that can't be answered harms no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { together } from '../../src/store/index/together.ts';

test('the first is answered at once, those after it together, each with its own answer', async () => {
  const asked: string[] = [];
  const double = together(async (host: { name: string }, items: readonly number[]) => {
    asked.push(`${host.name}: ${items.join()}`);
    await Promise.resolve();
    if (items.includes(13)) throw new Error('thirteen');
    return items.map((item) => 2 * item);
  });
  const [one, other] = [{ name: 'one' }, { name: 'other' }];
  const answers = await Promise.all([double(one, 1), double(one, 2), double(other, 3), double(one, 4)]);
  assert.deepEqual(answers, [2, 4, 6, 8]);
  assert.deepEqual(asked, ['one: 1', 'other: 3', 'one: 2,4']);
  const settled = await Promise.allSettled([5, 13, 6].map((item) => double(one, item)));
  assert.deepEqual(
    settled.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message)),
    [10, 'thirteen', 12],
  );
  assert.equal(await double(one, 7), 14);
});
