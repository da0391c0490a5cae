/** The next sweep or start turns the traces of a death into a bundle: once, and only of a death. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import type { EvidencePart } from '../../../src/bundle/layout/evidence.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { readJournal } from '../../../src/journal/read/reader.ts';
import { finishSession } from '../../../src/supervise/finish/finisher.ts';
import { tryLockSession, unlockSession } from '../../../src/supervise/finish/finisher-lock.ts';
import { sweepSessions } from '../../../src/supervise/finish/sweep.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { untilBundle } from '../../support/victims/until-bundle.ts';

const root = mkdtempSync(join(tmpdir(), 'agentdump-sweep-'));
const started = new Set<ChildProcess>();
after(() => {
  // Processes that a failed test left running would keep this file alive.
  for (const child of started) child.kill('SIGKILL');
  rmSync(root, { recursive: true });
});
const victim = fileURLToPath(new URL('../programs/victim-session.mjs', import.meta.url));
const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
let count = 0;
const newDir = () => join(root, String(count++));

async function startVictim(
  dir: string,
  ...words: string[]
): Promise<{ child: ChildProcess; folder: string }> {
  const child = spawn(process.execPath, [victim, dir, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.add(child);
  const [line] = await once(child.stdout, 'data');
  return { child, folder: String(line).trim() };
}
async function killVictim(dir: string): Promise<string> {
  const { child, folder } = await startVictim(dir);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return folder;
}
const sweep = (dir: string) =>
  sweepSessions({ dir, witness: { foundBy: 'sweep' }, scrubber: makeScrubber({}) });

test('the killed get a bundle, the living are left alone, who ended well is tidied away', async () => {
  const dir = newDir();
  const { child, folder: living } = await startVictim(dir);
  await killVictim(dir);
  const { child: ended } = await startVictim(dir, 'end');
  await once(ended, 'exit');
  const outcomes = sweep(dir).map(({ result }) => result.outcome);
  assert.deepEqual(outcomes.sort(), ['cleared', 'left', 'sealed']);
  assert.deepEqual(readdirSync(join(dir, 'sessions')), [living.split('/').pop()]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(
    sweep(dir).map(({ result }) => result.outcome),
    ['sealed'],
  );
  assert.equal(listBundles(dir).length, 2);
  assert.deepEqual(sweep(dir), []);
});

test('the bundle holds the whole journal, the memory history and who said what of the process', async () => {
  const dir = newDir();
  await killVictim(dir);
  sweep(dir);
  const [listed] = listBundles(dir);
  const bundle = openBundle(listed!.path);
  assert.deepEqual([listed?.program, listed?.verdictKind, listed?.state], ['victim', 'killed', 'sealed']);
  const evidence = bundle.readJson<EvidencePart>('evidence.json')!;
  assert.equal(evidence.exit, undefined);
  assert.match(evidence.fate.because, /there is no process \d+/);
  const records = [...readJournal(bundle.readPart('recorder.journal')!).records];
  assert.equal(evidence.journal?.records, records.length);
  assert.ok(records.length > 100 && records.length < 3000, 'the bound dropped the oldest samples');
  const history = evidence.memory?.history ?? [];
  assert.equal(history.at(-1)?.rss, 3000 * 1e6);
  assert.ok(history.length <= 400);
  assert.deepEqual(Object.keys(history[0] ?? {}), ['at', 'rss', 'heapUsed']);
  assert.deepEqual(bundle.readJson<{ argv: string[] }>('process.json')?.argv, ['told', 'by', 'itself']);
  assert.match(JSON.stringify(bundle.gaps), /segments-missing, records \d+ to \d+/);
});

test('two finishers at once: one bundle', { skip: onlyWide }, async () => {
  const dir = newDir();
  for (let i = 0; i < 4; i++) await killVictim(dir);
  const sweepers = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [agentdump, 'sweep', '--dir', dir, '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  await Promise.all(sweepers.map((child) => once(child, 'close')));
  assert.equal(listBundles(dir).length, 4);
  assert.ok(listBundles(dir).every((bundle) => bundle.state === 'sealed'));
  assert.deepEqual(readdirSync(join(dir, 'sessions')), []);
});

test('a lock holds while its owner lives, and not longer', async () => {
  const dir = newDir();
  const folder = await killVictim(dir);
  assert.equal(tryLockSession(folder), true);
  assert.equal(tryLockSession(folder), false);
  assert.deepEqual(
    sweep(dir).map(({ result }) => result.outcome),
    ['left'],
  );
  const owner = readlinkSync(join(folder, 'finishing'));
  unlockSession(folder);
  symlinkSync(owner.replace(/\d+$/, '1'), join(folder, 'finishing'));
  assert.deepEqual(
    sweep(dir).map(({ result }) => result.outcome),
    ['sealed'],
  );
});

test('who is supervised is left to the supervisor, while that lives', async () => {
  const dir = newDir();
  const folder = await killVictim(dir);
  tryLockSession(folder);
  const alive = readlinkSync(join(folder, 'finishing'));
  unlockSession(folder);
  const file = join(folder, 'session.json');
  const facts = JSON.parse(readFileSync(file, 'utf8')) as object;
  for (const [supervisor, outcome] of [
    [alive, 'left'],
    [alive.replace(/\d+$/, '1'), 'sealed'],
  ]) {
    writeFileSync(file, JSON.stringify({ ...facts, supervisor }));
    assert.deepEqual(
      sweep(dir).map(({ result }) => result.outcome),
      [outcome],
    );
  }
});

test('a finisher that died after the seal leaves nothing twice', { skip: onlyWide }, async () => {
  const dir = newDir();
  const folder = await killVictim(dir);
  const copy = join(root, 'copy');
  spawnSync('cp', ['-a', folder, copy]);
  sweep(dir);
  spawnSync('cp', ['-a', copy, folder]);
  assert.deepEqual(
    sweep(dir).map(({ result }) => result.outcome),
    ['cleared'],
  );
  assert.equal(listBundles(dir).length, 1);
  assert.equal(existsSync(folder), false);
});

test('a session file that is none is named, and the others are still finished', {
  skip: onlyWide,
}, async () => {
  const dir = newDir();
  const folder = await killVictim(dir);
  writeFileSync(join(folder, 'session.json'), '{"schema":"agentdump.session"');
  await killVictim(dir);
  assert.deepEqual(
    sweep(dir)
      .map(({ result }) => result.outcome)
      .sort(),
    ['failed', 'sealed'],
  );
});

test('a token in the name of the program’s folder is in no path of the bundle', async () => {
  const token = ['ghp', 'Zk3nT8vQ1xW6yB4mC9pL2sD7fG5hJ0aR8eUt'].join('_');
  const dir = join(newDir(), token, 'dumps');
  const folder = await killVictim(dir);
  const core = { pattern: 'core', path: `/srv/${token}/core`, reason: `no core in /srv/${token}: no limit` };
  const result = finishSession({
    dir,
    folder,
    witness: { foundBy: 'supervisor', core },
    scrubber: makeScrubber({}),
  });
  assert.ok(result.outcome === 'sealed');
  for (const name of readdirSync(result.path))
    assert.ok(!readFileSync(join(result.path, name)).includes(token), name);
});

test('a folder that never got its session file is removed after a minute', () => {
  const dir = newDir();
  const [young, old, other] = ['0123456789abcdef', 'fedcba9876543210', 'notes'].map((name) =>
    join(dir, 'sessions', name),
  ) as [string, string, string];
  const past = Date.now() / 1000 - 120;
  for (const folder of [young, old, other]) mkdirSync(folder, { recursive: true });
  for (const folder of [old, other]) utimesSync(folder, past, past);
  sweep(dir);
  assert.deepEqual([young, old, other].map(existsSync), [true, false, true]);
});

test('the command says in lines and as JSON what it did', async () => {
  const dir = newDir();
  await killVictim(dir);
  const json = spawnSync(process.execPath, [agentdump, 'sweep', '--dir', dir, '--json'], {
    encoding: 'utf8',
  });
  const [session] = JSON.parse(json.stdout).sessions;
  assert.deepEqual([json.status, session.outcome, session.verdictKind], [0, 'sealed', 'killed']);
  const text = spawnSync(process.execPath, [agentdump, 'sweep', '--dir', dir], { encoding: 'utf8' });
  assert.deepEqual([text.status, text.stdout], [0, 'No sessions here.\n']);
});

test('the next program under a supervisor has it done beside its work', { skip: onlyWide }, async () => {
  const dir = newDir();
  await killVictim(dir);
  const words = ['run', '--dir', dir, '--', process.execPath, '-e', untilBundle(dir)];
  const next = spawn(process.execPath, [agentdump, ...words], { stdio: 'ignore' });
  await once(next, 'close');
  const [listed] = listBundles(dir);
  assert.equal(openBundle(listed!.path).readJson<EvidencePart>('evidence.json')?.foundBy, 'next-start');
});
