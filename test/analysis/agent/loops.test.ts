/** Repeated calls, and calls that only look alike. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLoops } from '../../../src/analysis/agent/calls/loops.ts';
import type { AgentRun, ModelCall, ToolCall } from '../../../src/model/agent-state.ts';

const startAt = 1_700_000_000_000;
const time = (index: number) => new Date(startAt + index * 1000).toISOString();
const call = (name: string, given: unknown, result: unknown, more: Partial<ToolCall> = {}): ToolCall => ({
  id: 't',
  name,
  status: 'finished',
  arguments: given,
  result,
  ...more,
});
function loopsOf(toolCalls: ToolCall[], modelCalls: ModelCall[] = []) {
  const run: AgentRun = {
    id: 'r1',
    status: 'running',
    steps: [],
    toolCalls: toolCalls.map((one, index) => ({ ...one, startedAt: time(index) })),
    modelCalls: modelCalls.map((one, index) => ({ ...one, startedAt: time(index) })),
    messages: [],
    pending: [],
  };
  return findLoops([run]);
}
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, i) => make(i));
const search = call('search', { q: 'x' }, 'nothing');

test('the same call with the same result, and what it cost', () => {
  const models = times(12, () => ({ status: 'finished', inputTokens: 1000, outputTokens: 10 }));
  const [loop, ...others] = loopsOf([call('open', 1, 2), ...times(40, () => search)], models);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [loop?.kind, loop?.times, loop?.ongoing, loop?.calls, loop?.lastedMs, loop?.tokens],
    ['exact-repeat', 40, true, ['search({"q":"x"})'], 39_000, 11_110],
  );
  assert.equal(
    loop?.sentence,
    'search({"q":"x"}) came 40 times with the same result within 39 s, for 11,110 tokens, and no other call came after',
  );
});

test('the last one still runs', () => {
  const { result: _, ...begun } = search;
  const [loop] = loopsOf([...times(5, () => search), { ...begun, status: 'running', ageMs: 10 }]);
  assert.deepEqual([loop?.times, loop?.ongoing], [6, true]);
});

test('polling, whose results differ, is no loop; nor is a call made three times', () => {
  assert.deepEqual(loopsOf(times(40, (i) => call('status', { id: 1 }, `${i} %`))), []);
  assert.deepEqual(loopsOf(times(3, () => search)), []);
});

test('a call without a record of its content is not compared', () => {
  assert.deepEqual(loopsOf(times(40, () => ({ id: 't', name: 'search', status: 'finished' }))), []);
});

test('two calls in turn, three in a circle', () => {
  const [pingPong] = loopsOf(times(10, (i) => call(i % 2 ? 'undo' : 'edit', { file: 'a' }, 'ok')));
  assert.deepEqual([pingPong?.kind, pingPong?.times], ['ping-pong', 5]);
  assert.match(
    pingPong?.sentence ?? '',
    /^edit\(.*\) and undo\(.*\) took turns 5 times, each with the same result/,
  );
  const [circle] = loopsOf(times(12, (i) => call(`t${i % 3}`, {}, 'ok')));
  assert.deepEqual([circle?.kind, circle?.times, circle?.calls.length], ['circle', 4, 3]);
});

test('a loop that was left again', () => {
  const [loop] = loopsOf([...times(6, () => search), call('read', 1, 1), call('write', 1, 1)]);
  assert.deepEqual([loop?.times, loop?.ongoing], [6, false]);
});

test('a tool that fails alike, a model that answers the same error', () => {
  const [tool] = loopsOf(
    times(5, () => ({
      id: 't',
      name: 'build',
      status: 'failed',
      arguments: {},
      error: { message: 'no disk' },
    })),
  );
  assert.deepEqual([tool?.kind, tool?.times], ['error-repeat', 5]);
  const refused: ModelCall = {
    provider: 'openai',
    status: 'failed',
    httpStatus: 429,
    error: { type: 'rate_limit' },
  };
  // The client's own attempts for one call.
  const attempts = times(4, (n) => ({ ...refused, ...(n > 0 && { resendCount: n }) }));
  assert.deepEqual(loopsOf([], attempts), []);
  const [again] = loopsOf([], [...attempts, ...attempts, ...attempts]);
  assert.equal(again?.times, 3);
  const [model] = loopsOf([], [{ status: 'finished' }, ...times(7, () => refused)]);
  assert.equal(
    model?.sentence,
    'model call to openai, which failed: 429 rate_limit: 7 times in a row within 6 s, and no other call came after',
  );
  assert.deepEqual(
    loopsOf([], [refused, { status: 'finished' }, refused, { status: 'finished' }, refused]),
    [],
  );
});
