/**
 * Ways to start Node that restrict the program or the preload: the death is the same with the preload, and its bundle is
 * written or one line says why not.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn, sampleOf } from '../../support/run/test-nodes.ts';
import { bundlesIn, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = `console.log('up'); setTimeout(() => { throw Object.assign(new Error('own death'), { code: 'E_OWN' }); }, 50);`;

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  ownLines: string[];
}

function run(command: readonly string[], dir: string, env: Record<string, string> = {}): Ended {
  const [file = '', ...words] = command;
  const { status, stdout, stderr } = spawnSync(file, words, {
    cwd: dir,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps'), ...env },
  });
  const lines = stderr.replace(/\(node:\d+\)/g, '(node:PID)').split('\n');
  const isOwn = (line: string): boolean => line.startsWith('agentdump:');
  return {
    code: status,
    stdout,
    stderr: lines.filter((line) => !isOwn(line)).join('\n'),
    ownLines: lines.filter(isOwn),
  };
}

/** Runs bare and with the preload; a sealed bundle with the program's own error must exist. */
function checkDeath(dir: string, command: readonly string[]): void {
  const { ownLines: _, ...bare } = run(command, dir);
  assert.match(bare.stderr, /own death/);
  const { ownLines, ...loaded } = run(command, dir, { NODE_OPTIONS: `--require ${preload}` });
  assert.deepEqual(loaded, bare);
  checkBundle(dir, ownLines);
}

function checkBundle(dir: string, ownLines: readonly string[]): void {
  const names = bundlesIn(dir);
  assert.equal(names.length, 1, ownLines.join(' / '));
  const bundle = openBundle(join(dir, 'dumps', names[0] ?? ''));
  try {
    assert.ok(bundle.sealed);
    const error = bundle.readJson<{ error: { message: string } }>('error.json');
    assert.equal(error?.error.message, 'own death');
  } finally {
    bundle.close();
  }
}

for (const node of nodesInTurn) {
  const major = Number(/\d+/.exec(node.name)?.[0]);
  const permission = [major < 22 ? '--experimental-permission' : '--permission', '--allow-fs-read=*'];
  const modes: readonly (readonly string[])[] = [
    [...permission, '--allow-fs-write=DUMPS'],
    ['--frozen-intrinsics'],
    ['--disallow-code-generation-from-strings'],
    [...permission, '--allow-fs-write=*', '--allow-worker'],
    ['--no-addons'],
    ['--jitless'],
    ['--disable-proto=throw'],
    ['--unhandled-rejections=strict'],
  ];

  describe(node.name, () => {
    for (const flags of sampleOf(modes, 3))
      test(flags.join(' '), (t) => {
        const dir = temporaryFolder(t);
        mkdirSync(join(dir, 'dumps'));
        writeFileSync(join(dir, 'program.cjs'), program);
        const words = flags.map((flag) => flag.replace('DUMPS', join(dir, 'dumps')));
        checkDeath(dir, [node.path, ...words, 'program.cjs']);
      });

    test('--permission without a folder to write to: refused in one line', (t) => {
      const dir = temporaryFolder(t);
      writeFileSync(join(dir, 'program.cjs'), program);
      const command = [node.path, ...permission, 'program.cjs'];
      const { ownLines: _, ...bare } = run(command, dir);
      const { ownLines, ...loaded } = run(command, dir, { NODE_OPTIONS: `--require ${preload}` });
      assert.deepEqual(loaded, bare);
      assert.equal(ownLines.length, 1);
      assert.match(ownLines[0] ?? '', /^agentdump: no bundle: cannot write to .*ERR_ACCESS_DENIED$/);
    });

    test('a process.permission that is the program’s own is not asked', (t) => {
      const dir = temporaryFolder(t);
      writeFileSync(
        join(dir, 'program.cjs'),
        `process.permission = { has() { process.exit(9); } }; ${program}`,
      );
      checkDeath(dir, [node.path, 'program.cjs']);
    });

    test('from a start snapshot', (t) => {
      const dir = temporaryFolder(t);
      const main = `require('node:v8').startupSnapshot.setDeserializeMainFunction(() => { ${program} });`;
      writeFileSync(join(dir, 'entry.cjs'), main);
      execFileSync(node.path, ['--snapshot-blob', 'start.blob', '--build-snapshot', 'entry.cjs'], {
        cwd: dir,
      });
      checkDeath(dir, [node.path, '--snapshot-blob', 'start.blob']);
    });

    // Older Nodes need a tool outside of Node to build the executable.
    if (major >= 26)
      test('a single executable', (t) => {
        const dir = temporaryFolder(t);
        writeFileSync(join(dir, 'program.cjs'), program);
        const config = { main: 'program.cjs', output: 'program', disableExperimentalSEAWarning: true };
        writeFileSync(join(dir, 'sea.json'), JSON.stringify(config));
        execFileSync(node.path, ['--build-sea=sea.json'], { cwd: dir, stdio: 'ignore' });
        checkDeath(dir, [join(dir, 'program')]);
      });

    for (const format of sampleOf(['cjs', 'esm'] as const, 2))
      test(`install() in a program that esbuild has bundled, ${format}`, (t) => {
        const dir = temporaryFolder(t);
        const bundled = `bundled.${format === 'esm' ? 'mjs' : 'cjs'}`;
        buildSync({
          stdin: { contents: `import { install } from 'agentdump'; install(); ${program}`, resolveDir: dir },
          alias: { agentdump: join(root, 'dist', 'index.js') },
          bundle: true,
          platform: 'node',
          format,
          outfile: join(dir, bundled),
          logLevel: 'error',
        });
        const left = run([node.path, bundled], dir);
        assert.deepEqual([left.code, left.stdout], [1, 'up\n']);
        assert.match(left.stderr, /own death/);
        assert.match(
          left.ownLines.join('\n'),
          /^agentdump: not installed: register\.cjs is missing; [^\n]+$/,
        );
        assert.deepEqual(bundlesIn(dir), []);

        const beside = join(dir, 'beside');
        mkdirSync(beside);
        copyFileSync(join(dir, bundled), join(beside, bundled));
        copyFileSync(preload, join(beside, 'register.cjs'));
        const found = run([node.path, bundled], beside);
        assert.equal(found.code, 1);
        checkBundle(beside, found.ownLines);

        mkdirSync(join(dir, 'node_modules'));
        symlinkSync(root, join(dir, 'node_modules', 'agentdump'));
        const asPackage = run([node.path, bundled], dir);
        assert.equal(asPackage.code, 1);
        checkBundle(dir, asPackage.ownLines);
      });
  });
}
