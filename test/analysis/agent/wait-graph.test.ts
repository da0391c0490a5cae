/** Who waits for whom, and in which cycles: from events as a journal contains them, and from hostile ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAgentRecords } from '../../../src/analysis/agent/events.ts';
import { computeAgentState } from '../../../src/analysis/agent/timeline.ts';
import type { WaitGraph } from '../../../src/model/agent-state.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

type Event = Record<string, unknown>;
const startAt = 1_700_000_000_000;
const run = (id: string, name: string, more: Event = {}): Event => ({
  kind: 'run.start',
  run: id,
  name,
  ...more,
});
const step = (id: string, name: string, scope: Event): Event => ({ kind: 'step.start', id, name, ...scope });
const tool = (id: string, name: string, scope: Event): Event => ({ kind: 'tool.start', id, name, ...scope });
const held = (id: string, name: string, scope: Event): Event => ({
  kind: 'lock.held',
  lock: id,
  name,
  ...scope,
});
const waits = (id: string, waitsFor: string, what: string, more: Event): Event => ({
  kind: 'wait.start',
  wait: id,
  waitsFor,
  what,
  ...more,
});

function graphOf(events: Event[]): WaitGraph | undefined {
  const records = events.map((event, index) => ({ seq: index + 1, at: startAt + index * 1000, ...event }));
  return computeAgentState(readAgentRecords(records, startAt + events.length * 1000)).waitGraph;
}
const titles = (events: Event[]) => graphOf(events)?.cycles.map(({ title }) => title) ?? [];

const crossed = [
  run('r1', 'planner'),
  run('r2', 'writer'),
  held('l1', 'calendar', { run: 'r1' }),
  held('l2', 'mail', { run: 'r2' }),
  waits('w1', 'lock', 'mail', { run: 'r1' }),
  waits('w2', 'lock', 'calendar', { run: 'r2' }),
];

test('two runs that take two locks in opposite order', () => {
  const graph = graphOf(crossed);
  assert.deepEqual(graph?.cycles, [
    {
      nodes: ['r1', 'lock mail', 'r2', 'lock calendar'],
      title: 'run planner and run writer wait for each other',
      sentence:
        'run planner waits for 2 s for lock mail, which is held by run writer, which waits for 1 s for lock calendar, which is held by run planner',
    },
  ]);
  assert.deepEqual(graph.edges[0], { from: 'r1', to: 'lock mail', why: 'waits', ageMs: 2000 });
});

test('a lock that is given back, or a wait that ends, closes no circle', () => {
  assert.deepEqual(titles([...crossed, { kind: 'lock.released', lock: 'l1' }]), []);
  assert.deepEqual(titles([...crossed, { kind: 'wait.end', wait: 'w2', status: 'finished' }]), []);
});

test('a wait for a promise of a run is known by its id, without a telling name', () => {
  const events = [
    run('r1', 'planner'),
    run('r2', 'writer'),
    waits('w1', 'promise', 'the text', { run: 'r1', on: 'r2' }),
    waits('w2', 'promise', 'the plan', { run: 'r2', on: 'r1' }),
  ];
  assert.deepEqual(titles(events), ['run planner and run writer wait for each other']);
});

test('or by the name of the only open run that bears it', () => {
  const events = [run('r1', 'a'), run('r2', 'b'), waits('w1', 'promise', 'run:b', { run: 'r1' })];
  const back = waits('w2', 'promise', 'a', { run: 'r2' });
  assert.deepEqual(titles([...events, back]), ['run a and run b wait for each other']);
  assert.deepEqual(titles([...events, run('r3', 'a'), back]), []);
});

test('a tool that waits for its own run, through the step around it', () => {
  const events = [
    run('r1', 'planner'),
    step('s1', 'delegate', { run: 'r1' }),
    tool('t1', 'ask', { run: 'r1', step: 's1' }),
    waits('w1', 'promise', 'it', { run: 'r1', step: 's1', tool: 't1', on: 'r1' }),
  ];
  assert.deepEqual(titles(events), ['tool ask waits for run planner, which cannot end before it']);
});

test('a tool that waits for a lock that its run holds, and one that its own scope holds', () => {
  const around = [run('r1', 'planner'), held('l1', 'db', { run: 'r1' }), tool('t1', 'query', { run: 'r1' })];
  assert.deepEqual(titles([...around, waits('w1', 'lock', 'db', { run: 'r1', tool: 't1' })]), [
    'tool query waits for lock db, which run planner around it holds',
  ]);
  assert.deepEqual(titles([...around.slice(0, 2), waits('w1', 'lock', 'db', { run: 'r1' })]), [
    'run planner waits for lock db, which it holds itself',
  ]);
});

test('three in a circle', () => {
  const events = ['a', 'b', 'c'].flatMap((name, index) => [
    run(`r${index + 1}`, name),
    waits(`w${index}`, 'promise', 'x', { run: `r${index + 1}`, on: `r${((index + 1) % 3) + 1}` }),
  ]);
  const starts = events.filter(({ kind }) => kind === 'run.start');
  const rest = events.filter(({ kind }) => kind !== 'run.start');
  assert.deepEqual(titles([...starts, ...rest]), ['3 wait for each other in a circle: run a, run b, run c']);
});

test('code outside of runs is in no circle: it is many things at once', () => {
  assert.deepEqual(titles([held('l1', 'db', {}), waits('w1', 'lock', 'db', {})]), []);
});

test('a lock whose holder is gone is said to be held by it still', () => {
  const graph = graphOf([
    run('r1', 'planner'),
    tool('t1', 'query', { run: 'r1' }),
    held('l1', 'db', { run: 'r1', tool: 't1' }),
    { kind: 'tool.end', id: 't1', status: 'failed' },
    waits('w1', 'lock', 'db', { run: 'r1' }),
  ]);
  assert.equal(graph?.nodes.find(({ id }) => id === 't1')?.ended, true);
  assert.deepEqual(graph?.cycles, []);
});

test('nobody waits: no graph', () => {
  assert.equal(graphOf([run('r1', 'planner'), tool('t1', 'query', { run: 'r1' })]), undefined);
});

test('any order and any loss of events gives a graph whose edges have their nodes, and circles that are closed', () => {
  const id = fc.constantFrom('r1', 'r2', 's1', 't1');
  const scope = fc.record({ run: id, step: id, tool: id }, { requiredKeys: [] });
  const event = fc.oneof(
    fc.tuple(id, scope).map(([one, more]) => run(one, one, { parent: more.run })),
    fc.tuple(id, scope).map(([one, more]) => tool(one, one, more)),
    fc.tuple(id, scope).map(([one, more]) => held(one, one, more)),
    fc
      .tuple(id, id, scope, fc.boolean())
      .map(([wait, on, more, isLock]) => waits(wait, isLock ? 'lock' : 'promise', on, { ...more, on })),
    id.map((one) => ({ kind: 'run.end', run: one, status: 'finished' })),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const graph = graphOf(events);
      if (!graph) return;
      const ids = new Set(graph.nodes.map((node) => node.id));
      for (const { from, to } of graph.edges) assert.ok(ids.has(from) && ids.has(to));
      for (const { nodes } of graph.cycles)
        for (const [index, from] of nodes.entries()) {
          const to = nodes[(index + 1) % nodes.length];
          assert.ok(graph.edges.some((edge) => edge.from === from && edge.to === to));
        }
    }),
    { numRuns: fuzzRuns(300) },
  );
});
