/** No space, no permission, no folder: the program dies as it would have died, and one line says why there is no bundle. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TriggerPart } from '../../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { findNodes, type RunOptions, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';
import type { Victim } from '../../support/victims/victims.ts';

const victim: Victim = { file: 'throws/throw-sync.cjs', bundles: [] };
const node = findNodes().at(-1) ?? assert.fail('no Node');
const isRoot = process.getuid?.() === 0;

/** Runs with and without the preload; returns our lines after checking that nothing else differs. */
async function dieWithDumpsAt(dumps: string, dir: string, how: Partial<Victim> = {}): Promise<string[]> {
  const options: RunOptions = { preload: true, dir, env: { AGENTDUMP_DIR: dumps } };
  const loaded = await runVictim(node, { ...victim, ...how }, options);
  const bare = await runVictim(node, { ...victim, ...how }, { ...options, preload: false });
  const { ownLines, ...death } = loaded;
  const { ownLines: none, ...bareDeath } = bare;
  assert.deepEqual(death, bareDeath);
  assert.deepEqual(none, []);
  return ownLines;
}

function assertOneLine(lines: string[], reason: RegExp): void {
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(lines[0] ?? '', /^agentdump: no bundle: /);
  assert.match(lines[0] ?? '', reason);
}

test('a file in the place of the folder', async (t) => {
  const dir = temporaryFolder(t);
  writeFileSync(join(dir, 'dumps'), 'in the way');
  assertOneLine(await dieWithDumpsAt(join(dir, 'dumps'), dir), /ENOTDIR|not a folder/i);
});

test('a folder that cannot be made', async (t) => {
  assertOneLine(await dieWithDumpsAt('/proc/agentdump/dumps', temporaryFolder(t)), /ENOENT/);
});

test('a link planted in the place of the folder', async (t) => {
  const dir = temporaryFolder(t);
  mkdirSync(join(dir, 'elsewhere'));
  symlinkSync(join(dir, 'elsewhere'), join(dir, 'dumps'));
  assertOneLine(await dieWithDumpsAt(join(dir, 'dumps'), dir), /link/i);
  assert.deepEqual(readdirSync(join(dir, 'elsewhere')), []);
});

test('a limit on the size of files', async (t) => {
  const dir = temporaryFolder(t);
  const lines = await dieWithDumpsAt(join(dir, 'dumps'), dir, { maxFileBlocks: 1 });
  assert.equal(lines.length, 1, lines.join('\n'));
});

/** Mounts a small file system, and unmounts it before the folder is removed. */
async function withMount(dir: string, options: string, use: (mount: string) => Promise<void>): Promise<void> {
  const mount = join(dir, 'mount');
  mkdirSync(mount);
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', mount]);
  try {
    await use(mount);
  } finally {
    execFileSync('umount', ['-l', mount]);
  }
}

const skip = isRoot && !spawnSync('mount', ['-V']).error ? false : 'a file system of its own (root, mount)';

for (const [what, options, reason] of [
  ['a file system mounted read-only', 'ro,size=1m', /EROFS/],
  ['a file system with no room at all', 'size=4k', /ENOSPC/],
] as const)
  test(what, { skip }, async (t) => {
    const dir = temporaryFolder(t);
    await withMount(dir, options, async (mount) => {
      assertOneLine(await dieWithDumpsAt(join(mount, 'dumps'), dir), reason);
    });
  });

for (const options of [
  'size=8k',
  'size=12k',
  'size=36k',
  'size=40k',
  'size=4m,nr_inodes=3',
  'size=4m,nr_inodes=6',
  'size=4m,nr_inodes=9',
])
  test(`${options}: what the one line says is there is there`, { skip }, async (t) => {
    const dir = temporaryFolder(t);
    await withMount(dir, options, async (mount) => {
      const lines = await dieWithDumpsAt(join(mount, 'dumps'), dir);
      const names = readdirSync(join(mount, 'dumps')).filter((name) => name.includes('.agentdump'));
      if (names.length === 0) return assertOneLine(lines, /ENOSPC/);
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(lines[0] ?? '', /^agentdump: uncaught-exception: .* could not be written \(ENOSPC\)/);
      const [name = '', ...others] = names;
      assert.deepEqual(others, []);
      assert.ok(
        lines[0]?.includes(`/${name}${name.endsWith('.partial') ? ', not sealed (ENOSPC)' : ' without'}`),
      );
      const reader = openBundle(join(mount, 'dumps', name));
      assert.equal(reader.sealed, name.endsWith('.agentdump'));
      assert.equal(reader.readJson<TriggerPart>('trigger.json')?.kind, 'uncaught-exception');
      reader.close();
    });
  });

test('a folder that vanishes while it is written', async (t) => {
  const dir = temporaryFolder(t);
  const dumps = join(dir, 'dumps');
  const removing = setInterval(() => rmSync(dumps, { recursive: true, force: true }), 1);
  const loaded = await runVictim(node, victim, { preload: true, dir, env: { AGENTDUMP_DIR: dumps } });
  clearInterval(removing);
  assert.equal(loaded.code, 1);
  // On a busy machine the bundle may be complete before the folder is removed again.
  assert.equal(loaded.ownLines.length, 1, loaded.ownLines.join('\n'));
  assert.match(loaded.ownLines[0] ?? '', /^agentdump: (?:no bundle: .*ENOENT|uncaught-exception: )/);
});

test('a file system that is full after the first parts: they are sealed, and the rest are gaps', {
  skip,
}, async (t) => {
  const dir = temporaryFolder(t);
  await withMount(dir, 'size=80k', async (mount) => {
    const lines = await dieWithDumpsAt(join(mount, 'dumps'), dir);
    assert.equal(lines.length, 1, lines.join('\n'));
    const [name] = readdirSync(join(mount, 'dumps')).filter((entry) => entry.endsWith('.agentdump'));
    const reader = openBundle(join(mount, 'dumps', name ?? assert.fail('no sealed bundle')));
    assert.ok(reader.parts.some((part) => part.name === 'trigger.json'));
    assert.ok(reader.gaps.some((gap) => /ENOSPC/.test(gap.reason)));
    reader.close();
  });
});
