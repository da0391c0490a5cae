// Floods the recorder with one kind of event: node flood.mjs frames|body|calls|tools|mcp|output <count>; MODEL_URL is
// asked. In the end it says its highest resident set and the bytes below AGENTDUMP_DIR, and dies of an error.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { agent } from '../../../dist/index.js';

const [what, count] = [process.argv[2], Number(process.argv[3])];
const url = `${process.env.MODEL_URL}/v1/chat/completions`;
const ask = (stream) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: what }] }),
  });
const drain = async (stream) => {
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.length;
  return bytes;
};
/** An MCP server: each request gets a result with its id. */
const server = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const result = { content: [{ type: 'text', text: 'word '.repeat(20) }] };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(line).id, result }) + '\\n');
})`;
const print = `const line = 'x'.repeat(999) + '\\n';
  const step = (n) => { while (n-- > 0) if (!process.stdout.write(line) || n % 64 === 0) return setImmediate(step, n); };
  step(${count});`;

const floods = {
  frames: async () => drain((await ask(true)).body),
  body: async () => drain((await ask(false)).body),
  async calls() {
    for (let n = 0; n < count; n++) await (await ask(false)).text();
  },
  async tools() {
    for (let n = 0; n < count; n++) {
      await agent.tool('look', { n, text: 'word '.repeat(100) }, async () => ({ found: n }));
      if (n % 1000 === 0) await new Promise(setImmediate);
    }
  },
  async mcp() {
    const child = spawn(process.execPath, ['-e', server], { stdio: ['pipe', 'pipe', 'inherit'] });
    // As the SDK does: what is written in the tick of the spawn is not seen.
    await once(child, 'spawn');
    const lines = createInterface({ input: child.stdout });
    let got = 0;
    lines.on('line', () => got++);
    for (let id = 0; id < count; id++) {
      const method = id === 0 ? 'initialize' : 'tools/call';
      const params = id === 0 ? {} : { name: 'look', arguments: { text: 'word '.repeat(100) } };
      const message = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      if (!child.stdin.write(`${message}\n`)) await once(child.stdin, 'drain');
    }
    child.stdin.end();
    await once(lines, 'close');
    return got;
  },
  async output() {
    const child = spawn(process.execPath, ['-e', print], { stdio: ['ignore', 'pipe', 'inherit'] });
    return drain(child.stdout);
  },
};

const bytesBelow = (dir) => {
  try {
    return readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  } catch {
    return 0;
  }
};

const got = await floods[what]();
const rssMb = Math.round(process.resourceUsage().maxRSS / 1024);
const diskMb = bytesBelow(process.env.AGENTDUMP_DIR) / 1e6;
console.log(JSON.stringify({ got, rssMb, diskMb, ms: Math.round(performance.now()) }));
throw new Error('the flood is over');
