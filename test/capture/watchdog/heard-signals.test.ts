/**
 * Which signals the watchdog's thread takes for the host's, and which are compared with what Node has delivered.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeardSignals } from '../../../src/capture/watchdog/heard-signals.ts';
import {
  cells,
  deliveredByNodeCell,
  deliveredCell,
  makeCells,
} from '../../../src/capture/watchdog/protocol.ts';

interface Started {
  shared: Int32Array;
  tick(): void;
  /** How often it was heard, if that is doubtful. */
  hear(at: number): number | undefined;
  count(at: number): number;
}

function start(): Started {
  const shared = makeCells(2);
  const heard = new HeardSignals(shared, 2);
  heard.tick();
  return {
    shared,
    tick: () => heard.tick(),
    hear: (at) => {
      const { heard: times, isDoubtful } = heard.hear(at);
      return isDoubtful ? times : undefined;
    },
    count: (at) => heard.hear(at).heard,
  };
}

test('signals are doubtful until the second tick after a change of listeners', () => {
  const { shared, ...heard } = start();
  heard.tick();
  assert.equal(heard.hear(1), undefined);
  Atomics.add(shared, cells.hostChanges, 1);
  assert.equal(heard.hear(1), 2);
  heard.tick();
  assert.equal(heard.hear(1), 3);
  heard.tick();
  assert.equal(heard.hear(1), undefined);
});

test('each signal has a count of its own', () => {
  const heard = start();
  assert.deepEqual([heard.count(0), heard.count(0), heard.count(1)], [1, 2, 1]);
});

test('what was delivered and is never received counts as received after a tick, and not before', () => {
  const { shared, ...heard } = start();
  const changeAndHear = (): number | undefined => {
    Atomics.add(shared, cells.hostChanges, 1);
    return heard.hear(0);
  };
  Atomics.add(shared, deliveredCell(0), 3);
  assert.equal(changeAndHear(), 1);
  heard.tick();
  assert.equal(changeAndHear(), 2);
  heard.tick();
  assert.equal(changeAndHear(), 4);
});

test('one that Node has delivered to a listener that is gone is handled, the next one is not', () => {
  const shared = makeCells(2);
  const heard = new HeardSignals(shared, 2);
  heard.begin();
  for (const cell of [deliveredCell(1), deliveredByNodeCell(1)]) Atomics.add(shared, cell, 1);
  assert.deepEqual([heard.isHandled(0), heard.isHandled(1), heard.isHandled(1)], [false, true, false]);
});

test('what the program emitted is no signal that it has handled, nor is what came before this thread held any', () => {
  const shared = makeCells(1);
  const heard = new HeardSignals(shared, 1);
  Atomics.add(shared, deliveredCell(0), 1);
  assert.equal(heard.isHandled(0), false);
  Atomics.add(shared, deliveredCell(0), 1);
  Atomics.add(shared, deliveredByNodeCell(0), 1);
  heard.begin();
  assert.equal(heard.isHandled(0), false);
});

test('a signal may have come beside a bundle until the second tick after it was begun', () => {
  const shared = makeCells(1);
  const heard = new HeardSignals(shared, 1);
  const isBeside = (): boolean => heard.hear(0).isBesideWrite;
  assert.equal(isBeside(), false);
  Atomics.add(shared, cells.excused, 1);
  assert.equal(isBeside(), true);
  Atomics.sub(shared, cells.excused, 1);
  assert.equal(isBeside(), false);
  Atomics.add(shared, cells.writes, 1);
  heard.tick();
  assert.equal(isBeside(), true);
  heard.tick();
  assert.equal(isBeside(), false);
});
