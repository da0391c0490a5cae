/** Runs are identified by the ids that the host gave them, wherever they are referred to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAgentState } from '../../../src/analysis/agent/read.ts';

const at = 1_795_000_000_000;

function stateOf(events: object[], within?: object) {
  const numbered = events.map((event, i) => ({ seq: i + 1, at: at + i, ...event }));
  const part = { schema: 'agentdump.agent-events/1', at: at + 100, evicted: 0, events: numbered, within };
  const readPart = (name: string) =>
    name === 'agent-events.json' ? Buffer.from(JSON.stringify(part)) : undefined;
  const { state, gaps } = readAgentState({ readPart });
  assert.deepEqual(gaps, []);
  return state ?? assert.fail('no state');
}

const start = (run: string, givenId?: unknown, parent?: string) => ({
  kind: 'run.start',
  run,
  source: 'api',
  name: 'plan',
  ...(givenId !== undefined && { givenId }),
  ...(parent !== undefined && { parent }),
});
const idsOf = (events: object[]) => stateOf(events).runs.map(({ id }) => id);

test('a run, the run inside of it, its state, its waits and where it died', () => {
  const { runs, diedIn, waitGraph } = stateOf(
    [
      start('r1', 'trip-42'),
      start('r2', 'hotels', 'r1'),
      { kind: 'step.start', id: 's1', run: 'r2', source: 'api', name: 'search' },
      { kind: 'state', run: 'r2', operations: [{ op: 'add', path: '/budget', value: 100 }] },
      { kind: 'wait.start', wait: 'w1', run: 'r1', waitsFor: 'promise', what: 'the hotels', on: 'r2' },
    ],
    { run: 'r2', step: 's1', from: 'context' },
  );
  assert.deepEqual(
    runs.map(({ id, parentId }) => [id, parentId]),
    [
      ['trip-42', undefined],
      ['hotels', 'trip-42'],
    ],
  );
  assert.deepEqual(runs[1]?.state, { budget: 100 });
  assert.deepEqual(runs[1]?.steps[0]?.id, 's1');
  assert.deepEqual(diedIn, { runId: 'hotels', stepId: 's1', from: 'context' });
  assert.ok(waitGraph?.edges.some(({ from, to }) => from === 'trip-42' && to === 'hotels'));
});

test('the end of a run is found under its name', () => {
  const [run] = stateOf([
    start('r1', 'trip'),
    { kind: 'run.end', run: 'r1', status: 'finished', tookMs: 5 },
  ]).runs;
  assert.deepEqual([run?.id, run?.status], ['trip', 'finished']);
});

test('an id that is given twice is numbered, so that two runs stay two', () => {
  assert.deepEqual(idsOf([start('r1', 'job'), start('r2', 'job'), start('r3')]), ['job', 'job#2', 'r3']);
});

test('an id that the recorder or the account uses for something else stays a number', () => {
  assert.deepEqual(idsOf([start('r1', 'r2'), start('r2', 's1'), start('r3', ''), start('r4', 7)]), [
    'r1',
    'r2',
    'r3',
    'r4',
  ]);
  assert.deepEqual(idsOf([start('r1', 'implicit'), start('r2', 'program')]), ['implicit#2', 'program#2']);
});
