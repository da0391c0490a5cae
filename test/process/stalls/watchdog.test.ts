/** The watchdog in the program: a stall is detected while it lasts, with its stack, and signals still end the program. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import type { LocalsPart, TriggerPart } from '../../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { onlyWide, sampleOf } from '../../support/run/test-nodes.ts';
import { spawnUntil } from '../../support/victims/run-until-bundle.ts';
import {
  findNodes,
  type NodeBinary,
  preload,
  programs,
  temporaryFolder,
  untilHeard,
} from '../../support/victims/run-victim.ts';

interface Seen {
  trigger: TriggerPart;
  locals: LocalsPart['frames'];
  gaps: string[];
  parts: string[];
}

function read(path: string): Seen {
  const bundle = openBundle(path);
  try {
    assert.ok(bundle.sealed);
    return {
      trigger: bundle.readJson<TriggerPart>('trigger.json')!,
      locals: bundle.readJson<LocalsPart>('locals.json')?.frames ?? [],
      gaps: bundle.gaps.map(({ part }) => part),
      parts: bundle.parts.map(({ name }) => name),
    };
  } finally {
    bundle.close();
  }
}

/** Runs until the hang is detected, then sends SIGTERM. Returns both bundles, and how the program ended. */
async function hang(
  test: { after(cleanUp: () => void): void },
  node: NodeBinary,
  file: string,
): Promise<{ hung: Seen; ended: Seen; signal: NodeJS.Signals | null }> {
  const dir = join(temporaryFolder(test), 'dumps');
  const { child, ended, bundle } = spawnUntil(
    node.path,
    ['--require', preload, join(programs, file)],
    dir,
    { AGENTDUMP_HANG_MS: '400' },
    /-event-loop-hang-/,
  );
  test.after(() => child.kill('SIGKILL'));
  const first = await bundle;
  const hung = read(first);
  // While the bundle is written no signal is held, so one that arrives then kills as usual.
  await within(60_000, untilHeard(child.pid, 'SIGTERM'));
  child.kill('SIGTERM');
  const { signal } = await within(60_000, ended);
  // A signal that arrives in a stuck loop ends a hang, and the bundle's name says so.
  const last = readdirSync(dir).find((name) => name.endsWith('.agentdump') && name !== basename(first));
  assert.ok(last, `no bundle of the end in ${readdirSync(dir)}`);
  return { hung, ended: read(join(dir, last)), signal };
}

function within<Value>(limitMs: number, value: Promise<Value>): Promise<Value> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('SIGTERM did not end it')), limitMs).unref();
  });
  return Promise.race([value, late]);
}

const inJavaScript: [file: string, innermost: string, microtasksRan: boolean][] = [
  ['stalls/hang-spin.cjs', 'retryUntilDone', false],
  ['stalls/hang-from-the-start.cjs', '', false],
  ['stalls/hang-regex.cjs', 'validateAnswer', false],
  ['stalls/hang-microtasks.mjs', 'drainQueue', true],
  ['stalls/hang-json.cjs', 'saveState', false],
  ['stalls/hang-on-lock.cjs', 'takeLock', false],
];

for (const node of findNodes())
  describe(node.name, { concurrency: 2 }, () => {
    for (const [file, name, microtasksRan] of sampleOf(inJavaScript, 3))
      test(file, async (t) => {
        const { hung, ended, signal } = await hang(t, node, file);
        const { stall, kind, exitStack = '' } = hung.trigger;
        assert.equal(kind, 'stall');
        assert.equal(stall?.where, 'javascript');
        assert.ok(stall.silentMs >= 400 && stall.limitMs === 400);
        assert.equal(stall.microtasksRan, microtasksRan);
        assert.match(exitStack, name ? new RegExp(`at ${name} \\(.*${file}:\\d+:\\d+\\)`) : new RegExp(file));
        assert.ok(hung.locals.some((frame) => frame.scopes.length > 0));
        assert.deepEqual(hung.gaps, []);
        assert.equal(ended.trigger.signal?.name, 'SIGTERM');
        assert.equal(ended.trigger.stall?.earlier, 1);
        assert.equal(signal, 'SIGTERM');
      });

    test('the values of a variable are there, and the secret among them is not', {
      skip: onlyWide,
    }, async (t) => {
      const { hung } = await hang(t, node, 'stalls/hang-spin.cjs');
      const text = JSON.stringify(hung.locals);
      assert.match(text, /fetch the plan/);
      assert.ok(!text.includes('hunter2-in-the-clear'));
      assert.equal(hung.trigger.stall?.callback, 'Timeout');
    });

    test('a value that the compiler has let go of is called that, and not undefined', {
      skip: onlyWide,
    }, async (t) => {
      const { hung } = await hang(t, node, 'stalls/hang-with-dead-values.cjs');
      const frame = hung.locals.find(({ functionName }) => functionName === 'research');
      const variables = frame?.scopes.flatMap((scope) => scope.variables) ?? [];
      const values = new Map(variables.map(({ name, value }) => [name, value]));
      assert.ok(values.has('plan') && values.has('turns'), JSON.stringify(hung.locals));
      assert.ok(![...values.values()].includes('undefined'), JSON.stringify(variables));
      assert.match(values.get('plan') ?? '', /^\(optimised away\)$|steps/);
    });

    test('one that sits in native code is described from the other thread, and SIGTERM still ends it', async (t) => {
      const { hung, ended, signal } = await hang(t, node, 'stalls/hang-in-child.cjs');
      assert.equal(hung.trigger.stall?.where, 'native');
      assert.equal(hung.trigger.isMainThread, true);
      assert.ok(hung.parts.includes('threads.json') && hung.gaps.includes('locals.json'));
      assert.equal(ended.trigger.signal?.name, 'SIGTERM');
      assert.equal(signal, 'SIGTERM');
    });
  });
