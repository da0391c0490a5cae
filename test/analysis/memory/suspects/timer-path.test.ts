/** A path through Node's timers is shown as the timer and its callback, not as the list that leads there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { generalPath, pathText } from '../../../../src/analysis/memory/questions/paths.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import { type SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

interface Timer {
  node: number;
  /** The node that its callback closes over. */
  session: number;
}

function timer(synth: SynthSnapshot, name: string, repeat?: string): Timer {
  const node = synth.node({ name });
  const callback = synth.node({ type: 'closure', name: name === 'Timeout' ? 'refresh' : '' });
  const context = synth.node({ type: 'object', name: 'system / Context' });
  const session = synth.node({ name: 'Session' });
  synth
    .edge(node, callback, name === 'Timeout' ? '_onTimeout' : '_onImmediate')
    .edge(callback, context, 'context', 'internal')
    .edge(context, session, 'session', 'context');
  if (repeat) synth.edge(node, synth.node({ type: repeat, name: 'null' }), '_repeat');
  return { node, session };
}

/** global.setInterval{context}.timerListMap[250], with these timers in its linked list. */
function program(timers: (synth: SynthSnapshot) => Timer[]): { heap: Heap; sessions: number[] } {
  const { snapshot: synth, global } = synthProgram();
  const setter = synth.node({ type: 'closure', name: 'setInterval' });
  const context = synth.node({ type: 'object', name: 'system / Context' });
  const map = synth.node({ name: 'Object' });
  const list = synth.node({ name: 'TimersList' });
  synth
    .edge(global, setter, 'setInterval')
    .edge(setter, context, 'context', 'internal')
    .edge(context, map, 'timerListMap', 'context')
    .edge(map, list, 250);
  let last = list;
  const all = timers(synth);
  for (const { node } of all) {
    synth.edge(last, node, '_idleNext').edge(node, last, '_idlePrev');
    last = node;
  }
  return {
    heap: new Heap(readHeapSnapshotSync(synth.toBuffer())),
    sessions: all.map(({ session }) => session),
  };
}

test('an interval, with its delay, its callback and the variable, however far down the list it is', () => {
  const { heap, sessions } = program((synth) => Array.from({ length: 40 }, () => timer(synth, 'Timeout')));
  const places = new Set(sessions.map((session) => pathText(heap, session)));
  assert.deepEqual([...places], ['a timer (setInterval, 250 ms) → its callback refresh() → session']);
  assert.equal(generalPath(heap, sessions[7]!), [...places][0]);
});

test('a timeout has null where an interval has its delay, which may have a node of its own', () => {
  const { heap, sessions } = program((synth) => [
    timer(synth, 'Timeout', 'hidden'),
    timer(synth, 'Timeout', 'number'),
  ]);
  assert.deepEqual(
    sessions.map((session) => pathText(heap, session)),
    [
      'a timer (setTimeout, 250 ms) → its callback refresh() → session',
      'a timer (setInterval, 250 ms) → its callback refresh() → session',
    ],
  );
});

test('an immediate, from its queue', () => {
  const { snapshot: synth, global } = synthProgram();
  const queue = synth.node({ name: 'ImmediateList' });
  const { node, session } = timer(synth, 'Immediate');
  synth.edge(global, queue, 'immediateQueue').edge(queue, node, 'head');
  const heap = new Heap(readHeapSnapshotSync(synth.toBuffer()));
  assert.equal(pathText(heap, session), 'a timer (setImmediate) → its callback → session');
});

test("a timer that the program holds itself is on the program's own way", () => {
  const { snapshot: synth, global } = synthProgram();
  const { node, session } = timer(synth, 'Timeout');
  synth.edge(global, node, 'poller');
  const heap = new Heap(readHeapSnapshotSync(synth.toBuffer()));
  assert.equal(pathText(heap, session), 'global.poller._onTimeout{context}.session');
});
