/** Which bundle of a run only repeats another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameAnswer } from '../../../src/ci/report/collect.ts';
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
