/**
 * Ways in which real agents died of their tools, servers and questions, rebuilt with the libraries they died in (the
 * reports are named in test/agents/deaths.mjs): the same end as without us, and the cause on the first screen.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoAgents } from '../support/real-agents.ts';
import { dieOf } from '../support/real-death.ts';

const skip = whyNoAgents(24);

test('LangChain: what a tool throws ends the process', { skip }, async (t) => {
  const { firstScreen, account } = await dieOf(t, 'tool-throws');
  assert.match(firstScreen, /TypeError: no station is near Oslo at .*deaths\.mjs/);
  assert.match(firstScreen, /The error came out of tool get_weather \(t1\), and nothing caught it\./);
  assert.match(JSON.stringify(account.verdict?.evidence), /get_weather\(\{\\"city\\":\\"Oslo\\"\}\) failed/);
});

test('AI SDK: a tool leaves a promise behind, and its rejection ends the process', { skip }, async (t) => {
  const { firstScreen, account } = await dieOf(t, 'floating-tool', (n) =>
    n ? { text: 'Snow.' } : { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
  );
  assert.match(firstScreen, /RangeError: the cache of Oslo is full/);
  assert.match(firstScreen, /The error came out of tool get_weather \(\S+\), and nothing caught it\./);
  assert.match(
    JSON.stringify(account.verdict?.evidence),
    /worked for tool get_weather .* \(by its asynchronous context\)/,
  );
});

test('LangGraph: the question to a person becomes an unhandled rejection', { skip }, async (t) => {
  const { firstScreen } = await dieOf(t, 'interrupt');
  assert.match(
    firstScreen,
    /Step approve stopped to ask a person: "May I send the mail\?", and nothing caught/,
  );
});

test('MCP over HTTP: nobody listens at the address', { skip }, async (t) => {
  const { firstScreen } = await dieOf(t, 'mcp-http-gone');
  assert.match(firstScreen, /The MCP server at 127\.0\.0\.1:\d+ could not be reached: .*ECONNREFUSED/);
});

test('MCP: the server dies in a call, and -32000 ends its client', { skip }, async (t) => {
  const { firstScreen, account } = await dieOf(t, 'mcp-server-dies');
  assert.match(firstScreen, /McpError: MCP error -32000: Connection closed/);
  assert.match(firstScreen, /The MCP server node mcp-dying-server\.mjs ended with exit code 7/);
  assert.match(JSON.stringify(account.verdict?.evidence), /the station list is corrupt/);
});

test('MCP: EPIPE on the way to a server that has gone', { skip }, async (t) => {
  const { firstScreen } = await dieOf(t, 'epipe');
  assert.match(firstScreen, /write EPIPE/);
  assert.match(firstScreen, /The MCP server node mcp-dying-server\.mjs ended with exit code 7/);
});
