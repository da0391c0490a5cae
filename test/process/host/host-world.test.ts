/**
 * The host's world is not ours: a program that has replaced globals, methods of prototypes or functions of `process` dies as
 * it would have died, and its bundle is written. This is a sample; host-world.wide.test.ts has all of it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testNodes, usualNode } from '../../support/run/test-nodes.ts';
import { dieInItsWorld } from './host-world-runs.ts';

for (const what of [
  ['Array.prototype.sort', 'exits'],
  ['Map.prototype.get', 'throws'],
  ['String.prototype.slice', 'exits'],
  ['Promise.prototype.then', 'throws'],
  ['JSON.stringify', 'exits'],
  ['process', 'throws'],
  ['Error', 'throws'],
  ['Date.now', 'exits'],
  ['Symbol.for', 'throws'],
  ['RegExp.prototype.exec', 'throws', 'child'],
])
  test(what.join(' '), async (t) => {
    assert.equal(await dieInItsWorld(t, usualNode, what), 'written');
  });

for (const node of testNodes)
  test(`${node.name}: a frozen Error.stackTraceLimit of one frame`, async (t) => {
    assert.equal(await dieInItsWorld(t, node, ['Error.stackTraceLimit', 'frozen']), 'written');
  });

for (const node of testNodes)
  test(`${node.name}: a file system that exists in memory only does not get the bundle`, async (t) => {
    assert.equal(await dieInItsWorld(t, node, ['fs', 'mocked'], 'host/fs-mocked.cjs'), 'written');
  });
