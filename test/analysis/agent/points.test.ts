/** Questions about an agent's past: when an expression first held, and what changed between two points. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAgentRecords } from '../../../src/analysis/agent/events.ts';
import { computePointDiff, diffValues } from '../../../src/analysis/agent/point-diff.ts';
import { findWhere } from '../../../src/analysis/agent/where.ts';
import type { AgentdumpError } from '../../../src/errors.ts';
import { applyPatch } from '../../../src/model/json-patch.ts';
import { renderPointDiff, renderWhere } from '../../../src/report/text/agent-points.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

const event = (seq: number, kind: string, data: object) => ({ seq, at: 1000 * seq, kind, ...data });
const set = (seq: number, path: string, value: unknown, op = 'add') =>
  event(seq, 'state', { run: 'r1', step: 's1', operations: [{ op, path, value }] });
const story = readAgentRecords([
  event(1, 'run.start', { run: 'r1', name: 'planner' }),
  set(2, '/todo', ['a', 'b']),
  event(3, 'step.start', { id: 's1', run: 'r1', name: 'look' }),
  set(4, '/turns', 1),
  set(5, '/turns', 2, 'replace'),
  set(6, '/todo', [], 'replace'),
  event(7, 'tool.start', { id: 't1', run: 'r1', name: 'search', arguments: { q: 1 } }),
  event(8, 'step.end', { id: 's1', status: 'finished', tookMs: 1 }),
  set(9, '/turns', 1, 'replace'),
  event(10, 'plan', { run: 'r1', plan: ['rest'] }),
]);

test('the first change after which an expression holds', () => {
  const first = (expression: string) => findWhere(story, expression).found?.seq;
  assert.equal(first('size(state.todo) == 0'), 6);
  assert.equal(first('state.turns % 2 == 0'), 5);
  assert.equal(first('state.turns > 1.5'), 5);
  assert.equal(first('size(plan) == 1 && run.name == "planner"'), 10);
  assert.equal(first('state.todo.exists(t, t == "b")'), 2);
  assert.equal(first('state.turns > 7'), undefined);
});

test('what is found says where it was and what changed', () => {
  const { found, mutations } = findWhere(story, 'size(state.todo) == 0');
  assert.deepEqual(found?.changes, [{ op: 'replace', path: '/todo', before: ['a', 'b'], after: [] }]);
  assert.deepEqual(
    [found?.runName, found?.stepId, found?.beforeEndMs, mutations],
    ['planner', 's1', 4000, 5],
  );
  assert.match(
    renderWhere(findWhere(story, 'size(state.todo) == 0')),
    /First after event 6.*~ \/todo {2}\["a","b"\] → \[\]/s,
  );
});

test('an expression that never has an answer says so; one that is none is a wrong word', () => {
  const answer = findWhere(story, 'state.turn > 1');
  assert.equal(answer.found, undefined);
  assert.equal(answer.failed, answer.mutations);
  assert.match(renderWhere(answer), /Never: .*No such key: turn/);
  for (const wrong of [
    'run.name.matches("(x+x+)+y")',
    'state.turns >',
    ')',
    'x'.repeat(5000),
    '('.repeat(300),
  ])
    assert.throws(
      () => findWhere(story, wrong),
      (error: AgentdumpError) => error.code === 'usage',
    );
});

test('nothing of JavaScript is reachable from an expression', () => {
  for (const reach of [
    'state.constructor',
    'state.__proto__',
    'run.name.constructor',
    'process',
    'this',
    'globalThis',
  ])
    assert.equal(findWhere(story, `${reach} != null`).found, undefined, reach);
});

test('what changed between two points, in either order', () => {
  for (const points of [
    ['4', '9'],
    ['9', '4'],
  ] as const) {
    const [run, other] = computePointDiff(story, points[0], points[1]).runs;
    assert.equal(other, undefined);
    assert.deepEqual(run?.state, [
      { op: 'remove', path: '/todo/0', before: 'a' },
      { op: 'remove', path: '/todo/1', before: 'b' },
    ]);
    assert.deepEqual(
      run?.steps.map(({ id, status }) => [id, status]),
      [['s1', 'finished']],
    );
    assert.deepEqual(
      run?.toolCalls.map(({ name, status }) => [name, status]),
      [['search', 'running']],
    );
  }
  const text = renderPointDiff(computePointDiff(story, '1', 's1'));
  assert.match(text, /From event 1 to event 8, 7 s\n\nplanner/);
  assert.match(text, /\+ \/turns {2}2/);
  assert.match(renderPointDiff(computePointDiff(story, '5', '5')), /nothing changed/);
});

test('the changes of two states, applied to the first, make the second', () => {
  // List elements are removed from the end, because each removal shifts the indexes behind it.
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), fc.dictionary(fc.string(), value), (a, b) => {
      const changes = diffValues(a, b).map(({ op, path, after }) => ({
        op: op as 'add',
        path,
        value: after,
      }));
      const removed = changes.filter(({ op }) => (op as string) === 'remove').reverse();
      const rest = changes.filter(({ op }) => (op as string) !== 'remove');
      assert.deepEqual(plain(applyPatch(a, [...removed, ...rest])), plain(b));
    }),
    { numRuns: fuzzRuns(200) },
  );
});

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
