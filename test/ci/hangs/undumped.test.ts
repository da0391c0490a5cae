/** A process that can't be dumped: the run says why, as the report has no bundle of it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { dumpTree } from '../../../src/ci/watch/dump-tree.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';

test('why a process of a run that hung left no bundle is returned', async (context) => {
  const folder = temporaryFolder(context);
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  context.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const pid = child.pid as number;
  const stop = { why: 'hang', afterMs: 1000, at: new Date().toISOString() } as const;
  const tree = [{ pid, parentPid: process.pid, isNode: true }];
  const failures = await dumpTree({ tree, folder, dir: folder, stop, limitMs: 5_000 });
  assert.equal(failures.length, 1);
  assert.match(failures[0] ?? '', new RegExp(`^process ${pid} left no bundle: \\S`));
});
