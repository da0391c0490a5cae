/** Programs that have lost a part of the world that we rely on while they live: they are watched all the same. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testNodes } from '../../support/run/test-nodes.ts';
import {
  bundlesIn,
  preload,
  programs,
  runVictim,
  temporaryFolder,
} from '../../support/victims/run-victim.ts';

const file = 'host/world-lost.cjs';

/** Sizes of the files of the one session in this dump folder. */
function sessionFilesIn(dumps: string): Record<string, number> {
  const sessions = join(dumps, 'sessions');
  const [session] = existsSync(sessions) ? readdirSync(sessions) : [];
  if (session === undefined) return {};
  const folder = join(sessions, session);
  return Object.fromEntries(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size]));
}

for (const node of testNodes) {
  for (const lost of ['performance', 'functions of process', 'methods of arrays'])
    test(`${node.name}: SIGTERM of a program that has replaced its ${lost}`, async (t) => {
      const dir = temporaryFolder(t);
      const victim = { file, args: [lost], signal: 'SIGTERM' as const, bundles: ['terminated'] };
      const { signal, stderr } = await runVictim(node, victim, { preload: true, dir });
      assert.deepEqual({ signal, stderr }, { signal: 'SIGTERM', stderr: '' });
      assert.match(bundlesIn(dir).join(), /^[^,]+-terminated-\w+\.agentdump$/);
    });

  // Node itself can start no thread without a working folder.
  for (const lost of ['files', 'working folder'])
    test(`${node.name}: the journal of a program that has lost its ${lost}`, {
      timeout: 60_000,
    }, async (t) => {
      const dir = temporaryFolder(t);
      const dumps = join(dir, 'dumps');
      const child = spawn(node.path, ['--require', preload, join(programs, file), lost], {
        cwd: dir,
        env: { PATH: process.env['PATH'] ?? '', HOME: dir, VICTIM_TMP: dir, AGENTDUMP_DIR: dumps },
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      t.after(() => child.kill('SIGKILL'));
      while (!sessionFilesIn(dumps)['00000000.journal'] && child.exitCode === null && !t.signal.aborted)
        await new Promise((resolve) => setTimeout(resolve, 20));
      child.kill('SIGKILL');
      assert.deepEqual(await ended, [null, 'SIGKILL']);
      assert.ok(sessionFilesIn(dumps)['session.json']);
    });
}
