/** What a user gets: the packed package, installed in an empty folder and loaded in every way that the README names. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BuildFailure, build } from 'esbuild';
import { version } from '../src/version.ts';
import { nodesInTurn } from './support/run/test-nodes.ts';

const run = promisify(execFile);
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const manifest = createRequire(import.meta.url)('../package.json') as { version: string };
let folder = '';

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agentdump-package-'));
  // Without scripts: dist is built already, and other tests are running on it.
  const packed = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: root,
  });
  writeFileSync(join(folder, 'package.json'), '{"name":"user","private":true}');
  await run('npm', ['install', '--silent', '--no-fund', '--no-audit', join(folder, packed.stdout.trim())], {
    cwd: folder,
  });
});

after(() => rmSync(folder, { recursive: true, force: true }));

interface Ending {
  code: number;
  stdout: string;
  stderr: string;
}

async function runNode(node: string, args: string[], env: Record<string, string> = {}): Promise<Ending> {
  const options = {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, AGENTDUMP_DIR: freshDumps(), ...env },
  };
  try {
    return { code: 0, ...(await run(node, args, options)) };
  } catch (error) {
    return error as Ending;
  }
}

let dumps = '';
let count = 0;
function freshDumps(): string {
  dumps = join(folder, `dumps-${count++}`);
  return dumps;
}

const bundles = (): string[] => readdirSync(dumps).filter((name) => name.endsWith('.agentdump'));

test('the schemas of the documents are in the package', async () => {
  const wanted = ['analysis-1.json', 'ci-1.json', 'diff-1.json'];
  const program = `console.log(${JSON.stringify(wanted)}.map((file) => require('agentdump/schema/' + file).title).join())`;
  const { stdout } = await runNode(process.execPath, ['-e', program]);
  assert.equal(stdout.trim(), 'agentdump.analysis/1,agentdump.ci/1,agentdump.diff/1');
});

test('the version in the code is the version of the package', () => {
  assert.equal(version, manifest.version);
});

const programs = { 'dies.cjs': "throw new Error('cjs');", 'dies.mjs': "throw new Error('esm');" };

for (const node of nodesInTurn)
  test(`${node.name}: every way to load the preload, in both kinds of program`, async () => {
    for (const [file, text] of Object.entries(programs)) {
      writeFileSync(join(folder, file), text);
      for (const [args, env] of [
        [['--require', 'agentdump/register'], {}],
        [['--import', 'agentdump/register'], {}],
        [[], { NODE_OPTIONS: '--require agentdump/register' }],
        [[], { NODE_OPTIONS: '--import agentdump/register' }],
        [
          ['--require', 'agentdump/register', '--import', 'agentdump/register'],
          { NODE_OPTIONS: '--require agentdump/register' },
        ],
      ] as const) {
        const ending = await runNode(node.path, [...args, join(folder, file)], env);
        assert.equal(ending.code, 1);
        assert.equal(bundles().length, 1, `${args.join(' ')} ${JSON.stringify(env)}: ${ending.stderr}`);
      }
    }
  });

test('AGENTDUMP=off', async () => {
  const ending = await runNode(
    process.execPath,
    ['--require', 'agentdump/register', join(folder, 'dies.cjs')],
    { AGENTDUMP: 'off' },
  );
  assert.equal(ending.code, 1);
  assert.doesNotMatch(ending.stderr, /agentdump:/);
  assert.throws(bundles, /ENOENT/);
});

test('a bad value is a warning and the default', async () => {
  const ending = await runNode(process.execPath, ['--require', 'agentdump/register', '-e', '0'], {
    AGENTDUMP_HEAP: 'sometimes',
  });
  assert.equal(ending.code, 0);
  assert.match(
    ending.stderr,
    /^agentdump: AGENTDUMP_HEAP is not one of off, pressed, auto, always; using auto$/m,
  );
});

test('the API: context, a dump on call, and its undoing, without the preload', async () => {
  writeFileSync(
    join(folder, 'api.mjs'),
    `import { agent, dump, install, redactValue } from 'agentdump';
     agent.set('before', 'nobody is there yet');
     const undo = install();
     agent.set('plan', { step: 2 });
     agent.provide('messages', () => [{ role: 'user', content: 'the word is swordfish-and-chips' }]);
     redactValue('swordfish-and-chips');
     console.log(dump('by hand'));
     undo();
     console.log(process.listenerCount('SIGTERM'), Object.getOwnPropertyDescriptor(process, '_events').get);
     console.log(dump('once more'));`,
  );
  const { stdout, stderr } = await runNode(process.execPath, [join(folder, 'api.mjs')]);
  const [first = '', listeners, second = ''] = stdout.split('\n');
  assert.match(first, /-api-snapshot-[0-9a-f]{8}\.agentdump$/, stderr);
  assert.equal(listeners, '0 undefined');
  assert.match(second, /-api-snapshot-/);
  const { openBundle } = await import('../src/bundle/read/reader.ts');
  const reader = openBundle(first);
  const part = reader.readJson<{ state: unknown; providers: Record<string, { value: unknown }> }>(
    'agent.json',
  );
  reader.close();
  assert.deepEqual(part?.state, { plan: { step: 2 } });
  assert.match(JSON.stringify(part?.providers['messages']?.value), /the word is (?!swordfish)/);
});

test('CommonJS programs can require the API', async () => {
  const { stdout, stderr } = await runNode(process.execPath, [
    '-e',
    "console.log(Object.keys(require('agentdump')).sort().join())",
  ]);
  assert.match(stdout, /agent,dump,install,redactValue/, stderr);
});

test('the types are there, and whole where no optional package is installed', async () => {
  writeFileSync(
    join(folder, 'typed.mts'),
    `import { agent, dump, install, type Account, type InstallOptions } from 'agentdump';
     import { redact } from 'agentdump/redaction';
     import { FileStore, PostgresStore, type DurableStore } from 'agentdump/durable';
     import * as others from 'agentdump/replay';
     import * as resume from 'agentdump/resume';
     import * as heapsnapshot from 'agentdump/heapsnapshot';
     import * as otel from 'agentdump/otel';
     const store: DurableStore = new FileStore('runs');
     const connected: Promise<DurableStore> = PostgresStore.connect('postgres://host/name');
     const options: InstallOptions = { heap: 'off', signals: ['SIGTERM'] };
     const undo: () => void = install(options);
     agent.set('a', 1);
     const path: string | undefined = dump('why');
     const account: Account = { schema: 'agentdump.analysis/1', gaps: [] };
     // @ts-expect-error no such tier
     install({ heap: 'sometimes' });
     export { undo, path, account, redact, store, connected, others, resume, heapsnapshot, otel };`,
  );
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const types = join(root, 'node_modules', '@types');
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
    '--typeRoots',
    types,
  ];
  const ending = await runNode(process.execPath, [tsc, ...flags, join(folder, 'typed.mts')]);
  assert.equal(ending.code, 0, ending.stdout);
});

test('no module is left out that another one loads', async () => {
  const dist = join(folder, 'node_modules', 'agentdump', 'dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.c?js$/.test(name),
  );
  const { errors } = await build({
    entryPoints: files.map((name) => join(dist, name)),
    outdir: join(folder, 'unused'),
    write: false,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  }).catch((failure: BuildFailure) => failure);
  assert.deepEqual(
    errors.map(({ text }) => text),
    [],
  );
  // A thread's module is named by its path below dist/.
  const threads = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [
      ...readFileSync(join(root, 'src', name), 'utf8').matchAll(/'([\w-]+(?:\/[\w-]+)+)'/g),
    ])
    .map(([, name]) => `${name}.js`)
    .filter((name) => existsSync(join(root, 'src', name.replace(/js$/, 'ts'))));
  assert.ok(threads.length > 4, threads.join());
  for (const name of threads) assert.ok(files.includes(name), name);
});

test('the command line says its version', async () => {
  const { stdout } = await run(join(folder, 'node_modules', '.bin', 'agentdump'), ['--version'], {
    cwd: folder,
  });
  assert.equal(stdout.trim(), manifest.version);
});
