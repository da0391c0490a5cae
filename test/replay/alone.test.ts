/** A replay contacts no server that is not in the recording, in any way, and leaves no process behind when it is killed. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inOwnNetwork } from '../../src/replay/answers/own-network.ts';
import { cleanEnvironment, cli, runCli } from '../support/agents/recorded-deaths.ts';
import { onlyWide } from '../support/run/test-nodes.ts';
import { preload } from '../support/victims/run-victim.ts';

let dir = '';
let bundle = '';
const program = () => join(dir, 'program.mjs');

before(() => {
  dir = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
  writeFileSync(program(), "throw new Error('the recorded death');\n");
  const env = cleanEnvironment(dir, { AGENTDUMP_DIR: join(dir, 'dumps'), AGENTDUMP_HEAP: 'off' });
  spawnSync(process.execPath, ['--require', preload, program()], { env, cwd: dir });
  const [name = assert.fail('no bundle')] = readdirSync(join(dir, 'dumps')).filter((one) =>
    one.endsWith('.agentdump'),
  );
  bundle = join(dir, 'dumps', name);
});
after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));

function replay(text: string, words: string[] = []) {
  writeFileSync(program(), text);
  return runCli(['replay', bundle, ...words, '--', process.execPath, program()], dir);
}

/** A datagram server outside of the program, and the messages that it receives. */
async function listenForDatagrams() {
  const socket = createSocket('udp4');
  const heard: string[] = [];
  socket.on('message', (message) => heard.push(String(message)));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { heard, port: socket.address().port, socket };
}

test('a datagram to a server that nobody knows ends the replay and is not sent', {
  skip: onlyWide,
}, async () => {
  const { heard, port, socket } = await listenForDatagrams();
  for (const send of [
    `socket.send('words', ${port}, '127.0.0.1');`,
    `socket.send(Buffer.from('words'), 0, 5, ${port}, '127.0.0.1');`,
    `socket.connect(${port}, '127.0.0.1', () => socket.send('words'));`,
  ]) {
    const text = `import { createSocket } from 'node:dgram';\nconst socket = createSocket('udp4');\n${send}`;
    const { stdout } = await replay(text);
    assert.match(stdout, /^DIVERGED/);
    assert.match(stdout, new RegExp(`a connection to 127\\.0\\.0\\.1:${port} was stopped`));
  }
  assert.deepEqual(heard, []);
  const text = `import { createSocket } from 'node:dgram';
    const socket = createSocket('udp4');
    socket.send('words', ${port}, '127.0.0.1', () => socket.close());`;
  const live = await replay(text, ['--live', '127.0.0.1']);
  assert.match(live.stdout, /^NO DEATH/, live.stderr);
  while (heard.length === 0) await sleep(10);
  socket.close();
});

test("datagrams and connections among the program's own are made", async () => {
  const text = `
    import { createSocket } from 'node:dgram';
    import { once } from 'node:events';
    import { connect, createServer } from 'node:net';
    const server = createSocket('udp4');
    server.on('message', (message, { port, address }) => server.send('answer to ' + message, port, address));
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const client = createSocket('udp4');
    client.send('question', server.address().port, '127.0.0.1');
    const [message] = await once(client, 'message');
    if (String(message) !== 'answer to question') throw new Error(String(message));
    const own = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
    await once(own, 'listening');
    const [chunk] = await once(connect(own.address().port, '127.0.0.1'), 'data');
    if (String(chunk) !== 'hello') throw new Error(String(chunk));
    process.exit(0);`;
  const { stdout, stderr } = await replay(text);
  assert.match(stdout, /^NO DEATH/, stderr);
});

test('a child that is no Node of the replay reaches nobody', async (context) => {
  if (!inOwnNetwork([process.execPath])) return context.skip('the kernel grants no network of its own here');
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const ask = `const s = require('node:net').connect(${port}, '127.0.0.1'); s.on('error', (e) => console.log(e.code)); s.on('connect', () => console.log('connected'));`;
  const text = `
    import { spawnSync } from 'node:child_process';
    const { stdout } = spawnSync(process.execPath, ['-e', ${JSON.stringify(ask)}], { env: {}, encoding: 'utf8' });
    process.stderr.write('the child says ' + stdout);`;
  const { stdout, stderr } = await replay(text);
  assert.match(stdout, /^NO DEATH/, stderr);
  assert.match(stderr, /the child says ECONNREFUSED/);
  assert.equal(connections, 0);
  server.close();
});

test('a command that is not there is named', { skip: onlyWide }, async () => {
  for (const name of ['no-such-program', './no-such-program']) {
    const { code, stderr } = await runCli(['replay', bundle, '--', name], dir);
    assert.match(stderr, /no-such-program.*(command not found|could not be started)/);
    assert.notEqual(code, 0);
  }
});

const isAlive = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

test('when the replay is killed, its program and what that has started go with it', {
  timeout: 120_000,
}, async (context) => {
  const told = join(dir, 'pids');
  writeFileSync(
    program(),
    `import { spawn } from 'node:child_process';
    import { renameSync, writeFileSync } from 'node:fs';
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    writeFileSync(${JSON.stringify(`${told}.draft`)}, process.pid + ' ' + child.pid);
    renameSync(${JSON.stringify(`${told}.draft`)}, ${JSON.stringify(told)});
    for (;;);`,
  );
  const words = [cli, 'replay', bundle, '--', process.execPath, program()];
  const replayer = spawn(process.execPath, words, { cwd: dir, env: cleanEnvironment(dir), stdio: 'ignore' });
  while (!existsSync(told)) await sleep(20);
  const pids = readFileSync(told, 'utf8').split(' ').map(Number);
  context.after(() => {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  assert.deepEqual(pids.map(isAlive), [true, true]);
  replayer.kill('SIGKILL');
  while (pids.some(isAlive)) await sleep(20);
});
