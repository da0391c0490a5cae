/**
 * V8 assumes of a process that nobody has given a promise a constructor of its own, an array another iterator, and so on. What
 * breaks such an assumption ("protector") makes the program's own code slower to its end, wherever it is, and shows in
 * nothing that it prints. So nothing of ours may do that: neither what the preload does while a program lives, nor a capture
 * of one that goes on.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testNodes } from '../../support/run/test-nodes.ts';
import { bundlesIn, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

for (const node of testNodes)
  describe(node.name, { concurrency: 2 }, () => {
    test('of V8’s assumptions, only those are broken that the program itself breaks', async (t) => {
      const victim = {
        file: 'host/all-work.mjs',
        args: ['1500'],
        flags: ['--trace-protector-invalidation'],
        bundles: [],
      };
      const dirs = { bare: temporaryFolder(t), loaded: temporaryFolder(t) };
      const [bare, loaded] = await Promise.all([
        runVictim(node, victim, { preload: false, dir: dirs.bare }),
        runVictim(node, victim, { preload: true, dir: dirs.loaded, env: { AGENTDUMP_HANG_MS: '500' } }),
      ]);
      assert.match(loaded.stderr, /^worked$/m);
      assert.ok(bundlesIn(dirs.loaded).some((name) => name.includes('event-loop-hang')));
      assert.deepEqual(broken(loaded.stdout), broken(bare.stdout));
    });
  });

/** What V8 prints of them, each once. That nobody hears of promises is broken by V8's own debugger, which pauses the stuck program. */
const broken = (stdout: string): string[] =>
  [...new Set(stdout.match(/(?<=^Invalidating protector cell )\S+$/gm))]
    .filter((name) => name !== 'PromiseHook')
    .sort();
