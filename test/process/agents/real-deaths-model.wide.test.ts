/**
 * Ways in which real agents died of their model, rebuilt with the libraries they died in (the reports are named in
 * test/agents/deaths.mjs): the program ends as it does without the preload, and the first screen names the cause.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoAgents } from '../../support/agents/real-agents.ts';
import { type Death, dieOf, majorsOf } from '../../support/victims/real-death.ts';

let deaths = 0;

function testDeath(title: string, name: string, reply: Death['reply'], check: Death['check']): void {
  for (const major of majorsOf(deaths++))
    test(`${title} (Node ${major})`, { skip: whyNoAgents(major) }, (t) =>
      dieOf(t, { name, reply, check }, major),
    );
}

const snow = 'It is snowing. '.repeat(20);

testDeath(
  'LangGraph: a 429 in a sub-agent ends the session',
  'rate-limit',
  () => ({
    status: 429,
    message: 'Rate limit reached for gpt-4o-mini in organization org-x on tokens per min',
  }),
  ({ firstScreen, account }) => {
    assert.match(
      firstScreen,
      /Model call c1 to .*gpt-4o-mini .*was answered 429 with Retry-After 0: the provider limits the rate\./,
    );
    assert.match(firstScreen, /1\. Wait as long as the retry-after header says/);
    assert.equal(account.agent?.failures?.[0]?.isCauseOfDeath, true);
  },
);

testDeath(
  'Anthropic: overloaded, and the retries run out',
  'overload',
  () => ({ status: 529, message: 'Overloaded' }),
  ({ firstScreen }) => {
    assert.match(
      firstScreen,
      /was answered 529 with Retry-After 0, the last of 2 consecutive calls that failed this way: the provider is overloaded\./,
    );
  },
);

testDeath(
  'Anthropic: resumed with a tool_use that has no result',
  'dangling-tool-call',
  () => ({
    status: 400,
    message: 'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1',
  }),
  ({ firstScreen, account }) => {
    assert.match(firstScreen, /the request holds a tool call without its result\./);
    assert.match(
      JSON.stringify(account.verdict?.evidence),
      /Tool call toolu_1 \(get_weather\) has no result/,
    );
  },
);

testDeath(
  'OpenAI: the conversation outgrew the model',
  'context-overflow',
  (n) =>
    n < 2
      ? { text: 'It is snowing.' }
      : { status: 400, message: "This model's maximum context length is 128000 tokens." },
  ({ firstScreen }) => {
    assert.match(
      firstScreen,
      /Model call c3 .* was answered 400: the conversation no longer fits into the model\./,
    );
  },
);

testDeath(
  'AI SDK: the credentials are refused',
  'ai-sdk-error',
  () => ({
    status: 401,
    message: 'Incorrect API key provided',
  }),
  ({ firstScreen }) => {
    assert.match(firstScreen, /was answered 401: the provider refused the credentials\./);
  },
);

testDeath(
  'OpenAI: the decoder of server-sent events throws',
  'sse-garbage',
  () => ({
    text: snow,
    frames: 10,
    fault: 'malformed',
  }),
  ({ firstScreen }) => {
    assert.match(firstScreen, /a frame of the reply stream is not valid JSON\./);
  },
);

testDeath(
  'OpenAI: a plan that was asked for as JSON comes cut off',
  'reply-no-json',
  () => ({
    text: '{"steps": ["pack", "go to the stat',
  }),
  ({ firstScreen, account }) => {
    assert.match(
      firstScreen,
      /Probable cause: the reply of .*gpt-4o-mini .*in model call c1 is not valid JSON\./,
    );
    assert.match(JSON.stringify(account.verdict?.evidence), /It begins: \{\\"steps/);
  },
);

testDeath(
  'OpenAI: a turn is aborted, and the next one rejects with nobody to hear it',
  'abort',
  () => ({ text: snow, frames: 40, frameDelayMs: 10 }),
  ({ firstScreen }) => {
    assert.match(firstScreen, /Model call c1 to .*gpt-4o-mini .*was aborted by .*deaths\.mjs/);
  },
);

testDeath(
  'fetch: the model stalls, and a time limit fires',
  'timeout',
  () => ({ text: snow, frames: 10, fault: 'stall' }),
  ({ firstScreen }) => {
    assert.match(firstScreen, /was aborted by a time limit after/);
  },
);

testDeath(
  'OpenAI: the same call again and again, until somebody stops it',
  'livelock',
  () => ({
    toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }],
  }),
  ({ firstScreen }) => {
    assert.match(firstScreen, /Stopped by SIGTERM/);
    assert.match(
      firstScreen,
      /The agent went in a circle: get_weather\(.*Oslo.*\) came \d+ times with the same result/,
    );
  },
);

testDeath(
  'OpenAI: the reply stalls, until somebody stops it',
  'stall',
  () => ({
    text: snow,
    frames: 20,
    fault: 'stall',
  }),
  ({ firstScreen, account }) => {
    assert.match(firstScreen, /Stopped by SIGTERM during model call to (?:\S+ )?gpt-4o-mini/);
    assert.match(JSON.stringify(account.verdict?.evidence), /frames and \d+ bytes so far, the last \d/);
  },
);
