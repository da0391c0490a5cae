/** What can't be heard is said, and only where it matters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sayUnheardTools } from '../../../src/analysis/verdict/additions/unheard-tools.ts';
import type { VerdictFacts } from '../../../src/analysis/verdict/facts.ts';
import type { Verdict, VerdictKind } from '../../../src/model/verdict.ts';

const verdictOf = (kind: VerdictKind): Verdict => ({
  kind,
  title: '',
  summary: '',
  confidence: 'certain',
  evidence: [],
  refutedBy: '',
  nextSteps: [],
});

function saidOf(kind: VerdictKind, names: string[], agent?: object): string {
  const inLockFile = { name: '@mastra/core', path: 'node_modules/@mastra/core', drift: 'not installed' };
  const account = {
    gaps: [],
    modules: { packages: [...names.map((name) => ({ name })), inLockFile], native: [] },
    ...(agent && { agent }),
  };
  const facts = { account } as unknown as VerdictFacts;
  const loaded = names.map((name) => ({ name }));
  return sayUnheardTools(verdictOf(kind), facts, loaded)
    .evidence.map(({ fact }) => fact)
    .join(' ');
}

const mcp = '@modelcontextprotocol/sdk';

test('a tool of an MCP server in the same process, and one of Mastra', () => {
  assert.match(
    saidOf('uncaught-exception', [mcp]),
    /^Whether a tool of an MCP server in this process was running is not known/,
  );
  assert.match(
    saidOf('event-loop-hang', ['@mastra/core']),
    /^Whether a tool of Mastra was running is not known/,
  );
});

test('nothing is said if the server was heard, if the tool is known, or if nothing was at work', () => {
  assert.equal(saidOf('uncaught-exception', [mcp], { runs: [], servers: [{ id: 'x1' }] }), '');
  assert.equal(
    saidOf('uncaught-exception', [mcp], { runs: [], diedIn: { toolId: 't1', from: 'context' } }),
    '',
  );
  assert.equal(saidOf('startup-failure', [mcp]), '');
  assert.equal(saidOf('terminated', ['@mastra/core']), '');
  assert.equal(saidOf('uncaught-exception', ['express']), '');
});
