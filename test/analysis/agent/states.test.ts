/** The state of a call or a tool: only what was observed of it, with ages that count from the observation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settleToolCalls } from '../../../src/analysis/agent/calls/tool-outcomes.ts';
import { readAgentRecords } from '../../../src/analysis/agent/events.ts';
import { readAgentState } from '../../../src/analysis/agent/read.ts';
import { computeAgentState } from '../../../src/analysis/agent/timeline.ts';
import { findBeforeEnd } from '../../../src/analysis/before-end/before-end.ts';
import type { Account, ErrorFacts } from '../../../src/model/account.ts';
import type { AgentState, ModelCall } from '../../../src/model/agent-state.ts';

const at = 1_700_000_000_000;
const events = (list: Record<string, unknown>[]) =>
  list.map((event, index) => ({ seq: index + 1, at: at + 1000 * index, ...event }));
const stateOf = (list: Record<string, unknown>[], endMs = 60_000) =>
  computeAgentState({ events: events(list) as never, at: at + endMs, evicted: 0, unreadable: 0 });
/** A reply that asks for three tools at once. */
const asked = (given: unknown = {}) => [
  { kind: 'run.start', run: 'r1', source: 'api', name: 'travel' },
  {
    kind: 'model.start',
    call: 'c1',
    run: 'r1',
    source: 'undici',
    bytes: 1,
    conversation: { keep: 0, add: [] },
    attributes: {},
  },
  {
    kind: 'message',
    message: 'm1',
    role: 'assistant',
    parts: ['a', 'b', 'c'].map((id) => ({ type: 'tool_call', id, name: `tool_${id}`, arguments: given })),
  },
  {
    kind: 'model.end',
    call: 'c1',
    status: 'finished',
    tookMs: 1,
    bytes: 1,
    frames: 0,
    output: ['m1'],
    attributes: {},
  },
];
const started = (id: string) => ({
  kind: 'tool.start',
  id: `t-${id}`,
  run: 'r1',
  source: 'api',
  name: `tool_${id}`,
  callId: id,
});
const ended = (id: string) => ({ kind: 'tool.end', id: `t-${id}`, status: 'finished', tookMs: 1 });

test('what the model asked for and nobody began is no wait', () => {
  const [run] = stateOf(asked()).runs;
  assert.deepEqual(run?.pending, []);
  assert.equal(run?.requested?.length, 3);
  assert.match(run?.requested?.[0] ?? '', /^tool tool_a \(a\), asked for .* not seen to run$/);
});

test('of three calls side by side only the one that had not ended is open', () => {
  const [run] = stateOf([...asked(), started('a'), started('b'), started('c'), ended('a'), ended('c')]).runs;
  assert.deepEqual(run?.pending, ['tool tool_b (b), running for 55 s']);
  assert.equal(run?.requested, undefined);
});

test('a call at the limit of turns did not run; one whose arguments are no JSON says so', () => {
  const settled = (given: unknown, error?: ErrorFacts) => {
    const state = stateOf(asked(given));
    settleToolCalls(state, error);
    return state.runs[0]?.toolCalls.map(({ status, because }) => [status, because])[0];
  };
  assert.deepEqual(settled({}), ['requested', undefined]);
  assert.deepEqual(settled('{"city": "Os'), ['requested', 'its arguments are not valid JSON']);
  for (const error of [
    { name: 'MaxTurnsExceededError', message: 'Max turns (3) exceeded' },
    { name: 'GraphRecursionError', message: 'Recursion limit of 5 reached' },
    { name: 'Error', message: 'gave up after the maximum of 4 steps' },
  ])
    assert.equal(settled({}, error)?.[0], 'limit', error.name);
  for (const message of ['maximum call stack size exceeded', 'the step failed', 'rate limit reached'])
    assert.equal(settled({}, { name: 'Error', message })?.[0], 'requested', message);
});

const streaming = (bytes: number, more = {}) => ({
  kind: 'model.delta',
  call: 'c1',
  bytes,
  frames: 1,
  ...more,
});
const begun = asked().slice(0, 2);

test('text that is written at the death is no byte of that moment', () => {
  // In seconds: the bytes arrived at 2, the held text was recorded at 3, the death was at 60.
  const flushed = stateOf([...begun, streaming(10), streaming(10, { text: 'held back' })]);
  assert.equal(flushed.runs[0]?.modelCalls[0]?.lastByteAgeMs, 58_000);
  const dated = stateOf([...begun, streaming(10, { lastByteAt: at + 1500 })]);
  assert.equal(dated.runs[0]?.modelCalls[0]?.lastByteAgeMs, 58_500);
});

test('ages count to a death that was seen, else they are minima', () => {
  const unseen = computeAgentState(readAgentRecords(events(begun), at + 5000));
  assert.match(unseen.runs[0]?.pending[0] ?? '', /for at least 4 s/);
  assert.equal(unseen.agesAreMinima, true);
  const part = { schema: 'agentdump.agent-events/1', at: at + 5000, evicted: 0, events: events(begun) };
  const own = readAgentState({
    readPart: (name) => (name === 'agent-events.json' ? Buffer.from(JSON.stringify(part)) : undefined),
  });
  assert.match(own.state?.runs[0]?.pending[0] ?? '', /for 4 s/);
  assert.equal(own.state?.agesAreMinima, undefined);
});

const call = (fields: Partial<ModelCall>): ModelCall => ({
  id: 'c1',
  provider: 'openai',
  model: 'gpt',
  status: 'failed',
  startedAt: new Date(at).toISOString(),
  durationMs: 1000,
  ...fields,
});
const before = (modelCalls: ModelCall[], more: Partial<Account> = {}, agent: Partial<AgentState> = {}) =>
  findBeforeEnd({
    schema: 'agentdump.analysis/1',
    gaps: [],
    bundle: { id: 'b', path: '', capturedAt: new Date(at + 9000).toISOString(), sealed: true, parts: [] },
    agent: {
      endedAt: new Date(at + 9000).toISOString(),
      runs: [
        { id: 'r1', status: 'running', steps: [], modelCalls, toolCalls: [], messages: [], pending: [] },
      ],
      ...agent,
    },
    ...more,
  }).map(({ fact }) => fact);

test('what failed before the end is told with its status, header and attempt', () => {
  const overloaded = call({ httpStatus: 529, error: { type: 'overloaded_error', message: 'Overloaded' } });
  assert.deepEqual(before([overloaded, { ...overloaded, id: 'c2' }]), [
    'Model call c2 to openai gpt was answered 529 (overloaded_error: Overloaded), 2 times in a row, 8 s before the end.',
  ]);
  assert.match(
    before([call({ httpStatus: 429, retryAfter: '20', resendCount: 2 })])[0] ?? '',
    /was answered 429 with Retry-After 20, at attempt 3, 8 s before the end/,
  );
  assert.match(
    before([call({ httpStatus: 404, server: 'api.test', path: '/v2/chat/completions' })])[0] ?? '',
    /answered 404 for api\.test\/v2\/chat\/completions/,
  );
  for (const reason of ['SAFETY', 'content_filter', 'max_tokens'])
    assert.match(
      before([call({ status: 'finished', finishReasons: [reason] })])[0] ?? '',
      new RegExp(`^The reply of model call c1 to openai gpt ended with finish reason ${reason},`),
    );
  assert.deepEqual(before([call({ status: 'finished', finishReasons: ['stop'] })]), []);
  assert.match(
    before([overloaded, call({ id: 'c2', status: 'finished' })])[0] ?? '',
    /a later call was answered/,
  );
});

test('what is told as the cause is not told again', () => {
  const refused = call({ httpStatus: 401 });
  const failure = {
    kind: 'authentication' as const,
    title: '',
    confidence: 'certain' as const,
    evidence: [],
    runId: 'r1',
    callId: 'c1',
  };
  const failures = (isCauseOfDeath: boolean) => ({ failures: [{ ...failure, isCauseOfDeath }] });
  assert.equal(before([refused], {}, failures(true)).length, 0);
  assert.equal(before([refused], {}, failures(false)).length, 1);
});

test('a storm of handled errors is one sentence, and so are downloads that failed alike', () => {
  const handled = Array.from({ length: 30 }, (_, n) => ({
    kind: 'exception' as const,
    name: 'Error',
    code: 'EPIPE',
    message: 'write EPIPE',
    at: new Date(at + 100 * n).toISOString(),
  }));
  assert.deepEqual(before([], { happenings: { handled } }), [
    'A handler received an uncaught exception: Error: write EPIPE, 30 times, 6.1 s before the end.',
  ]);
  const failed = { kind: 'http.end', status: 'failed', tookMs: 1, bytes: 0, error: { code: 'ENOTFOUND' } };
  const state = stateOf([
    { kind: 'http.start', http: 'h1', method: 'GET', host: 'files.test' },
    { ...failed, http: 'h1' },
    { kind: 'http.start', http: 'h2', method: 'GET', host: 'files.test' },
    { ...failed, http: 'h2' },
    { kind: 'http.start', http: 'h3', method: 'GET', host: 'files.test' },
    { kind: 'http.end', http: 'h3', status: 'finished', httpStatus: 200, tookMs: 1, bytes: 5 },
  ]);
  const [told] = findBeforeEnd({ schema: 'agentdump.analysis/1', gaps: [], agent: state });
  assert.equal(told?.fact, 'Request GET files.test failed (ENOTFOUND), 2 times, 57 s before the end.');
});
