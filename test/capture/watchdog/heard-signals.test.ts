/**
 * Which signals the watchdog's thread takes for the host's, and which are compared with what Node has delivered.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeardSignals } from '../../../src/capture/watchdog/heard-signals.ts';
import { cells, makeCells } from '../../../src/capture/watchdog/protocol.ts';

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
  Atomics.add(shared, cells.delivered, 3);
  assert.equal(changeAndHear(), 1);
  heard.tick();
  assert.equal(changeAndHear(), 2);
  heard.tick();
  assert.equal(changeAndHear(), 4);
});
