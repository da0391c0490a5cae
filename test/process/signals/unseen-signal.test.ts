/** A death that nothing reports may be that of a signal which the preload did not hold: the account names those that remain. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testNodes } from '../../support/run/test-nodes.ts';
import { bundlesIn, preload, root, temporaryFolder } from '../../support/victims/run-victim.ts';

/** An agent, so that there is a journal from the first line on. */
const program = `
  import { agent } from ${JSON.stringify(join(root, 'dist', 'index.js'))};
  await agent.run('cook', {}, async () => {
    agent.note('the pan is hot');
    console.log('ready');
    await new Promise((end) => setTimeout(end, 60_000));
  });`;

/** The text of all segments, in which the name of a signal stands only if it was held. */
function journalIn(dumps: string): string {
  return readdirSync(join(dumps, 'sessions'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.journal'))
    .map((name) => readFileSync(join(dumps, 'sessions', name), 'latin1'))
    .join('');
}

for (const node of testNodes)
  for (const isHeld of [false, true])
    test(`${node.name}: a death by a signal ${isHeld ? 'where others are held' : 'where none is held'}`, async (t) => {
      const dir = temporaryFolder(t);
      const dumps = join(dir, 'dumps');
      const child = spawn(node.path, ['--require', preload, '--input-type=module', '-e', program], {
        cwd: dir,
        env: {
          PATH: process.env['PATH'],
          HOME: dir,
          AGENTDUMP_DIR: dumps,
          AGENTDUMP_SIGNALS: isHeld ? '' : 'none',
        },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      t.after(() => child.kill('SIGKILL'));
      const ended = once(child, 'exit');
      await once(child.stdout, 'data');
      while (isHeld && !journalIn(dumps).includes('SIGHUP'))
        await new Promise((resolve) => setTimeout(resolve, 20));
      const signal = isHeld ? 'SIGINT' : 'SIGTERM';
      child.kill(signal);
      assert.deepEqual(await ended, [null, signal]);
      assert.deepEqual(bundlesIn(dir), []);

      const command = ['analyze', 'latest', '--json', '--dir', dumps];
      const { stdout } = spawnSync(process.execPath, [join(root, 'bin', 'agentdump.js'), ...command], {
        encoding: 'utf8',
      });
      const { verdict } = JSON.parse(stdout);
      assert.equal(verdict.kind, 'killed');
      assert.equal(verdict.confidence, 'possible');
      const other = isHeld ? '' : ', SIGTERM, SIGHUP';
      assert.ok(
        verdict.summary.includes(`SIGKILL, SIGINT (Ctrl-C)${other}, a native crash and an abort`),
        verdict.summary,
      );
      const facts = verdict.evidence.map(({ fact }: { fact: string }) => fact);
      const held =
        'The recorder held SIGTERM, SIGHUP, SIGQUIT: each leaves a bundle, unless the time was too short to write one.';
      assert.equal(facts.includes(held), isHeld, facts.join('\n'));
    });
