/** Which bundle of a run only repeats another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLookAtSameHang, isSameAnswer } from '../../../src/ci/report/collect.ts';
import type { DescribedBundle } from '../../../src/ci/report/describe-bundle.ts';
import type { CiBundle } from '../../../src/model/ci-summary.ts';

const answer = (name: string, facts: Partial<CiBundle>, trigger = 'snapshot-signal') => ({
  path: `/run/${name}.agentdump`,
  trigger,
  facts: { pid: 7, title: '', ...facts },
});
const first = answer('20261122T224239.396Z', { kind: 'no-progress', signature: 'whole' });

test('a process of a stopped run that answered twice: the second bundle repeats the first, whatever is left of it', () => {
  const later = '20261122T224239.816Z';
  for (const facts of [
    { kind: 'no-progress', signature: 'whole' },
    { kind: 'no-progress', signature: 'cut' },
    { title: "The bundle can't be read" },
  ] as const) {
    const second = answer(later, facts);
    assert.equal(isSameAnswer(first, second), true);
    assert.equal(isSameAnswer(second, first), false);
  }
});

test('other processes, other deaths, and requests of the program’s own stay', () => {
  const later = '20261122T224240.000Z';
  assert.equal(isSameAnswer(first, answer(later, { pid: 8, kind: 'no-progress' })), false);
  assert.equal(
    isSameAnswer(first, answer(later, { kind: 'uncaught-exception' }, 'uncaught-exception')),
    false,
  );
  assert.equal(
    isSameAnswer(answer('2026', { kind: 'snapshot' }), answer(later, { kind: 'snapshot' })),
    false,
  );
  assert.equal(isSameAnswer(first, first), false);
});

const place = { file: '/app/lib/response.js', line: 798 };
const look = (
  name: string,
  trigger: string,
  facts: Partial<CiBundle> = {},
  event?: 'recovered' | 'died',
) => ({
  ...answer(name, { kind: 'event-loop-hang', place, ...facts }, trigger),
  listed: { ...(event && { sequel: { event } }) } as DescribedBundle['listed'],
});

test('earlier looks of a process’s own watchdog at the hang that stopped the run repeat the last one', () => {
  const last = look('20261128T220136.172Z', 'silence');
  const stall = look('20261128T220122.892Z', 'stall');
  const answered = look('20261128T220131.160Z', 'snapshot-signal', { kind: 'snapshot' });
  assert.equal(isLookAtSameHang(last, stall), true);
  assert.equal(isLookAtSameHang(last, look('20261128T220122.892Z', 'stall', {}, 'died')), true);
  assert.equal(isLookAtSameHang(last, answered), true);
  for (const other of [
    look('20261128T220122.892Z', 'stall', {}, 'recovered'),
    look('20261128T220122.892Z', 'stall', { pid: 8 }),
    look('20261128T220122.892Z', 'stall', { place: { file: '/app/lib/view.js', line: 3 } }),
    look('20261128T220122.892Z', 'stall', { place: { ...place, line: 3 } }),
    look('20261128T220137.000Z', 'stall'),
    look('20261128T220122.892Z', 'uncaught-exception', { kind: 'uncaught-exception' }),
  ])
    assert.equal(isLookAtSameHang(last, other), false, JSON.stringify(other));
  const { place: _, ...placeless } = last.facts;
  assert.equal(isLookAtSameHang({ ...last, facts: placeless }, answered), false, 'the last has no stack');
  const waiting = look('20261128T220136.172Z', 'silence', { kind: 'no-progress' });
  assert.equal(isLookAtSameHang(waiting, stall), false, 'the loop turned at the end');
});

test('a process that answered late was read from outside too: the one that shows the hang stays, else its own', () => {
  const own = look('20261128T220131.160Z', 'snapshot-signal');
  const placed = look('20261128T220136.172Z', 'silence');
  const { place: _, ...placeless } = placed.facts;
  const others = [
    { ...placed, facts: placeless },
    look('20261128T220136.172Z', 'silence', { kind: 'no-progress' }),
  ];
  for (const outside of others) {
    assert.equal(isSameAnswer(own, outside), true);
    assert.equal(isLookAtSameHang(outside, own), false);
    assert.equal(isSameAnswer(own, { ...outside, facts: { ...outside.facts, pid: 8 } }), false);
  }
  assert.equal(isSameAnswer(own, placed), false);
  assert.equal(isLookAtSameHang(placed, own), true);
});

test('a process that answered twice, and whose main thread stopped only at the second: that one shows where it hangs', () => {
  const placed = look('20261130T000153.673Z', 'snapshot-signal');
  const { place: _, ...placeless } = placed.facts;
  const early = { ...look('20261130T000139.341Z', 'snapshot-signal'), facts: placeless };
  assert.equal(isSameAnswer(early, placed), false);
  assert.equal(isLookAtSameHang(placed, early), true);
  const again = look('20261130T000139.341Z', 'snapshot-signal');
  assert.equal(isSameAnswer(again, placed), true, 'both show it: the first is whole');
  assert.equal(isLookAtSameHang(placed, again), false);
});
