/**
 * A process that its terminal or its parent has ended by a signal leaves nothing to explain, where a parent with the preload has
 * seen it; of a kill and of a crash the parent's observation is used.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { classifySession, listSessions, readSession } from '../../../src/journal/read/session.ts';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { preload, root, temporaryFolder } from '../../support/victims/run-victim.ts';

interface Swept {
  outcome: string;
  path?: string;
  verdictKind?: string;
}

const command = (...words: string[]): string =>
  spawnSync(process.execPath, [join(root, 'bin', 'agentdump.js'), ...words], { encoding: 'utf8' }).stdout;

for (const node of nodesInTurn)
  describe(node.name, () => {
    /** Starts `parent` as a process group, and returns what a sweep makes of what is left. */
    async function leftBy(
      t: TestContext,
      parent: string,
      { child = 'child.js', name = 'parent.js', interruptGroup = false } = {},
    ): Promise<{ swept: Swept[]; dumps: string }> {
      const dir = temporaryFolder(t);
      const dumps = join(dir, 'dumps');
      mkdirSync(dumps);
      const start = `
        const { spawn } = require('node:child_process');
        const start = (file, words) => spawn(file, words, { stdio: ['ignore', 'pipe', 'inherit'] });
        const child = ${child.startsWith('sh:') ? `start('/bin/sh', ['-c', ${JSON.stringify(child.slice(3))}])` : `start(process.execPath, ['child.js'])`};
        const whenReady = (react) => child.stdout.once('data', react);`;
      writeFileSync(join(dir, 'child.js'), `console.log('ready'); setInterval(() => {}, 1000);`);
      writeFileSync(join(dir, name), `${start}\n${parent}`);
      const running = spawn(node.path, [name], {
        cwd: dir,
        env: {
          PATH: process.env['PATH'],
          HOME: dir,
          NODE: node.path,
          NODE_OPTIONS: `--require ${preload}`,
          AGENTDUMP_DIR: dumps,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      });
      const ended = once(running, 'exit');
      if (interruptGroup) {
        await once(running.stdout, 'data');
        process.kill(-(running.pid as number), 'SIGINT');
      } else running.stdout.resume();
      await ended;
      await untilGone(dumps);
      const { sessions } = JSON.parse(command('sweep', '--json', '--dir', dumps));
      return { swept: sessions, dumps };
    }

    const verdictOf = (dumps: string) =>
      JSON.parse(command('analyze', 'latest', '--json', '--dir', dumps)).verdict;
    const outcomes = (swept: Swept[]): string[] => swept.map(({ outcome }) => outcome);

    for (const signal of ['SIGINT', 'SIGTERM'])
      test(`a child to which its parent sends ${signal} in its first moment`, async (t) => {
        const { swept, dumps } = await leftBy(
          t,
          `child.once('exit', (code, signal) => { if (signal !== '${signal}') throw signal; });
           whenReady(() => child.kill('${signal}'));`,
          { child: `sh:exec "$NODE" -e "console.log('ready'); for (;;) {}"` },
        );
        assert.deepEqual(
          outcomes(swept).filter((one) => one !== 'cleared'),
          [],
        );
        assert.deepEqual(bundlesOf(dumps), []);
      });

    test('a child that gets SIGINT from a process manager, which goes on', async (t) => {
      const { swept } = await leftBy(t, `whenReady(() => process.kill(child.pid, 'SIGINT'));`);
      assert.deepEqual(outcomes(swept), ['cleared']);
    });

    test('a child that its parent ends on its own way out', async (t) => {
      const { swept } = await leftBy(t, `whenReady(() => { child.kill('SIGINT'); process.exit(); });`);
      assert.deepEqual(
        outcomes(swept).filter((one) => one !== 'cleared'),
        [],
      );
    });

    for (const name of ['parent.js', 'npm-cli.js'])
      test(`Ctrl-C for a group whose first process, ${name}, passes its child's end on`, async (t) => {
        const { swept, dumps } = await leftBy(
          t,
          `process.once('SIGINT', () => {});
           whenReady(() => console.log('ready'));
           child.once('exit', (code, signal) => process.kill(process.pid, signal));`,
          { name, interruptGroup: true },
        );
        assert.deepEqual(outcomes(swept), ['cleared']);
        assert.deepEqual(bundlesOf(dumps), []);
      });

    test('Ctrl-C where a shell is between the two', async (t) => {
      const { swept } = await leftBy(
        t,
        `process.once('SIGINT', () => {}); whenReady(() => console.log('ready'));`,
        { child: 'sh:"$NODE" child.js; exit $?', interruptGroup: true },
      );
      assert.deepEqual(outcomes(swept), ['cleared']);
    });

    test('SIGKILL by the parent, and by somebody else', async (t) => {
      const own = await leftBy(t, `whenReady(() => child.kill('SIGKILL'));`);
      const verdict = verdictOf(own.dumps);
      assert.deepEqual(
        [verdict.kind, verdict.title, verdict.confidence],
        ['killed', 'Killed by its parent process', 'certain'],
      );
      const other = await leftBy(t, `whenReady(() => process.kill(child.pid, 'SIGKILL'));`);
      assert.equal(verdictOf(other.dumps).title, 'Killed by SIGKILL');
      const [{ path } = {}] = other.swept;
      assert.ok(path?.endsWith('.agentdump'), path);
    });

    test('a crash in native code', async (t) => {
      const { dumps, swept } = await leftBy(t, `whenReady(() => process.kill(child.pid, 'SIGSEGV'));`);
      assert.equal(swept[0]?.verdictKind, 'native-crash');
      const facts = verdictOf(dumps).evidence.map(({ fact }: { fact: string }) => fact);
      assert.ok(facts.includes('Its parent saw it end by SIGSEGV.'), facts.join('\n'));
    });
  });

/** A child that was ended by its parent's last act may still be there. */
async function untilGone(dumps: string): Promise<void> {
  const isAlive = (folder: string): boolean => classifySession(folder, readSession(folder)).fate === 'alive';
  for (let round = 0; round < 500 && listSessions(dumps).some(isAlive); round++)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

const bundlesOf = (dumps: string): string[] =>
  (existsSync(dumps) ? readdirSync(dumps) : []).filter(
    (name) => name.endsWith('.agentdump') || name.endsWith('.partial'),
  );
