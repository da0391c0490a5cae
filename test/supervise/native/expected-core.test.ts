/** A core that exists only because we asked for it: taken into a private folder, and removed later if it is the right one. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import {
  noteExpectedCore,
  removeExpectedCore,
  takeCore,
} from '../../../src/supervise/native/expected-core.ts';
import { makeCore, noCores, nodes } from '../../support/cores/core-victims.ts';

const root = mkdtempSync(join(tmpdir(), 'agentdump-expected-'));
after(() => rmSync(root, { recursive: true }));
let count = 0;
function newFolder(): string {
  const folder = join(root, String(count++));
  mkdirSync(folder);
  return folder;
}

test('taken: in the folder, for its owner alone; from another file system it stays', () => {
  const folder = newFolder();
  const core = join(newFolder(), 'core');
  writeFileSync(core, 'memory');
  chmodSync(core, 0o644);
  const taken = takeCore(folder, core);
  assert.equal(dirname(taken), folder);
  assert.equal(statSync(taken).mode & 0o777, 0o600);
  assert.equal(existsSync(core), false);
  const shared = `/dev/shm/agentdump-test-core-${process.pid}`;
  writeFileSync(shared, 'memory');
  try {
    const isOther = statSync(shared).dev !== statSync(folder).dev;
    if (isOther) assert.equal(takeCore(folder, shared), shared);
  } finally {
    rmSync(shared, { force: true });
  }
});

test('removed: only that of the process that was noted', { skip: noCores }, () => {
  const death = makeCore(nodes[0]?.path ?? '', ['-e', 'console.log(process.pid); process.abort()']);
  try {
    const pid = Number(death.stdout);
    const note = { cwd: dirname(death.core), executable: 'node', startedAtMs: 0 };
    const other = newFolder();
    noteExpectedCore(other, { ...note, pid: pid + 1 });
    assert.equal(removeExpectedCore(other), false);
    assert.equal(existsSync(death.core), true);
    const folder = newFolder();
    noteExpectedCore(folder, { ...note, pid });
    assert.equal(removeExpectedCore(folder), true);
    assert.equal(existsSync(death.core), false);
    assert.equal(removeExpectedCore(folder), false);
  } finally {
    death.remove();
  }
});

test('no note, a torn one, a file that is no core', () => {
  const folder = newFolder();
  assert.equal(removeExpectedCore(folder), false);
  writeFileSync(join(folder, 'core.expected'), '{"pid":');
  assert.equal(removeExpectedCore(folder), false);
  const cwd = newFolder();
  writeFileSync(join(cwd, 'core'), 'an apple');
  const whole = newFolder();
  noteExpectedCore(whole, { pid: 1, cwd, executable: 'node', startedAtMs: 0 });
  assert.equal(removeExpectedCore(whole), false);
  assert.equal(existsSync(join(cwd, 'core')), true);
});
