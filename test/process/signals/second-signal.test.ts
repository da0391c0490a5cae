/**
 * A second signal that comes while the bundle of the first one is written is treated as if writing had taken no time: by then
 * the program has handled the first, and may listen no longer.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { bundlesIn, root, untilHeard } from '../../support/victims/run-victim.ts';
import { startProgram } from './start-program.ts';

/** What the program says of its context is asked for in the middle of the writing; it sends the second signal there, by the shell. */
const helpers = `
const { writeSync } = require('node:fs');
const { agent } = require(${JSON.stringify(join(root, 'dist', 'index.js'))});
let isFirst = true;
agent.provide('queue', () => {
  if (isFirst) require('node:child_process').execSync('kill -TERM ' + process.pid);
  isFirst = false;
  return { open: 1 };
});
const say = (text) => writeSync(1, text + '\\n');
setInterval(() => {}, 1000);
const leave = () => setTimeout(() => process.exit(0), 3000);
`;

async function endOf(
  t: TestContext,
  node: string,
  program: string,
): Promise<{ end: string; bundles: string[] }> {
  const { child, dir, end } = startProgram(t, node, helpers + program);
  await untilHeard(child.pid, 'SIGTERM');
  child.kill('SIGTERM');
  return { end: (await end).replaceAll('\n', ' '), bundles: bundlesIn(dir) };
}

for (const { name, path: node } of nodesInTurn)
  describe(name, () => {
    test('kills a program that has handled one, and leaves a bundle', async (t) => {
      const { end, bundles } = await endOf(
        t,
        node,
        `process.once('SIGTERM', () => { say('drains'); leave(); });`,
      );
      assert.equal(end, 'SIGTERM drains');
      assert.equal(bundles.length, 2, bundles.join(' '));
    });

    test('kills it though its listener blocks', async (t) => {
      const block = 'const end = Date.now() + 20_000; while (Date.now() < end);';
      const { end } = await endOf(t, node, `process.once('SIGTERM', () => { say('drains'); ${block} });`);
      assert.equal(end, 'SIGTERM drains');
    });

    test('is received by one that still listens', async (t) => {
      const { end } = await endOf(t, node, `process.on('SIGTERM', () => { say('hears'); leave(); });`);
      assert.equal(end, '0 hears hears');
    });

    test('is received by the listener that came instead', async (t) => {
      const next = `process.on('SIGTERM', () => say('hears'))`;
      const { end } = await endOf(
        t,
        node,
        `process.once('SIGTERM', () => { say('drains'); ${next}; leave(); });`,
      );
      assert.equal(end, '0 drains hears');
    });
  });
