/**
 * What Node itself writes at a fatal error contains every variable in the clear. It lies in a private folder, and disappears
 * even if the supervisor that should have removed it was killed: the next start or sweep scrubs it.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { untilBundle } from '../../support/victims/until-bundle.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-abandoned-'));
after(() => rmSync(root, { recursive: true }));
const secret = ['x7', Math.random().toString(36).slice(2), Math.random().toString(36).slice(2)].join('Q');
/** Keeps running, and fills its memory when a signal tells it to, because its streams end with its supervisor. */
const hog = `setInterval(() => {}, 1000);
  process.on('SIGWINCH', () => { const a = []; for (;;) a.push(new Array(1000).fill(Math.random())); });
  console.log(process.pid);`;

function readTextOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

interface Orphan {
  pid: number;
  /** Where Node writes its report. */
  folder: string;
}

/** Starts a program and kills its supervisor before the program itself dies, if it does. */
async function abandon(dir: string): Promise<Orphan> {
  const command = [process.execPath, '--max-old-space-size=30', '-e', hog, '--', `--password=${secret}`];
  const supervisor = spawn(process.execPath, [agentdump, 'run', '--dir', dir, '--', ...command], {
    env: { ...process.env, NODE_OPTIONS: '', MY_PASSWORD: secret },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(supervisor.stdout ?? assert.fail(), 'data');
  const pid = Number(String(line));
  // For a test that fails before the death: a process that holds our pipe keeps us from ending.
  after(() => {
    if (readTextOf(`/proc/${pid}/cmdline`).includes(secret)) process.kill(pid, 'SIGKILL');
  });
  const [id = ''] = readdirSync(join(dir, 'sessions'));
  const folder = ['/dev/shm', tmpdir()].map((place) => join(place, `agentdump-${id}`)).find(existsSync);
  supervisor.kill('SIGKILL');
  await once(supervisor, 'exit');
  return { pid, folder: folder ?? assert.fail('no private folder') };
}

async function dieOfMemory({ pid }: Orphan): Promise<void> {
  process.kill(pid, 'SIGWINCH');
  for (let i = 0; i < 1200 && existsSync(`/proc/${pid}/exe`); i++) await sleep(50);
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It died, as expected.
  }
}

function sweep(dir: string): void {
  const { status, stderr } = spawnSync(process.execPath, [agentdump, 'sweep', '--dir', dir], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
}

const textOf = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => name !== 'owner')
    .map((name) => readTextOf(join(folder, name)))
    .join('\n');

/** Another process on this machine may have swept at that moment and scrubbed it already. */
function assertClear({ folder }: Orphan): void {
  const text = textOf(folder);
  const names = readdirSync(folder);
  assert.ok(
    text.includes(secret) || names.some((name) => /\.scrubbed\.json$|^finishing$/.test(name)),
    `Node wrote it in the clear, or this test shows nothing: ${names}`,
  );
}

test('a sweep of another dump folder scrubs the report in its place; that of its own takes it into the bundle', {
  skip: onlyWide,
}, async () => {
  const dir = join(root, 'dumps');
  const orphan = await abandon(dir);
  const { folder } = orphan;
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  sweep(join(root, 'elsewhere'));
  assert.ok(existsSync(folder), 'the program lives, and may still write there');
  await dieOfMemory(orphan);
  assertClear(orphan);
  sweep(join(root, 'elsewhere'));
  const scrubbed = /^report\.[\w.]+\.scrubbed\.json$/;
  // If another sweep was first, it finishes within a moment.
  for (let i = 0; i < 200 && !scrubbed.test(readdirSync(folder).join()); i++) await sleep(50);
  assert.match(readdirSync(folder).join(), scrubbed);
  assert.ok(!textOf(folder).includes(secret));
  assert.match(textOf(folder), /heap out of memory|OOMError/i);
  sweep(dir);
  assert.ok(!existsSync(folder));
  const [listed] = listBundles(dir);
  assert.equal(listed?.verdictKind, 'heap-out-of-memory');
  const bundle = openBundle(listed?.path ?? '');
  assert.ok(bundle.parts.some((part) => part.name === 'report.json'));
  for (const part of bundle.parts) assert.ok(!bundle.readPart(part.name)?.includes(secret), part.name);
  bundle.close();
});

test('the next start clears it, too', { skip: onlyWide }, async () => {
  const dir = join(root, 'next');
  const orphan = await abandon(dir);
  await dieOfMemory(orphan);
  assertClear(orphan);
  const words = [agentdump, 'run', '--dir', dir, '--', process.execPath, '-e', untilBundle(dir)];
  spawnSync(process.execPath, words, { env: { ...process.env, NODE_OPTIONS: '' } });
  assert.ok(!existsSync(orphan.folder));
  assert.deepEqual(
    listBundles(dir).map(({ verdictKind }) => verdictKind),
    ['heap-out-of-memory'],
  );
});
