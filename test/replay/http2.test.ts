/** An HTTP/2 program, recorded with the shipped package and replayed after its server is gone. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findNode } from '../support/agents/agent-preload.ts';
import { cleanEnvironment, runCli } from '../support/agents/recorded-deaths.ts';
import { preload } from '../support/victims/run-victim.ts';

const program = 'http2-program.mjs';
const node = findNode(24) ?? '';
const skip = node ? false : 'Node 24 is not installed (npm ci --prefix test/nodes)';
let dir = '';

before(() => {
  dir = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
  copyFileSync(fileURLToPath(new URL(program, import.meta.url)), join(dir, program));
});
after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));

/** Records the program. The server has been closed when this returns. */
async function record(name: string, captureHttp: string): Promise<{ bundle: string; address: string }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('{"days":[]}'));
  });
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = cleanEnvironment(dir, {
    API_URL: `http://${address}`,
    AGENTDUMP_DIR: join(dir, name),
    AGENTDUMP_HEAP: 'off',
    AGENTDUMP_CAPTURE_HTTP: captureHttp,
  });
  await once(spawn(node, ['--require', preload, program], { cwd: dir, env, stdio: 'ignore' }), 'exit');
  server.close();
  for (const socket of sockets) socket.destroy();
  const [bundle = assert.fail('no bundle')] = readdirSync(join(dir, name)).filter((one) =>
    one.endsWith('.agentdump'),
  );
  return { bundle: join(dir, name, bundle), address };
}

test('a server of HTTP/2 that the recording cannot answer for stops the replay', { skip }, async () => {
  const { bundle, address } = await record('metadata', 'metadata');
  const { code, stdout, stderr } = await runCli(['replay', bundle, '--', node, program], dir);
  assert.match(stdout, /^DIVERGED/, stderr);
  assert.ok(stdout.includes(address), stdout);
  assert.equal(code, 1);
});

test('a death of what came by HTTP/2 is reproduced with the server gone', { skip }, async () => {
  const { bundle } = await record('content', 'content');
  const { code, stdout, stderr } = await runCli(
    ['replay', bundle, '--expect', 'same', '--', node, program],
    dir,
  );
  assert.match(stdout, /^REPRODUCED: the same death[\s\S]*answered +1 of 1 other recorded request/, stderr);
  assert.equal(code, 0);
});
