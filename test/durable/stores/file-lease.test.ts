/**
 * Takings of one run of files that cross each other: however the file operations of several takers interleave, one of them
 * holds the run at the end, and the others are told so.
 */
import assert from 'node:assert/strict';
import fs, { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { FileLease } from '../../../src/durable/stores/file-lease.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-file-lease-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const freshFolder = () => {
  const path = join(folder, `run-${count++}`);
  fs.mkdirSync(path);
  return path;
};
const link = fs.linkSync;

/** Calls `between` when a taker has looked at the run and is about to take it, the first time. */
function cross(t: TestContext, between: () => void): void {
  const restore = () => {
    fs.linkSync = link;
    syncBuiltinESMExports();
  };
  fs.linkSync = (...paths) => {
    restore();
    between();
    link(...paths);
  };
  syncBuiltinESMExports();
  t.after(restore);
}

const passes = (path: string, times: number) => {
  for (let index = 0; index < times; index++) FileLease.take(path, 'r').release();
};

for (const before of [0, 1, 4])
  for (const meanwhile of [0, 1, 2, 5])
    test(`taken ${before} times, and ${meanwhile} times and once for good between a taker's look and its link`, (t) => {
      const path = freshFolder();
      passes(path, before);
      let holder: FileLease | undefined;
      cross(t, () => {
        passes(path, meanwhile);
        holder = FileLease.take(path, 'r');
      });
      assert.throws(() => FileLease.take(path, 'r'), { code: 'held' });
      assert.ok(holder?.isHeld);
      holder.verify();
      const leases = readdirSync(path).filter((name) => name.endsWith('.json'));
      assert.equal(leases.length, 1, leases.join());
      holder.release();
      FileLease.take(path, 'r').release();
    });

test('a run that was taken and released between the look and the link is taken', (t) => {
  const path = freshFolder();
  passes(path, 3);
  cross(t, () => passes(path, 3));
  const lease = FileLease.take(path, 'r');
  assert.ok(lease.isHeld);
  assert.throws(() => FileLease.take(path, 'r'), { code: 'held' });
  lease.release();
});
