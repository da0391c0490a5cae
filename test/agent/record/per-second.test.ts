/** How many of something a second are recorded on a machine that gives the program little time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ofClock, PerSecond, type ProgramTime } from '../../../src/agent/record/per-second.ts';

/** How often something is taken in one second, of so many tries. */
function taken(rate: PerSecond, tries = 60): number {
  rate.begins();
  return Array.from({ length: tries }, () => rate.take()).filter(Boolean).length;
}

/** The same for each second that follows the one before. */
function takenOf(tries: number[], read?: () => ProgramTime): number[] {
  let at = 0;
  const rate = new PerSecond(50, read ?? (() => ({ clock: at, had: at })), () => at);
  return tries.map((count) => {
    at += 1000;
    return taken(rate, count);
  });
}

/** The rates of the seconds after the first, in each of which the program had so much of its time. */
function rates(shares: number[], read?: () => ProgramTime): number[] {
  const time = { clock: 0, had: 0 };
  const rate = new PerSecond(50, read ?? (() => ({ ...time })), () => time.clock);
  return [1, ...shares].map((share) => {
    time.clock += 1000;
    time.had += 1000 * share;
    return taken(rate);
  });
}

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
