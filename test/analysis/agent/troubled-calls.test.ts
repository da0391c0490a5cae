/** Model calls that did not go as requested, as they are told of a death. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DyingWork } from '../../../src/analysis/agent/whose-work.ts';
import { findBeforeEnd } from '../../../src/analysis/before-end/before-end.ts';
import { findTroubledCalls } from '../../../src/analysis/before-end/model-calls.ts';
import type { Account } from '../../../src/model/account.ts';
import type { AgentRun, ModelCall, ToolCall } from '../../../src/model/agent-state.ts';

const call = (id: number, status: ModelCall['status'], serverRequest?: string): ModelCall =>
  ({
    id: `m${id}`,
    provider: 'openai',
    model: 'gpt-t',
    status,
    ...(status === 'failed' && { httpStatus: 500 }),
    ...(serverRequest !== undefined && { serverRequest }),
  }) as ModelCall;

function told(modelCalls: ModelCall[]): string[] {
  const run = { id: 'r1', modelCalls } as unknown as AgentRun;
  const account: Account = { schema: 'agentdump.analysis/1', gaps: [] };
  return findTroubledCalls(run, account, new DyingWork({})).map(({ fact }) => fact);
}

test('a later call of the same request was answered, one of another request says nothing', () => {
  const [first, second] = told([
    call(1, 'failed', 'a'),
    call(2, 'failed', 'b'),
    call(3, 'finished', 'a'),
    call(4, 'failed', 'c'),
  ]);
  assert.match(first ?? '', /^Model call m1 .* answered 500; a later call was answered$/);
  assert.match(second ?? '', /^Model call m2 .* answered 500$/);
});

test('calls of another test are told as such, and after those of the test that died', () => {
  const call = (id: string, test: string): ModelCall =>
    ({ id, provider: 'openai', model: 'gpt-t', status: 'failed', httpStatus: 500, test }) as ModelCall;
  const run = {
    id: 'r1',
    toolCalls: [],
    modelCalls: [call('m1', 'cart › pays'), call('m2', 'cart › ships')],
  };
  const origin = { name: ['cart', 'pays'] };
  const account: Account = {
    schema: 'agentdump.analysis/1',
    gaps: [],
    process: { test: { isFollowed: true, origin } },
    agent: { runs: [run as unknown as AgentRun] },
  };
  const [first, second, third] = findBeforeEnd(account).map(({ fact }) => fact);
  assert.match(first ?? '', /^Model call m1 to .+ was answered 500\.$/);
  assert.match(second ?? '', /^Model call m2 to .+ was answered 500, for another test\.$/);
  assert.equal(third, undefined);
});

test('a tool that a later try made good is not told, one beside it and one for another request are', () => {
  const tool = (id: string, second: number, status: ToolCall['status'], more: Partial<ToolCall> = {}) => ({
    id,
    name: 'search',
    status,
    startedAt: `2026-11-21T03:00:0${second}.000Z`,
    durationMs: 1500,
    ...more,
  });
  const told = (...toolCalls: ToolCall[]) => {
    const run = { id: 'r1', modelCalls: [], toolCalls } as unknown as AgentRun;
    const agent = { runs: [run], endedAt: '2026-11-21T03:00:09.000Z' };
    return findBeforeEnd({ schema: 'agentdump.analysis/1', gaps: [], agent }).map(({ fact }) => fact);
  };
  const failed = tool('t1', 1, 'failed');
  assert.match(told(failed)[0] ?? '', /^Tool search \(t1\) failed, 6\.5 s before the end\.$/);
  assert.deepEqual(told(failed, tool('t2', 3, 'finished')), []);
  assert.equal(told(failed, tool('t2', 2, 'finished')).length, 1, 'it ran beside the failed one');
  assert.equal(told(failed, tool('t2', 3, 'failed')).length, 2);
  assert.equal(told(failed, tool('t2', 3, 'finished', { name: 'book' })).length, 1);
  assert.equal(told(failed, tool('t2', 3, 'finished', { serverRequest: 'b' })).length, 1);
  assert.equal(told(tool('t0', 0, 'finished'), failed).length, 1, 'only a later one counts');
});

test('fifty thousand requests take no longer than their number', () => {
  const calls = Array.from({ length: 50_000 }, (_, at) => call(at, 'failed', `r${at}`));
  const { user } = process.cpuUsage();
  assert.equal(told(calls).length, calls.length);
  const seconds = (process.cpuUsage().user - user) / 1e6;
  // Some 0.3 s. A look at all calls for each request took a minute.
  assert.ok(seconds < 10, `${seconds} s`);
});
