/** Cores of living processes: complete for us, for gdb and for eu-stack, and the process continues. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { accountForCore } from '../../../src/analysis/core/core-account.ts';
import { type LiveCore, writeLiveCore } from '../../../src/supervise/native/live-core.ts';
import { readRunnable } from '../../../src/supervise/native/live-process.ts';
import { nodes, victims } from '../../support/cores/core-victims.ts';

const isHere = process.platform === 'linux' && process.arch === 'x64' && nodes.length > 0;
const skip = isHere ? false : 'cores are written on Linux x64 only';
const has = (tool: string) => spawnSync(tool, ['--version']).status === 0;

/** Resolves when the program has printed the word `times` times. */
function waitFor(child: ChildProcess, word: string, times = 1): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`no ${word} in ${text}`)), 15_000);
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      if (text.split(word).length <= times) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Resolves when no other thread has been runnable in five consecutive checks. */
async function untilAtRest(pid: number, restless: number[]): Promise<void> {
  for (let calm = 0; calm < 5; calm++) {
    await pause(20);
    if (readRunnable(pid).some((tid) => !restless.includes(tid))) calm = -1;
  }
}

for (const node of nodes)
  suite(`Node ${node.major}`, { skip }, () => {
    let folder: string;
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'agentdump-live-'));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    async function take(mode: string, check: (core: LiveCore) => Promise<void>): Promise<void> {
      const child = spawn(node.path, [join(victims, 'living.cjs'), mode], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const { pid = 0 } = child;
      try {
        await waitFor(child, 'ready');
        await untilAtRest(pid, mode === 'spin' ? [pid] : []);
        const core = writeLiveCore(pid, join(folder, `${mode}.core`));
        child.stdin?.write('on!');
        await waitFor(child, 'beat', 3);
        assert.equal(child.exitCode, null);
        await check(core);
      } finally {
        child.kill('SIGKILL');
      }
    }

    test('a process that spins: its JavaScript stack, without registers', async () => {
      await take('spin', async (core) => {
        assert.deepEqual(core.gaps, []);
        const account = await accountForCore(core.path);
        assert.equal(account.verdict?.kind, 'snapshot');
        const main = account.threads?.find((t) => t.kind === 'main');
        const names = main?.frames.map((f) => f.function) ?? [];
        assert.equal(names.filter((name) => name === 'Loop.turn').length, 4, names.join());
        assert.ok(names.includes('spin'), names.join());
        const turn = main?.frames.find((f) => f.function === 'Loop.turn');
        assert.equal(turn?.locals?.find((l) => l.name === 'word')?.value, '"forever"');
        assert.ok(account.suspended?.some((s) => s.frames[0]?.function === 'waitForGodot'));
        assert.ok(account.threads?.some((t) => t.kind === 'worker'));
      });
    });

    test('an idle process: every native stack whole, for gdb and eu-stack too', async () => {
      await take('idle', async (core) => {
        const account = await accountForCore(core.path, { heap: false });
        for (const thread of account.threads ?? [])
          assert.match(thread.frames.at(-1)?.function ?? '', /_start|clone/, `${thread.name}`);
        assert.deepEqual(account.gaps, []);
        // The unwind tables of this thread need the frame pointer, which is not known.
        const worker = account.threads?.find((thread) => thread.kind === 'worker');
        const inside = worker?.frames.map((frame) => frame.function?.replace(/\(.*/, '')) ?? [];
        const at = inside.indexOf('uv__fs_work');
        assert.deepEqual(inside.slice(at, at + 2), ['uv__fs_work', 'uv_fs_read'], inside.join());
        assert.ok(inside.includes('readSync'), inside.join());
        if (has('gdb')) {
          const args = [
            '-nx',
            '-batch',
            '-iex',
            'set debuginfod enabled off',
            '-ex',
            'bt',
            node.path,
            core.path,
          ];
          assert.match(spawnSync('gdb', args, { encoding: 'utf8' }).stdout, /uv_run.*node::Start.*_start/s);
        }
        if (has('eu-stack')) {
          const args = ['--core', core.path, '-e', node.path];
          assert.match(
            spawnSync('eu-stack', args, { encoding: 'utf8' }).stdout,
            /uv_run.*node::Start.*_start/s,
          );
        }
      });
    });
  });

suite('limits', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-live-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('nobody else may read the file, and nothing is replaced', async () => {
    const program = "setInterval(() => {}, 1000); console.log('ready')";
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await waitFor(child, 'ready');
      await untilAtRest(child.pid ?? 0, []);
      const path = join(folder, 'a.core');
      writeLiveCore(child.pid ?? 0, path);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      assert.throws(() => writeLiveCore(child.pid ?? 0, path), { code: 'unwritable' });
      const small = writeLiveCore(child.pid ?? 0, join(folder, 'b.core'), { maxBytes: 1 << 20 });
      assert.ok(small.bytes <= 1 << 20);
      assert.match(small.gaps.join(), /over the limit/);
      const { threads = [] } = await accountForCore(small.path, { heap: false });
      assert.ok(threads[0]?.frames.some((frame) => frame.function === 'uv_run'));
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('no such process', () => {
    writeFileSync(join(folder, 'x'), '');
    assert.throws(() => writeLiveCore(2 ** 22 + 1, join(folder, 'c.core')), { code: 'not-found' });
  });
});
