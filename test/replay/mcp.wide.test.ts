/** An MCP server over HTTP whose answers were recorded: its tools are answered in a replay, after the server is gone. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { whyNoAgents } from '../support/agents/real-agents.ts';
import { agents, cleanEnvironment, node, runCli } from '../support/agents/recorded-deaths.ts';
import { preload } from '../support/victims/run-victim.ts';

/** Answers with event streams; the stream for the server's own messages stays open. */
async function startMcpServer() {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    },
    'tools/call': { content: [{ type: 'text', text: '{"days":[]}' }] },
  };
  const server = createServer(async (request, response) => {
    const { id, method = '' } = request.method === 'POST' ? JSON.parse(await text(request)) : {};
    if (request.method === 'POST' && id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 'session-1' });
    response.flushHeaders();
    if (id === undefined) return;
    response.end(
      `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n\n`,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test('a death of what an MCP tool returned is reproduced with its server gone', {
  skip: whyNoAgents(),
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  const server = await startMcpServer();
  const env = cleanEnvironment(dir, {
    MCP_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    AGENTDUMP_CAPTURE_HTTP: 'content',
  });
  const program = join(agents, 'mcp', 'mcp-http-dies.mjs');
  await once(spawn(node.path, ['--require', preload, program], { cwd: dir, env, stdio: 'ignore' }), 'exit');
  server.closeAllConnections();
  server.close();
  const [bundle = assert.fail('no bundle')] = readdirSync(join(dir, 'dumps')).filter((one) =>
    one.endsWith('.agentdump'),
  );
  const { stdout, stderr } = await runCli(
    ['replay', join(dir, 'dumps', bundle), '--', node.path, program],
    dir,
  );
  assert.match(stdout, /^REPRODUCED[\s\S]*answered +4 of 4 other recorded requests/, stderr);
});
