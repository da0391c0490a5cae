/**
 * Nothing that was not written is claimed to exist: on a full file system the line on standard error names what is missing,
 * and the next death of the same kind is stored. A SIGKILL while the bundle is written leaves a bundle that says which death
 * it was.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findBundle, listBundles } from '../../../src/bundle/finished/list.ts';
import { forgetStored, noteSignature } from '../../../src/bundle/keep/signature-log.ts';
import { findNodes, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const node = findNodes().at(-1)!.path;
const environment = (dir: string) => ({ PATH: process.env['PATH'] ?? '', AGENTDUMP_DIR: dir });

test('a death that could not be stored is stored the next time', (t) => {
  const folder = temporaryFolder(t);
  const dir = join(folder, 'dumps');
  const file = join(folder, 'app.cjs');
  writeFileSync(file, `throw new Error('the same each time')`);
  const words = ['--require', preload, file];
  // No file may exceed 0 blocks, so the bundle's parts fail as on a full disk.
  const full = spawnSync('sh', ['-c', `trap '' XFSZ; ulimit -f 0; exec "$@"`, 'sh', node, ...words], {
    env: environment(dir),
    encoding: 'utf8',
  });
  assert.equal(full.status, 1, full.stderr);
  assert.match(full.stderr, /^agentdump: no bundle: .*EFBIG/m);
  const again = spawnSync(node, words, { env: environment(dir), encoding: 'utf8' });
  assert.match(again.stderr, /^agentdump: uncaught-exception: .*\.agentdump \(/m);
  assert.equal(listBundles(dir).length, 1);
});

test('what is taken back counts for nothing, what others noted stays', (t) => {
  const dir = join(temporaryFolder(t), 'dumps');
  const note = (signature: string) => noteSignature({ dir, signature, windowMs: 60_000 });
  const other = note('other');
  const first = note('one');
  assert.ok(first.store && first.id !== undefined && other.store);
  assert.equal(note('one').store, false);
  forgetStored(dir, first.id);
  assert.equal(note('other').store, false);
  const second = note('two');
  assert.ok(second.store && second.id !== undefined);
  forgetStored(dir, second.id);
  assert.equal(note('two').store, true);
});

const mayMount = process.platform === 'linux' && process.getuid?.() === 0;

test('on a file system of 40 KB the line says what is not there', {
  skip: !mayMount && 'cannot mount a small disk here',
}, (t) => {
  const dir = join(temporaryFolder(t), 'small');
  const script = `mkdir -p ${dir} && mount -t tmpfs -o size=40k tmpfs ${dir} && AGENTDUMP_DIR=${dir}/d ${node} --require ${preload} -e 'throw new Error("x")'; find ${dir} -type f -printf '%f %s\\n' | sort`;
  const { stdout, stderr, error } = spawnSync('unshare', ['-m', 'bash', '-c', script], { encoding: 'utf8' });
  if (error || /unshare|mount:/.test(stderr)) return t.skip('no mount namespace can be made here');
  const [line = ''] = /^agentdump: .*$/m.exec(stderr) ?? [];
  if (/no bundle/.test(line)) assert.match(line, /ENOSPC/);
  else {
    assert.match(line, /without .*which could not be written \(ENOSPC\)/);
    assert.match(stdout, /^trigger\.json [1-9]/m, stdout + stderr);
  }
});

/** Number of kills; AGENTDUMP_TEST_KILLS overrides it. */
const kills = Number(process.env['AGENTDUMP_TEST_KILLS'] ?? 6);

test('killed at any instant from its first part on, a death can be told', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'app.cjs');
  writeFileSync(file, `setTimeout(() => { throw new Error('killed meanwhile'); }, 50);`);
  let told = 0;
  for (let kill = 0; kill < kills; kill++) {
    const dir = join(folder, `dumps-${kill}`);
    const child = spawn(node, ['--require', preload, file], { env: environment(dir), stdio: 'ignore' });
    const hasBundle = () => existsSync(dir) && readdirSync(dir).some((name) => name.endsWith('.partial'));
    let left = kill % 3;
    const watch = setInterval(() => hasBundle() && left-- <= 0 && child.kill('SIGKILL'), 1);
    await once(child, 'exit');
    clearInterval(watch);
    const [found] = listBundles(dir);
    if (found?.verdictKind === 'uncaught-exception') {
      told++;
      assert.equal(findBundle('latest', dir), found.path);
    }
    rmSync(dir, { recursive: true, force: true });
  }
  t.diagnostic(`${told} of ${kills} could be told`);
  assert.equal(told, kills);
});
