/** Sets of slots: the next and the previous member, and numbers, against a plain set. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlotSet } from '../../../src/formats/v8/graph/objects/slot-set.ts';

const slots = 4096;

test('members, the ones around each slot, and how many are before it', () => {
  const set = new SlotSet(slots);
  const plain = new Set<number>();
  for (let i = 0, at = 7; i < 300; i++, at = (at * 1103 + 12345) % slots) {
    set.add(at);
    plain.add(at);
  }
  for (const edge of [0, 31, 32, slots - 1, slots]) {
    set.add(edge);
    plain.add(edge);
  }
  assert.equal(set.number(), plain.size);
  const sorted = [...plain].sort((a, b) => a - b);
  for (let slot = 0; slot <= slots; slot++) {
    assert.equal(set.has(slot), plain.has(slot), `has ${slot}`);
    assert.equal(set.next(slot), sorted.find((each) => each >= slot) ?? -1, `next ${slot}`);
    assert.equal(set.previous(slot), sorted.findLast((each) => each <= slot) ?? -1, `previous ${slot}`);
    assert.equal(set.numberOf(slot), sorted.filter((each) => each < slot).length, `numberOf ${slot}`);
  }
});

test('an empty set has no members', () => {
  const set = new SlotSet(64);
  assert.equal(set.next(0), -1);
  assert.equal(set.previous(64), -1);
  assert.equal(set.number(), 0);
});
