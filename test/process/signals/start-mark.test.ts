/** A program that is killed before anything of the preload's can answer leaves a mark, from which a sweep makes its bundle. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { bundlesIn, preload, root, temporaryFolder } from '../../support/victims/run-victim.ts';

const busy = `console.log('ready'); const end = Date.now() + 60_000; while (Date.now() < end);`;

for (const node of nodesInTurn)
  describe(node.name, () => {
    const start = (dir: string, code: string, env: Record<string, string> = {}) =>
      spawn(node.path, ['--require', preload, '-e', code], {
        cwd: dir,
        env: { PATH: process.env['PATH'], HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps'), ...env },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    const sessionsIn = (dir: string): string[] =>
      existsSync(join(dir, 'dumps', 'sessions')) ? readdirSync(join(dir, 'dumps', 'sessions')) : [];
    const run = async (dir: string, code: string, env?: Record<string, string>): Promise<void> => {
      const child = start(dir, code, env);
      child.stdout.resume();
      await once(child, 'exit');
    };

    for (const signal of ['SIGTERM', 'SIGKILL'] as const)
      test(`${signal} while the first script still runs`, async (t) => {
        const dir = temporaryFolder(t);
        mkdirSync(join(dir, 'dumps'));
        const child = start(dir, busy);
        await once(child.stdout, 'data');
        const ended = once(child, 'exit');
        child.kill(signal);
        assert.deepEqual(await ended, [null, signal]);
        const command = ['analyze', 'latest', '--json', '--dir', join(dir, 'dumps')];
        const { stdout } = spawnSync(process.execPath, [join(root, 'bin', 'agentdump.js'), ...command], {
          encoding: 'utf8',
        });
        const { verdict, process: told } = JSON.parse(stdout);
        assert.deepEqual([verdict.kind, verdict.confidence, told.pid], ['killed', 'possible', child.pid]);
        assert.equal(bundlesIn(dir).length, 1);
        assert.deepEqual(sessionsIn(dir), []);
      });

    test('an end of its own, an exception and a test leave no mark', async (t) => {
      const dir = temporaryFolder(t);
      mkdirSync(join(dir, 'dumps'));
      await run(dir, `console.log('done')`);
      await run(dir, 'process.exit(3)');
      assert.deepEqual(readdirSync(join(dir, 'dumps')), []);
      await run(dir, `throw new Error('a death with a bundle')`);
      assert.equal(bundlesIn(dir).length, 1);
      assert.deepEqual(sessionsIn(dir), []);
      await run(dir, `process.kill(process.pid, 'SIGKILL')`, { AGENTDUMP_CI: dir });
      assert.deepEqual(sessionsIn(dir), []);
    });

    test('programs whose Math.random repeats are told apart', async (t) => {
      const dir = temporaryFolder(t);
      mkdirSync(join(dir, 'dumps'));
      writeFileSync(join(dir, 'stub.cjs'), 'Math.random = () => 0.5;');
      const env = { NODE_OPTIONS: `--require ${join(dir, 'stub.cjs')}` };
      const killed = `process.kill(process.pid, 'SIGKILL')`;
      const codes = [
        killed,
        killed,
        `setTimeout(() => ${killed}, 2600)`,
        `setTimeout(() => ${killed}, 2600)`,
      ];
      await Promise.all(codes.map((code) => run(dir, code, env)));
      assert.equal(new Set(sessionsIn(dir)).size, codes.length);
    });

    test('a program that puts another in its place leaves no mark', async (t) => {
      const dir = temporaryFolder(t);
      mkdirSync(join(dir, 'dumps'));
      const replace = `process.execve?.('/bin/true', ['true'], {})`;
      await run(dir, replace);
      await run(dir, `setTimeout(() => ${replace}, 2600)`);
      assert.deepEqual([bundlesIn(dir), sessionsIn(dir)], [[], []]);
    });

    test('a death that was only counted leaves no mark', async (t) => {
      const dir = temporaryFolder(t);
      mkdirSync(join(dir, 'dumps'));
      for (let i = 0; i < 2; i++) await run(dir, `process.kill(process.pid, 'SIGTERM'); ${busy}`);
      assert.equal(bundlesIn(dir).length, 1);
      assert.deepEqual(sessionsIn(dir), []);
    });

    test('root leaves no mark where another user writes', { skip: process.getuid?.() !== 0 }, async (t) => {
      const dir = temporaryFolder(t);
      const dumps = join(dir, 'dumps');
      mkdirSync(dumps);
      const look = `console.log(require('node:fs').existsSync(${JSON.stringify(join(dumps, 'sessions'))}))`;
      const seen = async (): Promise<string> =>
        String((await once(start(dir, look).stdout, 'data'))[0]).trim();
      assert.equal(await seen(), 'true');
      chmodSync(dumps, 0o777);
      assert.equal(await seen(), 'false');
      chmodSync(dumps, 0o755);
      chownSync(dumps, 65534, 65534);
      assert.equal(await seen(), 'false');
    });

    test('without a dump folder there is no mark, and no folder', async (t) => {
      const dir = temporaryFolder(t);
      await run(dir, `process.kill(process.pid, 'SIGKILL')`);
      assert.equal(existsSync(join(dir, 'dumps')), false);
    });

    test('the flight recorder goes on with the session of the mark', async (t) => {
      const dir = temporaryFolder(t);
      mkdirSync(join(dir, 'dumps'));
      const child = start(dir, `console.log('ready'); setInterval(() => {}, 1000)`);
      t.after(() => child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      const [id = ''] = sessionsIn(dir);
      const folder = join(dir, 'dumps', 'sessions', id);
      while (!readdirSync(folder).some((name) => name.endsWith('.journal')))
        await new Promise((resolve) => setTimeout(resolve, 50));
      assert.deepEqual(sessionsIn(dir), [id]);
    });
  });
