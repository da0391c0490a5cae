/**
 * Whether the memory that the preload uses for an agent stays constant: an agent of very many model calls, with and without
 * the preload, and the size of its live heap as the calls go by. CALLS: how many; NODES: on which Nodes, separated by commas.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNodes, preload } from '../../support/victims/run-victim.ts';

const calls = Number(process.env['CALLS'] ?? 50_000);
const nodes = (process.env['NODES'] ?? '24').split(',');
const marks = 10;
const client = fileURLToPath(new URL('agent-memory-client.mjs', import.meta.url));

interface Mark {
  calls: number;
  heapUsed: number;
  rss: number;
}

/** Each reply has its own id and text, and every third one asks for a tool. */
async function startServer() {
  let count = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const id = count++;
    if (JSON.parse(body).stream) stream(response, id);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(replyOf(id)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function replyOf(id: number): object {
  const call = {
    id: `call_${id}`,
    type: 'function',
    function: { name: 'get_weather', arguments: `{"n":${id}}` },
  };
  const message = { role: 'assistant', content: `answer ${id}`, ...(id % 3 === 0 && { tool_calls: [call] }) };
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  return { id: `reply-${id}`, model: 'm', choices: [{ index: 0, finish_reason: 'stop', message }], usage };
}

function stream(response: ServerResponse, id: number): void {
  response.setHeader('content-type', 'text/event-stream');
  for (let n = 0; n < 5; n++) {
    const choices = [{ index: 0, delta: { content: `word-${id}-${n} ` } }];
    response.write(`data: ${JSON.stringify({ id: `reply-${id}`, model: 'm', choices })}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

async function run(node: string, url: string, dir: string, flags: string[]): Promise<Mark[]> {
  const child = spawn(node, ['--expose-gc', ...flags, client, url, String(calls), String(marks)], {
    env: { PATH: '', HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the agent ended with ${code}`);
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Mark);
}

const mb = (bytes = Number.NaN): string => (bytes / 1e6).toFixed(1).padStart(8);

const server = await startServer();
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
for (const { name, path } of findNodes().filter((one) => nodes.some((node) => one.name === `Node ${node}`))) {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
  const bare = await run(path, url, dir, []);
  const watched = await run(path, url, dir, ['--require', preload]);
  console.log(
    `${name}, MB after so many model calls: alive in the heap, resident; without the preload, with it`,
  );
  for (const [n, mark] of watched.entries()) {
    const other = bare[n];
    const heaps = `${mb(other?.heapUsed)} ${mb(mark.heapUsed)}`;
    console.log(`${String(mark.calls).padStart(8)}   ${heaps}   ${mb(other?.rss)} ${mb(mark.rss)}`);
  }
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
}
server.close().closeAllConnections();
