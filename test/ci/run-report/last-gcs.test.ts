/** What V8 prints about its last collections, on the Nodes of the run, and text that only resembles it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { readLastGcs } from '../../../src/testing/last-gcs.ts';
import { majorsInTurn, nodeOf, testMajors } from '../../support/run/test-nodes.ts';

for (const major of majorsInTurn(...testMajors))
  test(`of a heap that is full, Node ${major}`, () => {
    const filled = 'const kept = []; for (;;) kept.push(new Array(1_000).fill(kept.length));';
    const { stderr } = spawnSync(nodeOf(major), ['--max-old-space-size=20', '-e', filled]);
    const lines = readLastGcs(stderr) ?? assert.fail(stderr.toString());
    assert.ok(lines.length > 0, stderr.toString());
    for (const line of lines) assert.match(line, /^(?:Scavenge|Mark-Compact) .*MB$/);
  });

test('nothing of other output', () => {
  assert.equal(
    readLastGcs(Buffer.from('[1:0x2] 384 ms: Scavenge 83.3 (103.2) -> 81.3 (117.2) MB, 8.69 ms')),
    undefined,
  );
  assert.equal(readLastGcs(Buffer.alloc(0)), undefined);
});

test('the heading alone, and a megabyte behind it', () => {
  const heading = '\n<--- Last few GCs --->\n\n';
  assert.deepEqual(readLastGcs(Buffer.from(heading)), []);
  assert.deepEqual(readLastGcs(Buffer.from(heading + 'Scavenge 1.1 ('.repeat(70_000))), []);
});
