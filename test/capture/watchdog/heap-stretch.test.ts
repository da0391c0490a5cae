/** Which samples of a growing heap belong together: those in one stretch of synchronous code of one request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeapStretch } from '../../../src/capture/watchdog/memory/heap-stretch.ts';

const [one, other] = [{}, {}];
const look = { ran: 3, request: one };

test('the heap at the first look is that from which a stretch grew', () => {
  const stretch = new HeapStretch();
  assert.equal(stretch.see({ ...look, used: 30 }), undefined);
  assert.equal(stretch.see({ ...look, used: 50 }), 30);
  assert.equal(stretch.see({ ...look, used: 90 }), 30);
});

for (const [what, change] of Object.entries({
  'a microtask ran in between': { ran: 4 },
  'another request runs': { request: other },
}))
  test(`a stretch is over when ${what}`, () => {
    const stretch = new HeapStretch();
    stretch.see({ ...look, used: 30 });
    assert.equal(stretch.see({ ...look, ...change, used: 60 }), undefined);
    assert.equal(stretch.see({ ...look, ...change, used: 90 }), 60);
  });

test('what runs in no request has no stretch', () => {
  const stretch = new HeapStretch();
  const none = { ...look, request: undefined };
  stretch.see({ ...none, used: 30 });
  assert.equal(stretch.see({ ...none, used: 90 }), undefined);
});
