/**
 * Ways in which real agents died of their tools, servers and questions, rebuilt with the libraries they died in (the reports
 * are named in test/agents/deaths.mjs): the program ends as it does without the preload, and the first screen names the
 * cause.
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

testDeath(
  'LangChain: what a tool throws ends the process',
  'tool-throws',
  undefined,
  ({ firstScreen, account }) => {
    assert.match(firstScreen, /TypeError: no station is near Oslo at .*deaths\.mjs/);
    assert.match(firstScreen, /The error was thrown by tool get_weather \(t1\)\./);
    assert.match(
      JSON.stringify(account.verdict?.evidence),
      /get_weather\(\{\\"city\\":\\"Oslo\\"\}\) failed/,
    );
  },
);

testDeath(
  'AI SDK: a tool leaves a promise behind, and its rejection ends the process',
  'floating-tool',
  (n) => (n ? { text: 'Snow.' } : { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] }),
  ({ firstScreen, account }) => {
    assert.match(firstScreen, /RangeError: the cache of Oslo is full/);
    assert.match(firstScreen, /The error (?:was thrown by|came from) tool get_weather \(\S+\)/);
    assert.match(
      JSON.stringify(account.verdict?.evidence),
      /worked for tool get_weather .* \(by its asynchronous context\)/,
    );
  },
);

testDeath(
  'LangGraph: the question to a person becomes an unhandled rejection',
  'interrupt',
  undefined,
  ({ firstLines, firstScreen }) => {
    assert.match(firstLines, /GraphInterrupt: \[ \{ "id"/);
    assert.match(
      firstScreen,
      /Step approve stopped to ask a person: "May I send the mail\?", and nothing caught/,
    );
  },
);

testDeath('MCP over HTTP: nobody listens at the address', 'mcp-http-gone', undefined, ({ firstScreen }) => {
  assert.match(firstScreen, /The MCP server at 127\.0\.0\.1:\d+ could not be reached: .*ECONNREFUSED/);
});

testDeath(
  'MCP: the server dies in a call, and -32000 ends its client',
  'mcp-server-dies',
  undefined,
  ({ firstScreen, account }) => {
    assert.match(firstScreen, /McpError: MCP error -32000: Connection closed/);
    assert.match(
      firstScreen,
      /Probable cause: the MCP server node mcp-dying-server\.mjs ended with exit code 7/,
    );
    assert.match(JSON.stringify(account.verdict?.evidence), /the station list is corrupt/);
  },
);

testDeath('MCP: EPIPE on the way to a server that has gone', 'epipe', undefined, ({ firstScreen }) => {
  assert.match(firstScreen, /write EPIPE/);
  assert.match(
    firstScreen,
    /Probable cause: the MCP server node mcp-dying-server\.mjs ended with exit code 7/,
  );
});

const isLeftBehind: Death['check'] = ({ firstScreen, account }) => {
  assert.match(firstScreen, /RangeError: the cache of Oslo is full/);
  assert.match(firstScreen, /The error came from work that tool get_weather \(\S+\) had left behind/);
  assert.equal(account.agent?.diedIn?.from, 'context');
};

testDeath(
  'OpenAI Agents: a tool that has returned leaves a promise behind, and its rejection ends the process',
  'floating-agents-tool',
  (n) =>
    n
      ? { text: 'Snow.' }
      : {
          toolCalls: [
            { name: 'get_weather', arguments: { city: 'Oslo' } },
            { name: 'get_tide', arguments: { city: 'Oslo' } },
          ],
        },
  isLeftBehind,
);

testDeath('LangGraph: the same, with another node at work', 'floating-graph-tool', undefined, isLeftBehind);
