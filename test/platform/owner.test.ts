/** Whether the owner of a lock or a folder lives, asked by a process that can read more or less of /proc than the owner. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isAlive, ownerName } from '../../src/journal/write/owner.ts';
import { newId } from '../../src/journal/write/session-id.ts';
import { platform } from '../../src/platform/index.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';

const agentdump = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));

async function endedPid(): Promise<number> {
  const child = spawn('true', { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? assert.fail('not started');
}

describe('the owner of a mark', () => {
  const [boot, , ticks] = ownerName(process.pid).split(':');

  test('lives with all, or only with its pid, known', () => {
    for (const owner of [
      ownerName(process.pid),
      `undefined:${process.pid}:undefined`,
      `${boot}:${process.pid}:undefined`,
      `${ownerName(process.pid)}:3`,
    ])
      assert.ok(isAlive(owner), owner);
  });

  test('is dead if anything that both can read differs, or its pid is gone', {
    skip: ticks === 'undefined',
  }, async () => {
    for (const owner of [
      `${boot}:${process.pid}:1`,
      `another-boot:${process.pid}:${ticks}`,
      `undefined:${process.pid}:1`,
      `undefined:${await endedPid()}:undefined`,
      `${boot}:0:${ticks}`,
      `${boot}:x:${ticks}`,
      '',
    ])
      assert.ok(!isAlive(owner), owner);
  });

  test('without /proc keeps its private folder through a sweep, until it has ended', async (t) => {
    const dir = temporaryFolder(t);
    const owner = spawn('sleep', ['600'], { stdio: 'ignore' });
    t.after(() => owner.kill('SIGKILL'));
    const folder = join(platform.files.memoryFolders.find(existsSync) ?? tmpdir(), `agentdump-${newId()}`);
    mkdirSync(folder, { mode: 0o700 });
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    platform.files.makeMark(`undefined:${owner.pid}:undefined:`, join(folder, 'owner'));
    const sweep = (): void => {
      const { status, stderr } = spawnSync(process.execPath, [agentdump, 'sweep', '--dir', dir], {
        encoding: 'utf8',
      });
      assert.equal(status, 0, stderr);
    };
    sweep();
    assert.ok(existsSync(folder));
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    sweep();
    assert.ok(!existsSync(folder));
  });
});
