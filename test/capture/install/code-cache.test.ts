/** V8's code that one death leaves for the next: in the package's own folder, and never taken from anybody else. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { preload } from '../../support/victims/run-victim.ts';

interface Installed {
  root: string;
  cache: string;
  die(): { stderr: string; bundles: string[] };
}

/** A copy of the preload, with or without what is beside it in the package. */
function install(t: TestContext, isPackage = true): Installed {
  const root = mkdtempSync(join(tmpdir(), 'agentdump-code-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const dist = join(root, 'dist');
  mkdirSync(dist);
  const own = join(dist, 'register.cjs');
  copyFileSync(preload, own);
  if (isPackage) copyFileSync(join(dirname(preload), 'register.d.cts'), join(dist, 'register.d.cts'));
  let deaths = 0;
  const die = () => {
    const dumps = join(root, `dumps-${++deaths}`);
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--require', own, '-e', 'throw new Error("dies")'],
      {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: root, AGENTDUMP_DIR: dumps },
      },
    );
    assert.equal(status, 1, stderr);
    return {
      stderr,
      bundles: existsSync(dumps) ? readdirSync(dumps).filter((name) => name.endsWith('.agentdump')) : [],
    };
  };
  return { root, cache: join(root, '.cache'), die };
}

/** Code that V8 takes for that of the half, since its text has the same length. */
function poison(path: string): void {
  const length = readFileSync(path).readUInt32LE(8) & 0x7fffffff;
  const made = spawnSync(
    process.execPath,
    [
      '-e',
      `const text = '(function(){ throw new Error("POISON") })'.padEnd(${length});
       process.stdout.write(new (require('node:vm').Script)(text).createCachedData());`,
    ],
    { env: {} },
  ).stdout;
  const end = Buffer.alloc(4);
  end.writeUInt32LE(crc32(made));
  writeFileSync(path, Buffer.concat([made, end]));
}

function pathIn(cache: string, half: string): string {
  const name = readdirSync(cache).find((one) => one.startsWith(half));
  assert.ok(name, half);
  return join(cache, name);
}

test('a death leaves the code of both halves, and the next one takes it', (t) => {
  const { cache, die } = install(t);
  assert.equal(die().bundles.length, 1);
  const left = readdirSync(cache).sort();
  assert.deepEqual(
    left.map((name) => name.replace(/-\d+-\d+$/, '')),
    ['cold-half', 'redaction-half'],
  );
  const before = left.map((name) => statSync(join(cache, name)).mtimeMs);
  assert.equal(die().bundles.length, 1);
  assert.deepEqual(readdirSync(cache).sort(), left);
  assert.deepEqual(
    left.map((name) => statSync(join(cache, name)).mtimeMs),
    before,
  );
  // What follows would prove nothing if nothing were taken.
  poison(pathIn(cache, 'cold-half'));
  assert.match(die().stderr, /POISON/);
});

test('a damaged file is not taken', (t) => {
  const { cache, die } = install(t);
  die();
  const path = pathIn(cache, 'cold-half');
  poison(path);
  const bytes = readFileSync(path);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(path, bytes);
  assert.equal(die().bundles.length, 1);
  writeFileSync(path, bytes.subarray(0, 100));
  assert.equal(die().bundles.length, 1);
  writeFileSync(path, '');
  assert.equal(die().bundles.length, 1);
});

test('a file that others can write, a link and a second name are not taken', {
  skip: process.platform === 'win32',
}, (t) => {
  const { root, cache, die } = install(t);
  die();
  const path = pathIn(cache, 'cold-half');
  poison(path);
  chmodSync(path, 0o666);
  assert.equal(die().bundles.length, 1);
  chmodSync(path, 0o644);
  linkSync(path, join(root, 'other'));
  assert.equal(die().bundles.length, 1);
  rmSync(path);
  symlinkSync(join(root, 'other'), path);
  assert.equal(die().bundles.length, 1);
  rmSync(path);
  renameSync(join(root, 'other'), path);
  assert.match(die().stderr, /POISON/);
});

test('the folder is not taken through a link', { skip: process.platform === 'win32' }, (t) => {
  const { root, cache, die } = install(t);
  die();
  poison(pathIn(cache, 'cold-half'));
  renameSync(cache, join(root, 'elsewhere'));
  symlinkSync(join(root, 'elsewhere'), cache);
  assert.equal(die().bundles.length, 1);
});

test('a file of another user is not taken', { skip: process.getuid?.() !== 0 }, (t) => {
  const { cache, die } = install(t);
  die();
  const path = pathIn(cache, 'cold-half');
  poison(path);
  spawnSync('chown', ['65534', path]);
  assert.equal(statSync(path).uid, 65534);
  assert.equal(die().bundles.length, 1);
});

test('a folder that others can write is not taken', { skip: process.platform === 'win32' }, (t) => {
  const { cache, die } = install(t);
  die();
  poison(pathIn(cache, 'cold-half'));
  chmodSync(cache, 0o777);
  assert.equal(die().bundles.length, 1);
  chmodSync(cache, 0o755);
  assert.match(die().stderr, /POISON/);
});

test('the code of a package that is elsewhere now is not taken: it would have the names of the old place', (t) => {
  const { root, cache, die } = install(t);
  die();
  poison(pathIn(cache, 'cold-half'));
  const moved = install(t);
  cpSync(cache, moved.cache, { recursive: true });
  assert.notEqual(moved.root, root);
  assert.equal(moved.die().bundles.length, 1);
});

test('a file that is not taken is replaced a day later; what others have put there stays', (t) => {
  const { cache, die } = install(t);
  die();
  writeFileSync(join(cache, 'other'), '');
  const path = pathIn(cache, 'cold-half');
  writeFileSync(path, 'damaged');
  die();
  assert.equal(readFileSync(path, 'utf8'), 'damaged');
  for (let i = 0; i < 8; i++) writeFileSync(join(cache, `redaction-half-${i}`), '');
  for (const name of readdirSync(cache)) utimesSync(join(cache, name), 1, 1);
  die();
  assert.ok(statSync(path).size > 1000);
  assert.ok(existsSync(join(cache, 'other')));
});

test('root leaves nothing in the package of another user', { skip: process.getuid?.() !== 0 }, (t) => {
  const { root, cache, die } = install(t);
  spawnSync('chown', ['-R', '65534', root]);
  assert.equal(die().bundles.length, 1);
  assert.ok(!existsSync(cache));
});

test('nothing is written through a link', { skip: process.platform === 'win32' }, (t) => {
  const { root, cache, die } = install(t);
  mkdirSync(join(root, 'elsewhere'));
  symlinkSync(join(root, 'elsewhere'), cache);
  assert.equal(die().bundles.length, 1);
  assert.deepEqual(readdirSync(join(root, 'elsewhere')), []);
});

test('nothing is left where the preload is not in its package, or where a file is in the way', (t) => {
  const copied = install(t, false);
  assert.equal(copied.die().bundles.length, 1);
  assert.ok(!existsSync(copied.cache));
  const blocked = install(t);
  writeFileSync(blocked.cache, '');
  assert.equal(blocked.die().bundles.length, 1);
  assert.equal(readFileSync(blocked.cache, 'utf8'), '');
});
