/** How many of something a second are recorded on a machine that gives the program little time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ofClock, PerSecond, type ProgramTime } from '../../../src/agent/record/per-second.ts';

/** Such seconds follow one another: in each the program had so much of its time, and so many came. */
function takenIn(seconds: { share?: number; tries?: number }[], read?: () => ProgramTime): number[] {
  const time = { clock: 0, had: 0 };
  let endSecond = (): void => {};
  const rate = new PerSecond(50, read ?? (() => ({ ...time })), (run) => {
    endSecond = run;
  });
  return seconds.map(({ share = 1, tries = 60 }) => {
    time.clock += 1000;
    time.had += 1000 * share;
    endSecond();
    assert.equal(rate.begins(), true);
    assert.equal(rate.begins(), false);
    return Array.from({ length: tries }, () => rate.take()).filter(Boolean).length;
  });
}

const rates = (shares: number[], read?: () => ProgramTime): number[] =>
  takenIn([{}, ...shares.map((share) => ({ share }))], read);

const takenOf = (tries: number[], read?: () => ProgramTime): number[] =>
  takenIn(
    tries.map((count) => ({ tries: count })),
    read,
  );

test('a program that waits, or works, for all of the second may record the whole of it', () => {
  assert.deepEqual(rates([1, 1.7]), [50, 50, 50]);
});

test('one that has to wait for a processor records that much less, and never nothing', () => {
  assert.deepEqual(rates([0.5, 0.01, 1]), [50, 25, 10, 50]);
});

test('where nothing may be left out, the clock decides', () => {
  assert.deepEqual(rates([0.5, 0.01], ofClock), [50, 50, 50]);
});

test('of a flood, a fifth is taken from its second second on, until it is over', () => {
  assert.deepEqual(takenOf([5000, 5000, 500, 500]), [50, 10, 10, 50]);
});

test('where nothing may be left out, a flood is taken as far as the limit allows', () => {
  assert.deepEqual(takenOf([5000, 5000], ofClock), [50, 50]);
});

test('the time of this process is read', () => {
  const rate = new PerSecond(50);
  assert.equal(rate.begins(), true);
  assert.equal(rate.take(), true);
});
