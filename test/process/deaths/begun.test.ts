/**
 * Failures in Node's own code, on each Node: the account says where the program started the operation, although the error's
 * own stack has none of its frames.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { findBundle } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { preload, temporaryFolder } from '../../support/victims/run-victim.ts';

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
    what: /^connection$/,
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
    what: /^(?:request GET 127\.0\.0\.1:1\/b|connection)$/,
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

for (const node of nodesInTurn)
  for (const { name, program, what } of beginnings)
    test(`begun: ${name}, ${node.name}`, async (t) => {
      const dir = temporaryFolder(t);
      writeFileSync(join(dir, 'victim.cjs'), program);
      const { status } = spawnSync(node.path, ['--require', preload, 'victim.cjs'], {
        cwd: dir,
        env: { PATH: process.env['PATH'], HOME: dir },
      });
      assert.equal(status, 1);
      const bundle = openBundle(findBundle('latest', join(dir, '.agentdump')));
      t.after(() => bundle.close());
      const { error } = await analyzeBundle(bundle);
      const own = error?.begun?.frames.find(({ inApp }) => inApp);
      assert.match(error?.begun?.what ?? 'nothing', what);
      assert.equal(own?.line, program.split('\n').findIndex((line) => line.endsWith('// here')) + 1);
    });
