/**
 * `node --watch-path` restarts a program at each change of a file below a folder. So with the preload nothing is written there, and the
 * bundles are found from where the program was started nevertheless.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { nodesInTurn, type TestNode } from '../../support/run/test-nodes.ts';
import { preload, root, temporaryFolder } from '../../support/victims/run-victim.ts';

/** Prints a line when the flight recorder has begun. */
const serving = `
  const { existsSync, readdirSync } = require('node:fs');
  const dumps = process.env.XDG_STATE_HOME + '/agentdump';
  setInterval(() => {
    const names = existsSync(dumps) ? readdirSync(dumps, { recursive: true }) : [];
    if (names.some((name) => String(name).includes('journal'))) console.log('recorded');
  }, 100);`;
const throwing = `setTimeout(() => { throw new Error('own death'); }, 100);`;

for (const node of nodesInTurn) {
  test(`${node.name}: a program that goes on`, async (t) => {
    const app = newApp(t, serving);
    await watchUntil(node, app, /recorded/);
    assert.deepEqual(readdirSync(app), ['app.js']);
  });

  test(`${node.name}: a program that dies`, async (t) => {
    const app = newApp(t, throwing);
    await watchUntil(node, app, /agentdump: uncaught-exception: \S+.*\n/);
    assert.deepEqual(readdirSync(app), ['app.js']);
    const command = [join(root, 'bin', 'agentdump.js'), 'analyze', 'latest'];
    const { stdout, stderr } = spawnSync(node.path, command, {
      cwd: app,
      env: environmentOf(app),
      encoding: 'utf8',
    });
    assert.match(stdout, /Error: own death/, stderr);
  });

  test(`${node.name}: a watcher that npm runs`, async (t) => {
    const app = newApp(t, serving);
    const dev = `${JSON.stringify(node.path)} --watch-path=. app.js`;
    writeFileSync(join(app, 'package.json'), JSON.stringify({ scripts: { dev } }));
    await watchUntil(node, app, /recorded/, ['npm', 'run', 'dev']);
    assert.deepEqual(readdirSync(app), ['app.js', 'package.json']);
  });
}

function newApp(t: TestContext, source: string): string {
  const app = join(temporaryFolder(t), 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'app.js'), source);
  return app;
}

const environmentOf = (app: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  XDG_STATE_HOME: join(app, '..', 'state'),
});

/** Ends when both the watcher and the program have ended. */
async function watchUntil(
  node: TestNode,
  app: string,
  sign: RegExp,
  [file, ...words] = [node.path, '--watch-path=.', 'app.js'],
): Promise<void> {
  const child = spawn(file as string, words, {
    cwd: app,
    env: { ...environmentOf(app), NODE_OPTIONS: `--require ${preload}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A shell that npm starts passes no signal on.
    detached: true,
  });
  const group = -(child.pid ?? 0);
  let output = '';
  let isSent = false;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (sign.test(output) && !isSent) process.kill(group, 'SIGTERM');
      isSent ||= sign.test(output);
    });
  await new Promise((resolve) => child.on('close', resolve));
  assert.match(output, sign);
}
