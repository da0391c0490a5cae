/**
 * Signals: none is lost, left without a reaction, or handled too late. A sample of the trial, and the moments that it can't
 * aim at.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isWideRun, nodesInTurn, onlyWide, sampleOf } from '../../support/run/test-nodes.ts';
import { bundlesIn, preload, temporaryFolder, untilHeard } from '../../support/victims/run-victim.ts';
import { judge, planTrials } from './signal-trial.ts';

interface Run {
  child: ChildProcess;
  dir: string;
  /** Resolves when it has printed `words`. */
  says(words: string): Promise<void>;
  /** Exit code or signal, and all output. */
  ended: Promise<{ how: unknown; stdout: string }>;
}

function start(t: TestContext, node: string, code: string, env: Record<string, string> = {}): Run {
  const dir = temporaryFolder(t);
  writeFileSync(join(dir, 'program.cjs'), code);
  const child = spawn(node, ['--require', preload, join(dir, 'program.cjs')], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps'), ...env },
  });
  t.after(() => child.kill('SIGKILL'));
  let stdout = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ how: code ?? signal, stdout }));
  const says = async (words: string): Promise<void> => {
    while (!stdout.includes(words)) await Promise.race([once(child.stdout!, 'data'), ended]);
  };
  return { child, dir, says, ended };
}

/** SigCgt of proc(5). */
function catches(pid: number | undefined, signal: NodeJS.Signals): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

const block = (ms: number): string => `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms});`;
const alive = 'setInterval(() => {}, 1000);';

for (const { name, path: node } of nodesInTurn)
  describe(name, () => {
    test('a sample of the trial: no program ends otherwise', { concurrency: false }, async (t) => {
      const trials = planTrials(isWideRun ? 27 : 3, Number(process.env['AGENTDUMP_TEST_SEED'] ?? 15));
      const dir = temporaryFolder(t);
      const quick = trials.map((trial) => ({ ...trial, afterMs: trial.afterMs % 3000 }));
      const judged = await Promise.all(
        quick.map((trial, at) => judge(trial, { node, preload, dir: join(dir, String(at)) })),
      );
      assert.deepEqual(
        judged.filter(({ verdict }) => verdict === 'differs'),
        [],
      );
    });

    test('nothing is held before the program has come to its loop, and no SIGUSR2 unless it is asked for', async (t) => {
      const { child, says, ended } = start(t, node, `console.log('here'); ${block(60_000)}`);
      await says('here');
      assert.equal(catches(child.pid, 'SIGHUP'), false);
      child.kill('SIGHUP');
      assert.equal((await ended).how, 'SIGHUP');
      const later = start(t, node, alive);
      await untilHeard(later.child.pid, 'SIGTERM');
      assert.equal(catches(later.child.pid, 'SIGUSR2'), false);
    });

    test('AGENTDUMP_HANG_MS=0: a signal is answered all the same while the main thread is busy', {
      skip: onlyWide,
    }, async (t) => {
      const code = `${alive} setTimeout(() => { console.log('busy'); ${block(60_000)} }, 2000);`;
      const { child, dir, says, ended } = start(t, node, code, { AGENTDUMP_HANG_MS: '0' });
      await untilHeard(child.pid, 'SIGTERM');
      await says('busy');
      child.kill('SIGTERM');
      assert.equal((await ended).how, 'SIGTERM');
      assert.match(bundlesIn(dir).join(), /-terminated-/);
    });

    test('a signal that came while nobody listened kills, whatever the program does before it comes to its loop', async (t) => {
      const deeds = [
        `process.on('SIGTERM', () => {}); ${block(60_000)}`,
        'process.exit(3);',
        `throw new Error('later');`,
      ];
      for (const deed of sampleOf(deeds, 3)) {
        const code = `${alive} setTimeout(() => {
          require('child_process').execSync('kill -TERM ' + process.pid + '; sleep 0.05'); ${deed}
        }, 2000);`;
        const { child, ended } = start(t, node, code);
        await untilHeard(child.pid, 'SIGTERM');
        assert.equal((await ended).how, 'SIGTERM', deed);
      }
    });

    test('the group of processes is killed: nothing more is run', async (t) => {
      const code = `const kill = () => { process.kill(0, 'SIGHUP'); console.log('went on'); }; setTimeout(kill, 1500); ${alive}`;
      const dir = temporaryFolder(t);
      writeFileSync(join(dir, 'program.cjs'), code);
      const child = spawn(node, ['--require', preload, join(dir, 'program.cjs')], {
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps') },
      });
      let stdout = '';
      child.stdout.setEncoding('utf8').on('data', (text) => {
        stdout += text;
      });
      const [, signal] = await once(child, 'close');
      assert.deepEqual([signal, stdout], ['SIGHUP', '']);
      assert.match(bundlesIn(dir).join(), /-terminated-/);
    });

    test('an ordered heap may take its time: a second signal ends it', { skip: onlyWide }, async (t) => {
      const code = `const all = []; for (let i = 0; i < 3e6; i++) all.push({ i, at: [i] }); ${alive} console.log('full', all.length);`;
      const { child, says, ended } = start(t, node, code, { AGENTDUMP_HEAP: 'always' });
      await says('full');
      await untilHeard(child.pid, 'SIGTERM');
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGHUP'), 500);
      assert.equal((await ended).how, 'SIGTERM');
    });
  });
