/**
 * A heap near its limit: V8 raises the limit fourfold for a debugger, so we must not attach one then. With the preload a
 * program dies of its full heap as it does without, and a program that stalls with a nearly full heap is described.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { LocalsPart, TriggerPart } from '../../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { captureLive } from '../../../src/supervise/attach/capture-live.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { spawnUntil } from '../../support/victims/run-until-bundle.ts';
import { type NodeBinary, preload, programs, temporaryFolder } from '../../support/victims/run-victim.ts';

const limitMb = 128;
const limitFlag = `--max-old-space-size=${limitMb}`;
const pollMs = 50;

interface Death {
  signal: NodeJS.Signals | null;
  stderr: string;
  peakMb: number;
}

async function die(node: NodeBinary, dir: string, env: Record<string, string> | undefined): Promise<Death> {
  const words = [
    limitFlag,
    ...(env ? ['--require', preload] : []),
    join(programs, 'heap/heap-filled-slowly.cjs'),
  ];
  const child = spawn(node.path, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: dir,
    env: { PATH: process.env['PATH'], AGENTDUMP_DIR: dir, AGENTDUMP_HEAP: 'off', ...env },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  let peakMb = 0;
  const poll = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child.pid ?? 0));
    if (peakMb > 6 * limitMb) child.kill('SIGKILL');
  }, pollMs);
  const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearInterval(poll);
  return { signal, stderr, peakMb };
}

function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function assertSameDeath(with_: Death, without: Death): void {
  assert.equal(without.signal, 'SIGABRT');
  assert.equal(with_.signal, 'SIGABRT');
  for (const { stderr } of [with_, without]) assert.match(stderr, /^FATAL ERROR: .*heap out of memory/m);
  // Our own thread and report account for some 60 MB; a limit that was raised once would add 200 MB and more.
  assert.ok(with_.peakMb < without.peakMb + 110, `${with_.peakMb} MB with, ${without.peakMb} MB without`);
}

/**
 * Retries, because on a busy machine the inspector may open after capture has stopped waiting; the next attempt then finds it
 * open.
 */
async function capture(pid: number, dir: string): Promise<string> {
  for (let time = 1; ; time++) {
    const { path, answered } = await captureLive({ pid, dir, scrubber: makeScrubber({}) });
    if (answered || time === 5) return path;
  }
}

for (const node of nodesInTurn)
  describe(node.name, { concurrency: 2 }, () => {
    test('a stall that fills the heap while it is looked at; and with the debugger armed', async (t) => {
      const dir = temporaryFolder(t);
      const without = await die(node, dir, undefined);
      assertSameDeath(await die(node, dir, { AGENTDUMP_HANG_MS: '300' }), without);
      assertSameDeath(
        await die(node, dir, { AGENTDUMP_HANG_MS: '0', AGENTDUMP_LOCALS: 'uncaught' }),
        without,
      );
    });

    test('a snapshot of a heap that is nearly full, in a loop: no debugger of its own, and it goes on', async (t) => {
      const dir = join(temporaryFolder(t), 'dumps');
      const words = [
        limitFlag,
        '--require',
        preload,
        join(programs, 'heap/heap-filled-then-weighed.cjs'),
        '100',
      ];
      const env = { AGENTDUMP_HANG_MS: '60000', AGENTDUMP_HEAP: 'off', AGENTDUMP_LOCALS: 'uncaught' };
      const { child, bundle } = spawnUntil(node.path, words, dir, env, /-snapshot-/);
      t.after(() => child.kill('SIGKILL'));
      const near = openBundle(await bundle);
      t.after(() => near.close());
      const { kind, exitStack } = near.readJson<TriggerPart>('trigger.json')!;
      assert.equal(kind, 'snapshot-memory');
      assert.match(exitStack ?? '', /fillAndWeigh .*heap-filled-then-weighed\.cjs:[78]:\d+\)/);
      assert.match(
        near.gaps.find(({ part }) => part === 'scripts.json')?.reason ?? '',
        /too full for a debugger/,
      );
      assert.deepEqual([child.exitCode, child.signalCode], [null, null], 'it went on');
    });

    test('a stall with a heap that is nearly full: its stack, no variables, and it goes on', async (t) => {
      const dir = join(temporaryFolder(t), 'dumps');
      const words = [limitFlag, '--require', preload, join(programs, 'heap/heap-nearly-full.cjs'), '96'];
      // Long enough that filling the heap does not count as the stall on a busy machine.
      const env = { AGENTDUMP_HANG_MS: '2500', AGENTDUMP_HEAP: 'off', AGENTDUMP_MEMORY_PERCENT: '0' };
      const { child, bundle } = spawnUntil(node.path, words, dir, env, /-event-loop-hang-/);
      t.after(() => child.kill('SIGKILL'));
      const hung = openBundle(await bundle);
      const { stall, exitStack } = hung.readJson<TriggerPart>('trigger.json')!;
      assert.equal(stall?.where, 'javascript');
      assert.match(
        exitStack ?? '',
        /^Main thread\n(?: {4}at MapIterator\.next .*\n)? {4}at (?:Timeout\.)?weighAll .*heap-nearly-full\.cjs:13:\d+\)\n/,
      );
      assert.equal(stall.laterStacks?.length, 3);
      assert.match(hung.gaps.find(({ part }) => part === 'locals.json')?.reason ?? '', /near its limit/);
      hung.close();

      const captured = openBundle(await capture(child.pid ?? 0, dir));
      const [frame] = captured.readJson<LocalsPart>('locals.json')?.frames ?? [];
      assert.deepEqual([frame?.functionName, frame?.line, frame?.scopes], ['weighAll', 13, []]);
      assert.match(captured.gaps.find(({ part }) => part === 'locals.json')?.reason ?? '', /near its limit/);
      captured.close();
      assert.deepEqual([child.exitCode, child.signalCode], [null, null], 'it went on');
    });
  });
