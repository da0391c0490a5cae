/**
 * The preload's journal: what an agent did survives SIGKILL, alone and under the supervisor; a regular end leaves nothing.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import type { EvidencePart } from '../../../src/bundle/layout/evidence.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { findJson, readJournal } from '../../../src/journal/read/reader.ts';
import { sweepSessions } from '../../../src/supervise/finish/sweep.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { nodeOf, onlyWide, testMajors } from '../../support/run/test-nodes.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = join(root, 'fixtures/programs/agents/agent-waits.mjs');
const scratch = mkdtempSync(join(tmpdir(), 'agentdump-flight-'));
after(() => rmSync(scratch, { recursive: true }));
let count = 0;
const newDir = () => join(scratch, String(count++), 'dumps');
const preload = ['--require', join(root, 'dist/register.cjs')];

function start(node: string, words: string[], dir: string): ChildProcess {
  return spawn(node, words, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, AGENTDUMP_DIR: dir, NODE_OPTIONS: '' },
  });
}

function requireStory(dir: string): EvidencePart {
  const [listed, ...others] = listBundles(dir);
  assert.deepEqual(others, []);
  const bundle = openBundle(listed!.path);
  const bytes = bundle.readPart('recorder.journal')!;
  assert.ok(!bytes.includes('hunter2-in-the-clear'));
  const events = [...readJournal(bytes).records].map(
    (record) => findJson(record) as { kind?: string; name?: string },
  );
  for (const [kind, name] of [
    ['run.start', 'night shift'],
    ['step.start', 'look it up'],
    ['tool.start', 'search'],
  ])
    assert.ok(
      events.some((event) => event.kind === kind && event.name === name),
      `${kind} ${name} in ${JSON.stringify(events).slice(0, 2000)}`,
    );
  const evidence = bundle.readJson<EvidencePart>('evidence.json')!;
  assert.ok(evidence.memory?.history.some((point) => (point.rss ?? 0) > 1e6));
  return evidence;
}

for (const major of testMajors)
  test(`Node ${major}: killed in a tool call, and swept up by the next`, async () => {
    const dir = newDir();
    const child = start(nodeOf(major), [...preload, program], dir);
    await once(child.stdout!, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const swept = sweepSessions({ dir, witness: { foundBy: 'sweep' }, scrubber: makeScrubber({}) });
    assert.deepEqual(
      swept.map(({ result }) => result.outcome),
      ['sealed'],
    );
    requireStory(dir);
  });

const plain = join(root, 'fixtures/programs/agents/plain-lives.cjs');

/** Waits until the program's output matches; returns the match. */
async function waitFor(child: ChildProcess, wanted: RegExp): Promise<RegExpExecArray> {
  let out = '';
  child.stdout!.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  for (;;) {
    const found = wanted.exec(out);
    if (found) return found;
    assert.equal(child.exitCode, null, `${wanted} is not in: ${out}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Process id of the program that waits to be killed. */
const untilReady = async (child: ChildProcess): Promise<number> =>
  Number((await waitFor(child, /ready (\d+)\./))[1]);

test('a program that is no agent, killed after some seconds: its last lines, warnings, errors and children', {
  concurrency: true,
}, async (t) => {
  const cases = testMajors.map((major) =>
    t.test(`Node ${major}`, async () => {
      const dir = newDir();
      const child = spawn(nodeOf(major), [...preload, plain], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { AGENTDUMP_DIR: dir },
      });
      child.stderr.resume();
      await waitFor(child, /ready/);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const swept = sweepSessions({ dir, witness: { foundBy: 'sweep' }, scrubber: makeScrubber({}) });
      const sealed = swept.find(({ result }) => result.outcome === 'sealed')?.result;
      assert.ok(sealed?.outcome === 'sealed');
      const bundle = openBundle(sealed.path);
      const bytes = bundle.readPart('recorder.journal')!;
      for (const secret of ['hunter2-in-the-clear', 'abcdefghijklmnopqrstuvwxyz'])
        assert.ok(!bytes.includes(secret), secret);
      const records = [...readJournal(bytes).records];
      const payloads = (kind: number) =>
        records
          .filter((record) => record.kind === kind)
          .map((record) => findJson(record) as Record<string, unknown>);
      const logs = payloads(9);
      assert.match(String(logs.findLast(({ stream }) => stream === 'stdout')?.['text']), /last words\n/);
      assert.match(
        String(logs.findLast(({ stream }) => stream === 'stderr')?.['text']),
        /went on after: a bad message/,
      );
      assert.deepEqual(
        payloads(5).map(({ message, origin }) => [message, origin]),
        [['a bad message', 'uncaughtException']],
      );
      const [end] = payloads(8);
      assert.deepEqual([end?.['exitCode'], end?.['stderrTail']], [7, 'tool: no such index\n']);
      assert.equal(payloads(7)[0]?.['pid'], end?.['pid']);
      assert.ok(payloads(2).length >= 1);
    }),
  );
  await Promise.all(cases);
});

test('under the supervisor the journal is part of the one bundle', async () => {
  const dir = newDir();
  const words = [join(root, 'bin/agentdump.js'), 'run', '--', 'node', program];
  const child = start(process.execPath, words, dir);
  process.kill(await untilReady(child), 'SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(requireStory(dir).exit, { signal: 'SIGKILL' });
  assert.equal(
    existsSync(join(dir, 'sessions')) && spawnSync('ls', [join(dir, 'sessions')]).stdout.length > 0,
    false,
  );
});

test('below a shell too', { skip: onlyWide }, async () => {
  const dir = newDir();
  const script = `"${process.execPath}" "${program}" & wait $!`;
  const child = start(
    process.execPath,
    [join(root, 'bin/agentdump.js'), 'run', '--', 'sh', '-c', script],
    dir,
  );
  process.kill(await untilReady(child), 'SIGKILL');
  const [code] = await once(child, 'exit');
  assert.equal(code, 137);
  assert.deepEqual(requireStory(dir).exit, { code: 137, signal: 'SIGKILL', inferred: true });
});

test('a good end leaves nothing', async () => {
  const dir = newDir();
  const child = start(process.execPath, [...preload, program, 'end'], dir);
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
  assert.equal(existsSync(dir), false);
});
