/** Something always survives: SIGKILL at random instants of the writing leaves a bundle that says exactly what it has. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBundle } from '../../src/bundle/reader.ts';
import { findNodes, preload, programs, temporaryFolder } from '../support/run-victim.ts';
import { isWideRun } from '../support/test-nodes.ts';

const kills = Number(process.env['AGENTDUMP_TEST_KILLS'] ?? (isWideRun ? 40 : 8));
/** Longer than a bundle takes here, so that some are killed after the seal. */
const longestMs = 160;
const node = findNodes().at(-1) ?? assert.fail('no Node');

/** Kills a victim `afterMs` after it said that it is about to throw; the names in its dump folder. */
async function killWhileWriting(dir: string, afterMs: number): Promise<string[]> {
  const child = spawn(node.path, ['--require', preload, join(programs, 'throw-when-told.cjs')], {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps') },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await sleep(afterMs);
  child.kill('SIGKILL');
  await ended;
  const dumps = join(dir, 'dumps');
  return existsSync(dumps) ? readdirSync(dumps).filter((name) => /\.agentdump(\.partial)?$/.test(name)) : [];
}

test(`${kills} kills while the bundle is written`, async (t) => {
  let sealed = 0;
  let partial = 0;
  for (let i = 0; i < kills; i++) {
    const dir = temporaryFolder(t);
    for (const name of await killWhileWriting(dir, (i / kills) * longestMs)) {
      const reader = openBundle(join(dir, 'dumps', name));
      if (reader.sealed) sealed++;
      else partial++;
      assert.ok(reader.parts.length > 0, `${name} has no part`);
      if (!reader.sealed) assert.ok(reader.gaps.length > 0, `${name} is not sealed and says nothing of it`);
      for (const part of reader.parts) {
        const bytes = reader.readPart(part.name) ?? assert.fail(`${name} claims ${part.name} and lacks it`);
        assert.equal(bytes.length, part.bytes);
        if (part.sha256) assert.equal(createHash('sha256').update(bytes).digest('hex'), part.sha256);
        if (part.name.endsWith('.json')) JSON.parse(Buffer.from(bytes).toString('utf8'));
      }
      reader.close();
    }
  }
  t.diagnostic(`${partial} partial, ${sealed} sealed, of ${kills} kills`);
  assert.ok(partial > 0, 'no kill came while the bundle was written: the test shows nothing');
});
