/** A bit for each node that is the target of more than one edge, compared with a count of the edges. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  findSharedTargets,
  sharedTargetBytes,
} from '../../../src/formats/heapsnapshot/sections/shared-targets.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

test("the bits are those of a count, for any number of nodes and whatever the edges' types", () => {
  const graph = fc.integer({ min: 1, max: 100 }).chain((nodes) =>
    fc.record({
      nodes: fc.constant(nodes),
      edges: fc.array(fc.record({ type: fc.nat(7), to: fc.nat(nodes - 1) }), { maxLength: 150 }),
    }),
  );
  fc.assert(
    fc.property(graph, ({ nodes, edges }) => {
      const packed = Uint32Array.from([...edges, { type: 0, to: 0 }], ({ type, to }) => (type << 29) | to);
      const isShared = new Uint8Array(sharedTargetBytes(nodes));
      findSharedTargets(packed, edges.length, nodes, isShared);
      for (let node = 0; node < 8 * isShared.length; node++) {
        const count = edges.filter(({ to }) => to === node).length;
        assert.equal((isShared[node >>> 3]! >>> (node & 7)) & 1, count > 1 ? 1 : 0, `node ${node}`);
      }
    }),
    { numRuns: fuzzRuns(200) },
  );
});
