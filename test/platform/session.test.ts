/** Whether a session's process lives, if nothing identifies the boot or the process's start. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { classifySession } from '../../src/journal/read/session.ts';
import { describeSession } from '../../src/journal/write/session.ts';
import { platform } from '../../src/platform/index.ts';

const began = platform.startedAtMs(process.pid) ?? 0;

/** A session of this process, as a system without these facts would have written it. */
function sessionOpened(atMs: number) {
  const facts = describeSession({
    id: '0123456789abcdef',
    program: 'p',
    command: ['p'],
    heartbeatMs: 0,
    cwd: '/srv',
  });
  const { pid, parentPid, hostname } = facts.process;
  return { ...facts, process: { pid, parentPid, hostname }, startedAt: new Date(atMs).toISOString() };
}

test('a pid alone: the process, a later one of the same number, one from before the machine was started', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-session-'));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.equal(classifySession(folder, sessionOpened(began)).fate, 'alive');
  const reused = classifySession(folder, sessionOpened(began - 10_000));
  assert.equal(reused.fate, 'died');
  assert.ok(reused.pidReused);
  const rebooted = classifySession(folder, sessionOpened(platform.bootedAtMs() - 60_000));
  assert.equal(rebooted.fate, 'died');
  assert.ok(rebooted.rebooted);
});
