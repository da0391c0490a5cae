/**
 * Floods of each kind of event, each in its own process: compared with the same program without the preload, memory grows by
 * a bounded amount, the disk use stays within the journal's limit, and what was lost is reported.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment, node, runCli } from '../../support/agents/recorded-deaths.ts';
import { bundlesIn, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const program = fileURLToPath(new URL('../programs/flood.mjs', import.meta.url));
const million = 1_000_000;

/** The prompt selects the kind of reply; `count` is the number of frames or the size of the body. */
async function startServer(t: TestContext, count: number): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { stream, messages } = JSON.parse(body);
    if (stream) await sendFrames(response, count);
    else await sendBody(response, messages[0].content === 'body' ? count : 100);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function sendFrames(response: ServerResponse, count: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let n = 0; n < count; n++) {
    const chunk = {
      id: 'r1',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: `w${n} ` } }],
    };
    if (!response.write(`data: ${JSON.stringify(chunk)}\n\n`)) await once(response, 'drain');
  }
  response.end('data: [DONE]\n\n');
}

async function sendBody(response: ServerResponse, chars: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(
    '{"id":"r1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"',
  );
  const piece = 'word '.repeat(20_000);
  for (let left = chars; left > 0; left -= piece.length) {
    if (!response.write(piece.slice(0, left))) await once(response, 'drain');
    await nextTurn();
  }
  response.end('"},"finish_reason":"stop"}]}');
}

interface Told {
  rssMb: number;
  diskMb: number;
  got?: number;
  ms: number;
}

function run(dir: string, flags: string[], words: string[], url: string): Promise<Told> {
  const env = cleanEnvironment(dir, { MODEL_URL: url, AGENTDUMP_HEAP: 'off' });
  return new Promise((resolve, reject) => {
    execFile(node.path, [...flags, program, ...words], { cwd: dir, env }, (_error, stdout, stderr) => {
      if (stdout.startsWith('{')) resolve(JSON.parse(stdout));
      else reject(new Error(stderr));
    });
  });
}

/**
 * `lost`: what the bundle reports as missing or cut. `growsMb`: the limit for the additional memory, including V8's garbage.
 */
const floods = [
  { what: 'frames', count: 100_000, growsMb: 150, lost: /\[cut: 688890 characters in all/ },
  {
    what: 'body',
    count: 100 * million,
    growsMb: 150,
    lost: /100000129 bytes: the reply was larger than the limit/,
  },
  { what: 'calls', count: 3000, growsMb: 200, lost: undefined },
  { what: 'tools', count: 100_000, growsMb: 350, lost: /agent events are no longer held/ },
  { what: 'mcp', count: 30_000, growsMb: 350, lost: /agent events are no longer held/ },
  { what: 'output', count: 100_000, growsMb: 100, lost: undefined },
];
/** The journal's limit, plus the other files. */
const mostDiskMb = 40;

for (const { what, count, growsMb, lost } of floods)
  test(`a flood of ${what}: bounded in memory and on the disk, and what is missing is named`, async (t) => {
    const dir = temporaryFolder(t);
    const url = await startServer(t, count);
    const words = [what, String(count)];
    const bare = await run(dir, [], words, url);
    const told = await run(dir, ['--require', preload], words, url);
    t.diagnostic(JSON.stringify({ bare, told }));
    assert.equal(told.got, bare.got);
    assert.ok(told.rssMb - bare.rssMb < growsMb, `${told.rssMb} MB beside ${bare.rssMb} MB`);
    assert.ok(told.diskMb < mostDiskMb, `${told.diskMb} MB on the disk`);
    const bundle = join(dir, 'dumps', bundlesIn(dir)[0] ?? assert.fail('no bundle'));
    const { stdout } = await runCli(['analyze', bundle, '--json'], dir);
    if (lost) assert.match(stdout, lost);
    assert.match(stdout, /the flood is over/);
  });
