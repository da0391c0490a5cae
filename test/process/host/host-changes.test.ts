/**
 * Programs that changed their world in other ways than by one stub (host-world.test.ts): prototypes with additional
 * properties, or parts that are frozen, null, or read by the program's own code. They die as they would have died, and leave
 * a bundle or one line that says why not.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodesInTurn, sampleOf } from '../../support/run/test-nodes.ts';
import { dieInItsWorld } from './host-world-runs.ts';

/** At the death Node loads modules to inflate our own code, and these read the program's prototypes. */
const mayRefuse = new Set([
  'a setter of Array.prototype[0]',
  'Object.prototype.writable and enumerable',
  'the iterator of arrays',
]);

/** By name in fixtures/programs/host/host-changed.cjs. The first of every three is in the quick run. */
const changes = [
  'Object.prototype.get',
  'Object.prototype.toJSON',
  'Error.stackTraceLimit 0',
  'a setter of Array.prototype[0]',
  'Object.prototype.writable and enumerable',
  'process.stdout and stderr that throw',
  'all synchronous functions of fs',
  'the functions of os',
  'the methods of console',
  'process.env a proxy that throws',
  'Error.prepareStackTrace read',
  'Error.stackTraceLimit read',
  'the iterator of arrays',
  'process.argv and execArgv null',
  'process frozen',
  'EventEmitter.prototype.emit',
  'a domain',
  'AbortSignal and EventTarget frozen',
  'a clock that says NaN',
];

for (const node of nodesInTurn)
  describe(node.name, { concurrency: 2 }, () => {
    for (const change of sampleOf(changes, 3))
      test(change, async (t) => {
        const end = await dieInItsWorld(t, node, [change], 'host/host-changed.cjs');
        if (!mayRefuse.has(change)) assert.equal(end, 'written');
      });
  });
