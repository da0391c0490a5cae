/**
 * Failures in Node's own code, on each Node: the account says where the program started the operation, although the error's
 * own stack has none of its frames.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../../../src/analysis/analyze.ts';
import { findBundle } from '../../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../../src/bundle/read/reader.ts';
import type { Account } from '../../../../src/model/account.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';
import { preload, temporaryFolder } from '../../../support/victims/run-victim.ts';

interface Beginning {
  name: string;
  /** The line that ends with `// here` starts the operation. */
  program: string;
  what: RegExp;
}

const beginnings: readonly Beginning[] = [
  {
    name: 'a connection that is refused',
    program: `const net = require('node:net');
function connect() {
  net.connect(1, '127.0.0.1'); // here
}
connect();`,
    what: /^connection to 127\.0\.0\.1:1$/,
  },
  {
    name: 'a connection whose error a client hands on',
    program: `const { connect } = require('client');
async function load() {
  await connect(1); // here
}
load();`,
    what: /^connection to 127\.0\.0\.1:1$/,
  },
  {
    name: 'a connection whose error a client puts into its own words',
    program: `const { connectOrSay } = require('client');
async function load() {
  await connectOrSay(1); // here
}
load();`,
    what: /^connection to 127\.0\.0\.1:1$/,
  },
  {
    name: 'a fetch that is refused',
    program: `async function load(port) {
  const reply = await fetch('http://127.0.0.1:' + port + '/a?secret=1'); // here
  return reply.text();
}
const closed = require('node:net').createServer().listen(0, '127.0.0.1', () => {
  const { port } = closed.address();
  closed.close(() => load(port));
});`,
    what: /^request GET 127\.0\.0\.1:\d+\/a$/,
  },
  {
    name: 'a request of node:http that is refused',
    program: `const http = require('node:http');
function ask() {
  http.get('http://127.0.0.1:1/b?secret=1'); // here
}
setTimeout(ask, 10);`,
    what: /^(?:request GET 127\.0\.0\.1:1\/b|connection to 127\.0\.0\.1:1)$/,
  },
  {
    name: 'the input of a child that closed it',
    program: `const { spawn } = require('node:child_process');
function start() {
  return spawn('sh', ['-c', 'exec 0<&-; exec sleep 30']); // here
}
const child = start();
process.on('exit', () => child.kill());
setInterval(() => child.stdin.write('x'), 20);`,
    what: /^stdin of child process \d+$/,
  },
];

/** As clients of databases are: the program is not on the stack when the error is made, and not always when it is begun. */
const client = `const net = require('node:net');
const begin = (port, reject) => net.connect(port, '127.0.0.1').on('error', reject);
exports.connect = (port) => new Promise((_, reject) => begin(port, reject));
exports.connectOrSay = (port) => new Promise((_, reject) =>
  begin(port, ({ message }) => setTimeout(() => reject(new Error('no connection: ' + message)), 10)));
exports.connectLater = (port) => new Promise((_, reject) => setImmediate(() => begin(port, reject)));
exports.connectOften = (port) => new Promise((_, reject) => {
  let left = 3;
  const again = () => (left-- ? begin(port, () => setTimeout(again, 10)) : reject(new Error('gave up')));
  setImmediate(again);
});`;

function die(t: TestContext, node: string, program: string): string {
  const dir = temporaryFolder(t);
  const packages = join(dir, 'node_modules', 'client');
  mkdirSync(packages, { recursive: true });
  writeFileSync(join(packages, 'index.js'), client);
  writeFileSync(join(dir, 'victim.cjs'), program);
  const { status } = spawnSync(node, ['--require', preload, 'victim.cjs'], {
    cwd: dir,
    env: { PATH: process.env['PATH'], HOME: dir },
  });
  assert.equal(status, 1);
  return findBundle('latest', join(dir, '.agentdump'));
}

async function accountOf(t: TestContext, path: string): Promise<Account> {
  const bundle = openBundle(path);
  t.after(() => bundle.close());
  return analyzeBundle(bundle);
}

for (const node of nodesInTurn) {
  for (const { name, program, what } of beginnings)
    test(`begun: ${name}, ${node.name}`, async (t) => {
      const { error } = await accountOf(t, die(t, node.path, program));
      const own = error?.begun?.frames.find(({ inApp }) => inApp);
      assert.match(error?.begun?.what ?? 'nothing', what);
      assert.equal(own?.line, program.split('\n').findIndex((line) => line.endsWith('// here')) + 1);
    });

  test(`begun: a connection that a package began later, ${node.name}`, async (t) => {
    const program = `require('client').connectLater(1);`;
    const { verdict, error } = await accountOf(t, die(t, node.path, program));
    assert.equal(error?.begun?.what, 'connection to 127.0.0.1:1');
    assert.match(verdict?.place?.file ?? '', /node_modules.client.index\.js$/);
    const fact = verdict?.evidence.find(({ fact: text }) => text.startsWith('What failed is'))?.fact;
    assert.match(fact ?? '', /no frame of the program is on the recorded stack\.$/);
  });

  test(`begun: connections that failed before a client gave up, ${node.name}`, async (t) => {
    const program = `require('client').connectOften(1);`;
    const { happenings, verdict, error } = await accountOf(t, die(t, node.path, program));
    assert.equal(error?.begun, undefined);
    const [failed, other] = happenings?.connections ?? [];
    assert.deepEqual(
      [failed?.what, failed?.message, failed?.times, failed?.by, other],
      ['connection to 127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1', 3, 'client', undefined],
    );
    assert.match(
      verdict?.beforeEnd?.map(({ fact }) => fact).join('\n') ?? '',
      /^3 times a connection to 127\.0\.0\.1:1 of client failed \(connect ECONNREFUSED 127\.0\.0\.1:1\); the last was begun \d+ ms before the end\.$/m,
    );
  });
}
