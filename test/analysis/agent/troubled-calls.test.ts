/** Model calls that did not go as requested, as they are told of a death. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DyingWork } from '../../../src/analysis/agent/whose-work.ts';
import { findBeforeEnd } from '../../../src/analysis/before-end/before-end.ts';
import { findTroubledCalls } from '../../../src/analysis/before-end/model-calls.ts';
import type { Account } from '../../../src/model/account.ts';
import type { AgentRun, ModelCall } from '../../../src/model/agent-state.ts';

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

test('fifty thousand requests take no longer than their number', () => {
  const calls = Array.from({ length: 50_000 }, (_, at) => call(at, 'failed', `r${at}`));
  const { user } = process.cpuUsage();
  assert.equal(told(calls).length, calls.length);
  const seconds = (process.cpuUsage().user - user) / 1e6;
  // Some 0.3 s. A look at all calls for each request took a minute.
  assert.ok(seconds < 10, `${seconds} s`);
});
