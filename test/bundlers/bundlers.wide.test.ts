/** `install()` in a program that webpack or Rollup has bundled: it finds the preload beside the program or as a package. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openBundle } from '../../src/bundle/read/reader.ts';
import { isWideRun, nodesInTurn } from '../support/run/test-nodes.ts';
import { bundlesIn, preload, temporaryFolder } from '../support/victims/run-victim.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const isInstalled = existsSync(join(root, 'test', 'bundlers', 'node_modules'));
const skip = !isWideRun ? 'bundlers' : isInstalled ? false : 'not installed: npm ci --prefix test/bundlers';
const program = `import { install } from 'agentdump';
install();
setTimeout(() => { throw new Error('own death'); }, 50);`;

const places: Record<string, (to: string) => void> = {
  beside: (to) => copyFileSync(preload, join(to, 'register.cjs')),
  'as a package'(to) {
    mkdirSync(join(to, 'node_modules'));
    symlinkSync(root, join(to, 'node_modules', 'agentdump'));
  },
  nowhere() {},
};

for (const bundler of ['webpack', 'rollup'])
  for (const format of ['cjs', 'esm'])
    test(`${bundler}, ${format}`, { skip }, (t) => {
      const dir = temporaryFolder(t);
      const file = bundle(dir, bundler, format);
      for (const node of nodesInTurn)
        for (const [name, place] of Object.entries(places)) {
          const to = join(dir, `${node.name} ${name}`);
          cpSync(join(dir, 'out'), to, { recursive: true });
          place(to);
          const env = { HOME: to, AGENTDUMP_DIR: join(to, 'dumps') };
          const { status, stderr } = spawnSync(node.path, [file], { cwd: to, env, encoding: 'utf8' });
          assert.equal(status, 1, stderr.slice(-2000));
          const lines = stderr.split('\n').filter((line) => line.startsWith('agentdump:'));
          assert.equal(lines.length, 1, name);
          const bundles = bundlesIn(to);
          if (name === 'nowhere') {
            assert.match(lines[0] ?? '', /^agentdump: not installed: register\.cjs is missing;/);
            assert.deepEqual(bundles, []);
          } else assert.equal(messageIn(join(to, 'dumps', bundles[0] ?? '')), 'own death');
        }
    });

/** Bundles with a copy of the package and then removes the copy, because webpack records where it was. */
function bundle(dir: string, bundler: string, format: string): string {
  const made = join(dir, 'made');
  cpSync(join(root, 'dist'), join(made, 'dist'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(made, 'node_modules'));
  copyFileSync(join(root, 'package.json'), join(made, 'package.json'));
  writeFileSync(join(dir, 'program.mjs'), program);
  const paths = [join(dir, 'program.mjs'), join(made, 'dist', 'index.js'), join(dir, 'out')];
  const command = [join(root, 'test', 'bundlers', 'bundle.mjs'), bundler, format, ...paths];
  const file = execFileSync(process.execPath, command, { encoding: 'utf8' }).trim();
  rmSync(made, { recursive: true });
  return file;
}

function messageIn(path: string): string | undefined {
  const bundle = openBundle(path);
  try {
    assert.ok(bundle.sealed);
    return bundle.readJson<{ error: { message: string } }>('error.json')?.error.message;
  } finally {
    bundle.close();
  }
}
