/** The ways in which agents fail: the evidence for each, and cases that look alike but are not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFailures } from '../../../src/analysis/agent/failures/failures.ts';
import { explainByAgent } from '../../../src/analysis/verdict/additions/agent-failure.ts';
import type { ErrorFacts } from '../../../src/model/account.ts';
import type { AgentRun, AgentState, ModelCall, ToolCall } from '../../../src/model/agent-state.ts';
import type { Frame } from '../../../src/model/thread.ts';
import type { Verdict } from '../../../src/model/verdict.ts';

const call = (fields: Partial<ModelCall> = {}): ModelCall => ({
  id: 'c1',
  provider: 'openai',
  model: 'gpt-x',
  status: 'finished',
  startedAt: '2026-11-21T03:00:00.000Z',
  ...fields,
});
const tool = (fields: Partial<ToolCall> = {}): ToolCall => ({
  id: 'call_1',
  name: 'search',
  status: 'failed',
  startedAt: '2026-11-21T03:00:01.000Z',
  durationMs: 5,
  arguments: { q: 'tides' },
  error: { type: 'TypeError', message: 'no such index: tides' },
  ...fields,
});
const agent = (run: Partial<AgentRun>, more: Partial<AgentState> = {}): AgentState => ({
  runs: [
    {
      id: 'r1',
      status: 'running',
      steps: [],
      modelCalls: [],
      toolCalls: [],
      messages: [],
      pending: [],
      ...run,
    },
  ],
  ...more,
});
const kindsOf = (run: Partial<AgentRun>, error?: ErrorFacts) =>
  findFailures({ agent: agent(run), error }).map(
    ({ kind, isCauseOfDeath }) => `${kind}${isCauseOfDeath ? '!' : ''}`,
  );

test('what a provider says is told apart by status and words', () => {
  const said = (httpStatus: number, message: string, type?: string) =>
    kindsOf({
      modelCalls: [call({ status: 'failed', httpStatus, error: { message, ...(type && { type }) } })],
    })[0];
  assert.equal(said(429, 'Rate limit reached for gpt-x'), 'rate-limit');
  assert.equal(said(429, 'You exceeded your current quota', 'insufficient_quota'), 'quota');
  assert.equal(said(529, 'Overloaded', 'overloaded_error'), 'overload');
  assert.equal(said(400, 'prompt is too long: 210000 tokens > 200000 maximum'), 'context-overflow');
  assert.equal(said(400, "This model's maximum context length is 128000 tokens"), 'context-overflow');
  assert.equal(
    said(400, 'messages.2: `tool_use` ids were found without `tool_result` blocks'),
    'dangling-tool-call',
  );
  assert.equal(
    said(400, "An assistant message with 'tool_calls' must be followed by tool messages"),
    'dangling-tool-call',
  );
  assert.equal(said(401, 'invalid x-api-key'), 'authentication');
  assert.equal(said(500, 'Internal server error'), 'provider-error');
  assert.equal(said(422, 'temperature: not a number'), 'bad-request');
});

test('a refusal that was made good is none', () => {
  const refused = call({ status: 'failed', httpStatus: 429, error: { message: 'slow down' } });
  assert.deepEqual(kindsOf({ modelCalls: [refused, call({ id: 'c2' })] }), []);
  const failures = findFailures({
    agent: agent({ modelCalls: [call({ id: 'c0' }), refused, { ...refused, id: 'c2' }] }),
  });
  assert.match(
    failures[0]?.title ?? '',
    /^model call c2 to openai gpt-x was answered 429, the last of 2 consecutive calls that failed this way: the provider limits the rate$/,
  );
});

test('a 400 without a word is explained by the tool call that has no result', () => {
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'tool_call', id: 'call_9', name: 'search', arguments: {} }] },
    { role: 'user', content: 'go on' },
  ];
  const refused = call({ status: 'failed', httpStatus: 400, error: { message: 'invalid request' } });
  const [failure] = findFailures({ agent: agent({ modelCalls: [refused], messages }) });
  assert.equal(failure?.kind, 'dangling-tool-call');
  assert.equal(failure?.confidence, 'likely');
  assert.match(failure?.evidence.map(({ fact }) => fact).join() ?? '', /call_9 \(search\) has no result/);
  const answered = [
    ...messages.slice(0, 2),
    { role: 'tool', content: [{ type: 'tool_call_response', id: 'call_9', response: 1 }] },
  ];
  assert.equal(
    findFailures({ agent: agent({ modelCalls: [refused], messages: answered }) })[0]?.kind,
    'bad-request',
  );
});

test('it is the cause of death where the error says the same', () => {
  const refused = call({
    status: 'failed',
    httpStatus: 429,
    error: { message: 'Rate limit reached for gpt-x in org' },
  });
  const error = (fields: ErrorFacts): ErrorFacts => ({ name: 'Error', ...fields });
  assert.deepEqual(
    kindsOf({ modelCalls: [refused] }, error({ message: '429 Rate limit reached for gpt-x in org' })),
    ['rate-limit!'],
  );
  assert.deepEqual(
    kindsOf({ modelCalls: [refused] }, error({ message: 'gave up', properties: { status: 429 } })),
    ['rate-limit!'],
  );
  assert.deepEqual(
    kindsOf({ modelCalls: [refused] }, error({ message: 'x', cause: { message: 'status 429' } })),
    ['rate-limit!'],
  );
  assert.deepEqual(kindsOf({ modelCalls: [refused] }, error({ message: 'x is not a function' })), [
    'rate-limit',
  ]);
});

test('the reply whose JSON would not parse is found by parsing it again', () => {
  const text = '{"steps": ["a", "b"';
  const words = (() => {
    try {
      return String(JSON.parse(text));
    } catch (error) {
      return (error as Error).message;
    }
  })();
  const modelCalls = [
    call({ id: 'c1', response: [{ role: 'assistant', content: '{"steps": []}' }] }),
    call({ id: 'c2', response: [{ role: 'assistant', content: text }], finishReasons: ['length'] }),
    call({ id: 'c3', response: [{ role: 'assistant', content: 'I am done.' }] }),
  ];
  const [failure] = findFailures({
    agent: agent({ modelCalls }),
    error: { name: 'SyntaxError', message: words },
  });
  assert.equal(failure?.kind, 'malformed-output');
  assert.deepEqual(
    [failure?.callId, failure?.confidence, failure?.isCauseOfDeath, failure?.causeConfidence],
    ['c2', 'certain', true, 'likely'],
  );
  assert.match(failure?.title ?? '', /ended early and is not valid JSON/);
  assert.deepEqual(kindsOf({ modelCalls }), [], 'prose is no fault');
  const place = / \(line \d+ column \d+\)$/;
  const [ofOtherNode] = findFailures({
    agent: agent({ modelCalls }),
    error: {
      name: 'SyntaxError',
      message: place.test(words) ? words.replace(place, '') : `${words} (line 1 column 20)`,
    },
  });
  assert.equal(ofOtherNode?.causeConfidence, 'likely', 'one Node tells line and column, another does not');
  const other = findFailures({
    agent: agent({ modelCalls }),
    error: { name: 'SyntaxError', message: 'Bad control character in string literal in JSON at position 3' },
  });
  assert.equal(other[0]?.causeConfidence, 'possible');
});

test('a reply that an abort or a closed connection cut is not blamed on the model', () => {
  const response = [{ role: 'assistant', content: '{"steps": ["a"' }];
  const thrown = { name: 'SyntaxError', message: 'Unexpected end of JSON input' };
  const cutBy = (fields: Partial<ModelCall>) =>
    findFailures({
      agent: agent({ modelCalls: [call({ response, durationMs: 1200, ...fields })] }),
      error: thrown,
    }).find(({ kind }) => kind === 'malformed-output');
  const aborted = cutBy({
    status: 'aborted',
    error: { type: 'TimeoutError', message: 'aborted due to timeout' },
  });
  assert.match(
    aborted?.title ?? '',
    /ended early and is not valid JSON: the call was aborted before its end$/,
  );
  assert.match(
    JSON.stringify(aborted?.evidence),
    /c1 was aborted after 1\.2 s: TimeoutError: aborted due to timeout/,
  );
  const cut = cutBy({ status: 'cut', error: { type: 'SocketError', message: 'other side closed' } });
  assert.match(cut?.title ?? '', /not valid JSON: its connection was closed before its end$/);
  for (const found of [aborted, cut])
    assert.doesNotMatch(found?.nextStep ?? '', /output tokens|structured output/);
  assert.doesNotMatch(cutBy({})?.title ?? '', /ended early/);
});

test('arguments that no tool can be called with', () => {
  const content = [{ type: 'tool_call', id: 'call_1', name: 'search', arguments: '{"q": tides}' }];
  const modelCalls = [call({ response: [{ role: 'assistant', content }] })];
  const [failure] = findFailures({
    agent: agent({ modelCalls, toolCalls: [tool({ status: 'requested', error: undefined })] }),
  });
  assert.match(
    failure?.title ?? '',
    /^the arguments for search of openai gpt-x in model call c1 are not valid JSON$/,
  );
});

test('the tool whose promise was rejected', () => {
  const error = { name: 'TypeError', message: 'no such index: tides' };
  assert.deepEqual(
    kindsOf({ toolCalls: [tool(), tool({ id: 'call_2', error: { message: 'something else' } })] }, error),
    ['tool-error!'],
  );
  assert.deepEqual(
    kindsOf({ toolCalls: [tool()], modelCalls: [call({ startedAt: '2026-11-21T03:00:02.000Z' })] }),
    [],
    'the model was told',
  );
  assert.deepEqual(kindsOf({ toolCalls: [tool()] }), ['tool-error']);
});

test('of tools that failed with the same words, the one whose error object it was', () => {
  const error = { name: 'TypeError', message: 'no such index: tides' };
  const toolCalls = [tool({ eventId: 't1' }), tool({ id: 'call_2', eventId: 't2' })];
  const find = (more: Partial<AgentState>) => findFailures({ agent: agent({ toolCalls }, more), error })[0];
  const own = find({ diedOf: [{ id: 't1', as: 'error' }] });
  assert.deepEqual([own?.callId, own?.causeConfidence], ['call_1', 'certain']);
  assert.equal(own?.title, 'the error was thrown by tool search (call_1)');
  assert.equal(
    find({ diedOf: [{ id: 't1', as: 'cause' }] })?.title,
    'the error was caused by one that tool search (call_1) threw',
  );
  const presumed = find({});
  assert.equal(presumed?.causeConfidence, 'likely');
  assert.match(presumed?.title ?? '', /^2 tool calls had failed with the same message, the last of them/);
  const others = find({ diedOf: [{ id: 't9', as: 'error' }] });
  assert.equal(others?.isCauseOfDeath, false, 'it is known to be of another tool');
  const elsewhere = find({ diedIn: { runId: 'r1', toolId: 't9', from: 'context' } });
  assert.equal(elsewhere?.isCauseOfDeath, false);
  const text = find({ diedIn: { runId: 'r1', toolId: 't1', from: 'context' } });
  assert.deepEqual([text?.callId, text?.causeConfidence], ['call_1', 'certain']);
});

test('that a model call is the cause is certain by its error object or its id at the provider', () => {
  const refused = call({
    status: 'failed',
    httpStatus: 429,
    requestId: 'req_7',
    error: { message: 'Rate limit reached for gpt-x' },
  });
  const sure = (error: ErrorFacts, more: Partial<AgentState> = {}) =>
    findFailures({ agent: agent({ modelCalls: [refused] }, more), error })[0]?.causeConfidence;
  assert.equal(sure({ message: '429 Rate limit reached for gpt-x' }), 'likely');
  assert.equal(sure({ message: 'gave up', properties: { requestID: 'req_7' } }), 'certain');
  assert.equal(
    sure({ message: 'x', cause: { properties: { responseHeaders: { 'x-request-id': 'req_7' } } } }),
    'certain',
  );
  assert.equal(sure({ message: 'gave up' }, { diedOf: [{ id: 'c1', as: 'cause' }] }), 'certain');
  assert.equal(sure({ message: 'gave up', properties: { requestID: 'req_8' } }), undefined);
});

test('a tool that still ran is known by the asynchronous context of the code that died', () => {
  const running = tool({ status: 'running', error: undefined, eventId: 't7' });
  const state = agent({ toolCalls: [running] }, { diedIn: { runId: 'r1', toolId: 't7', from: 'context' } });
  const [failure] = findFailures({ agent: state, error: { message: 'spawn ENOENT' } });
  assert.equal(failure?.kind, 'tool-error');
  assert.equal(failure?.isCauseOfDeath, true);
  assert.deepEqual(
    findFailures({
      agent: { ...state, diedIn: { runId: 'r1', toolId: 't7', from: 'only-open' } },
      error: { message: 'x' },
    }),
    [],
  );
});

const abortCall = {
  function: 'AbortController.abort',
  file: 'node:internal/abort_controller',
  line: 392,
  inApp: false,
  trust: 'stack-text' as const,
};

test('aborted by whom: the frame that called abort, or a time limit', () => {
  const modelCalls = [call({ status: 'aborted', durationMs: 2000, bytes: 10 })];
  const stop = { function: 'stop', file: '/srv/a/src/stop.ts', line: 3, inApp: true };
  const frames = [abortCall, { ...stop, trust: 'stack-text' as const }];
  const find = (error?: ErrorFacts) =>
    findFailures({ agent: agent({ modelCalls }), error, cwd: '/srv/a' })[0]?.title ?? '';
  assert.match(
    find({ name: 'AbortError', message: 'This operation was aborted', frames }),
    /aborted by stop \(src\/stop\.ts:3\) after 2 s/,
  );
  // A client creates its own error where it reports the abort, not where abort() was called.
  const told = { name: 'APIUserAbortError', message: 'Request was aborted.', frames: frames.slice(1) };
  assert.match(find(told), /aborted by the program/);
  assert.match(find({ name: 'TimeoutError', message: 'timed out' }), /aborted by a time limit/);
  assert.match(find(), /aborted by the program/);
});

test('aborted by whom: the recorded call of abort() before the stack of the error', () => {
  const modelCalls = [call({ id: 'c1', status: 'aborted', durationMs: 2000, bytes: 10 })];
  const frame = { file: '/srv/a/src/stop.ts', line: 3, inApp: true, trust: 'stack-text' as const };
  const timer = { file: 'node:internal/timers', line: 8, inApp: false, trust: 'stack-text' as const };
  const abortedBy = (frames: Frame[], callId = 'c1') =>
    findFailures({
      agent: agent({ modelCalls }, { aborts: [{ callId, beforeEndMs: 0, stackText: '', frames }] }),
      error: {
        name: 'AbortError',
        message: 'x',
        frames: [abortCall, { ...frame, line: 99, function: 'main' }],
      },
      cwd: '/srv/a',
    })[0];
  assert.match(abortedBy([frame, timer])?.title ?? '', /aborted by src\/stop\.ts:3 after 2 s/);
  assert.match(
    JSON.stringify(abortedBy([frame, timer])?.evidence),
    /called in src\/stop\.ts:3, which a timer started/,
  );
  assert.match(abortedBy([timer])?.title ?? '', /aborted by a timer/);
  const client = { ...frame, file: '/srv/a/node_modules/@x/client/index.js', inApp: false };
  assert.match(abortedBy([client, timer])?.title ?? '', /aborted by a timer of @x\/client after 2 s/);
  assert.match(abortedBy([])?.title ?? '', /aborted by the program/);
  assert.match(abortedBy([frame], 'c2')?.title ?? '', /aborted by main \(src\/stop\.ts:99\)/);
});

test('waiting: an approval, silence, a lock, a circle', () => {
  const wait = (kind: string, ageMs: number) => kindsOf({ waits: [{ kind, what: 'x', ageMs }] });
  assert.deepEqual(wait('approval', 5), ['approval-pending']);
  assert.deepEqual(wait('lock', 9_000), []);
  assert.deepEqual(wait('lock', 11_000), ['starvation']);
  assert.deepEqual(
    kindsOf({ modelCalls: [call({ status: 'streaming', ageMs: 90_000, lastByteAgeMs: 80_000 })] }),
    ['starvation'],
  );
  assert.deepEqual(
    kindsOf({ modelCalls: [call({ status: 'streaming', ageMs: 90_000, lastByteAgeMs: 10 })] }),
    [],
  );
  assert.deepEqual(kindsOf({ steps: [{ id: 's1', status: 'interrupted' }] }, { name: 'GraphInterrupt' }), [
    'approval-pending!',
  ]);
  const loops = [{ runId: 'r1', sentence: 'read(x) came 40 times with the same result', ongoing: true }];
  assert.equal(findFailures({ agent: agent({}, { loops } as Partial<AgentState>) })[0]?.kind, 'loop');
});

const verdict: Verdict = {
  kind: 'unhandled-rejection',
  title: 'Error: x',
  summary: 'A promise was rejected.',
  confidence: 'certain',
  evidence: [],
  refutedBy: '',
  nextSteps: ['Open it.'],
};

test('the verdict says it first where it is the cause, and nothing where it is not', () => {
  const state = agent({ toolCalls: [tool()] }, { diedIn: { runId: 'r1', from: 'context' } });
  const failures = findFailures({ agent: state, error: { message: 'no such index: tides' } });
  const explained = explainByAgent(verdict, { ...state, failures });
  assert.match(
    explained.summary,
    /^Probable cause: tool search \(call_1\) had failed with the same message\. A promise/,
  );
  assert.match(explained.nextSteps[0] ?? '', /^Catch what search throws/);
  assert.match(explained.evidence[0]?.fact ?? '', /worked for run r1 \(by its asynchronous context\)/);
  const other = findFailures({ agent: agent({ toolCalls: [tool()] }), error: { message: 'another thing' } });
  assert.equal(explainByAgent(verdict, { ...agent({}), failures: other }).summary, verdict.summary);
  assert.equal(
    explainByAgent({ ...verdict, kind: 'snapshot' }, { ...state, failures }).summary,
    verdict.summary,
  );
  assert.equal(explainByAgent(verdict, undefined), verdict);
});
