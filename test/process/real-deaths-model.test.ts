/**
 * Ways in which real agents died of their model, rebuilt with the libraries they died in (the reports are named in
 * test/agents/deaths.mjs): the end is that of the program without us, and the first screen says the cause.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoAgents } from '../support/real-agents.ts';
import { dieOf } from '../support/real-death.ts';

const skip = whyNoAgents(24);
const snow = 'It is snowing. '.repeat(20);

test('LangGraph: a 429 in a sub-agent ends the session', { skip }, async (t) => {
  const { firstScreen, account } = await dieOf(t, 'rate-limit', () => ({
    status: 429,
    message: 'Rate limit reached for gpt-4o-mini in organization org-x on tokens per min',
  }));
  assert.match(
    firstScreen,
    /Model call c1 to \S+ gpt-4o-mini was answered 429: the provider limits the rate\./,
  );
  assert.match(firstScreen, /→ Wait as long as the retry-after header says/);
  assert.equal(account.agent?.failures?.[0]?.isCauseOfDeath, true);
});

test('Anthropic: overloaded, and the retries run out', { skip }, async (t) => {
  const { firstScreen } = await dieOf(t, 'overload', () => ({ status: 529, message: 'Overloaded' }));
  assert.match(firstScreen, /was answered 529, the last of 2 attempts: the provider is overloaded\./);
});

test('Anthropic: resumed with a tool_use that has no result', { skip }, async (t) => {
  const { firstScreen, account } = await dieOf(t, 'dangling-tool-call', () => ({
    status: 400,
    message: 'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1',
  }));
  assert.match(firstScreen, /the request holds a tool call without its result\./);
  assert.match(JSON.stringify(account.verdict?.evidence), /Tool call toolu_1 \(get_weather\) has no result/);
});

test('OpenAI: the conversation outgrew the model', { skip }, async (t) => {
  const { firstScreen } = await dieOf(t, 'context-overflow', (n) =>
    n < 2
      ? { text: 'It is snowing.' }
      : { status: 400, message: "This model's maximum context length is 128000 tokens." },
  );
  assert.match(
    firstScreen,
    /Model call c3 .* was answered 400: the conversation no longer fits into the model\./,
  );
});

test('AI SDK: the credentials are refused', { skip }, async (t) => {
  const { firstScreen } = await dieOf(t, 'ai-sdk-error', () => ({
    status: 401,
    message: 'Incorrect API key provided',
  }));
  assert.match(firstScreen, /was answered 401: the provider refused the credentials\./);
});

test('OpenAI: the decoder of server-sent events throws', { skip }, async (t) => {
  const { firstScreen } = await dieOf(t, 'sse-garbage', () => ({
    text: snow,
    frames: 10,
    fault: 'malformed',
  }));
  assert.match(firstScreen, /a frame of the reply stream is no JSON\./);
});

test('OpenAI: a plan that was asked for as JSON comes cut off', { skip }, async (t) => {
  const { firstScreen, account } = await dieOf(t, 'reply-no-json', () => ({
    text: '{"steps": ["pack", "go to the stat',
  }));
  assert.match(firstScreen, /The reply of \S+ gpt-4o-mini in model call c1 is no JSON\./);
  assert.match(JSON.stringify(account.verdict?.evidence), /It begins: \{\\"steps/);
});

test('OpenAI: a turn is aborted, and the next one rejects with nobody to hear it', { skip }, async (t) => {
  const { firstScreen } = await dieOf(t, 'abort', () => ({ text: snow, frames: 40, frameDelayMs: 10 }));
  assert.match(firstScreen, /Model call c1 to \S+ gpt-4o-mini was aborted by .*deaths\.mjs/);
});

test('fetch: the model stalls, and a time limit fires', { skip }, async (t) => {
  const { firstScreen } = await dieOf(t, 'timeout', () => ({ text: snow, frames: 10, fault: 'stall' }));
  assert.match(firstScreen, /was aborted by a time limit after/);
});

test('OpenAI: the same call again and again, until somebody stops it', { skip }, async (t) => {
  const { firstScreen } = await dieOf(t, 'livelock', () => ({
    toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }],
  }));
  assert.match(firstScreen, /Stopped by SIGTERM/);
  assert.match(
    firstScreen,
    /The agent went in a circle: get_weather\(.*Oslo.*\) came \d+ times with the same result/,
  );
});

test('OpenAI: the reply stalls, until somebody stops it', { skip }, async (t) => {
  const { firstScreen, account } = await dieOf(t, 'stall', () => ({
    text: snow,
    frames: 20,
    fault: 'stall',
  }));
  assert.match(firstScreen, /Stopped by SIGTERM while waiting for model call to \S+ gpt-4o-mini/);
  assert.match(JSON.stringify(account.verdict?.evidence), /frames and \d+ bytes so far, the last \d/);
});
