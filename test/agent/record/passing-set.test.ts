/** A set whose former members V8's small collections free. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PassingSet } from '../../../src/agent/record/passing-set.ts';

test('members stand once each, in the order in which they came', () => {
  const [a, b, c] = [{ a: 1 }, { b: 1 }, { c: 1 }];
  const set = new PassingSet<object>();
  for (const one of [a, b, a, c]) set.add(one);
  assert.deepEqual([...set], [a, b, c]);
  assert.equal(set.delete(b), true);
  assert.equal(set.delete(b), false);
  assert.equal(set.size, 2);
  const seen: object[] = [];
  for (const one of set) {
    seen.push(one);
    set.delete(one);
    set.add(b);
  }
  assert.deepEqual(seen, [a, c]);
  assert.deepEqual([...set], [b]);
  set.clear();
  assert.deepEqual([...set], []);
});

test('what has left it dies young', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;
  const oldBytes = (): number =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
  const set = new PassingSet<object>();
  const members = new Array<object | undefined>(20).fill(undefined);
  /** Each holds 2 KB; twenty are members at any time. */
  const pass = (count: number): void => {
    for (let n = 1; n <= count; n++) {
      const left = members[n % 20];
      if (left) set.delete(left);
      const member = { body: new Array(256).fill(n) };
      set.add(member);
      members[n % 20] = member;
      if (n % 400 === 0) collect({ type: 'minor' });
    }
  };
  pass(2_000);
  collect({ type: 'major' });
  const before = oldBytes();
  pass(16_000);
  // 32 MB in all; some 16 of them survive if this is a Set.
  const grownMb = (oldBytes() - before) / 2 ** 20;
  assert.ok(grownMb < 2, `${grownMb.toFixed(1)} MB`);
});
