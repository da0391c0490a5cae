// Runs the test files (all, or those whose path contains one of the arguments) with Node's own runner. Files in which a
// test failed run once more, and are named.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..');
const wanted = process.argv.slice(2);
/** For one file: a program that never ends must not hold everything. */
const longest = '--test-timeout=600000';
/** Below `agentdump ci` the test processes have its preload, and their children nothing of it. */
const isRecorded = process.env.AGENTDUMP_CI !== undefined;
/** More files than these fail for a reason. */
const mostRepeated = 8;

/** Test files below `dir`, in the order of their names. Node 20's runner knows no globs. */
function findTests(dir) {
  return readdirSync(dir, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (entry.name === 'node_modules') return [];
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return findTests(path);
      return entry.name.endsWith('.test.ts') ? [relative(root, path)] : [];
    });
}

const files = findTests(join(root, 'test')).filter(
  (f) => !wanted.length || wanted.some((w) => f.includes(w)),
);
if (!files.length) {
  console.error(`no test file matches ${wanted.join(', ')}`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'agentdump-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Runs the files; says how it ended and where the tests that failed were written. */
function run(paths) {
  const failedList = join(folder, 'failed');
  const reporters = [
    [process.stdout.isTTY ? 'spec' : 'tap', 'stdout'],
    [join(root, 'test', 'support', 'failed-files.mjs'), failedList],
  ].flatMap(([reporter, to]) => [`--test-reporter=${reporter}`, `--test-reporter-destination=${to}`]);
  const cleaner = isRecorded ? ['--import', './test/support/clean-environment.mjs'] : [];
  const words = [
    ...cleaner,
    '--import',
    'tsx',
    '--test',
    '--test-concurrency=2',
    longest,
    ...reporters,
    ...paths,
  ];
  const { status } = spawnSync(process.execPath, words, {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      LC_ALL: 'C',
      TZ: 'UTC',
      NODE_OPTIONS: (isRecorded && process.env.NODE_OPTIONS) || '',
      NO_COLOR: '',
    },
  });
  const failed = existsSync(failedList) ? readFileSync(failedList, 'utf8').split('\n').filter(Boolean) : [];
  return { status: status ?? 1, failed: failed.map((path) => relative(root, path)) };
}

/** The runner tells where `test` was called: in a file that is no test itself, for a table that several share. */
function isImported(place, file) {
  return (
    !place.endsWith('.test.ts') && readFileSync(join(root, file), 'utf8').includes(`/${basename(place)}'`)
  );
}

const first = run(files);
if (first.status === 0 || first.failed.length === 0 || first.failed.length > mostRepeated)
  process.exit(first.status);
const again = files.filter((file) => first.failed.some((place) => place === file || isImported(place, file)));
if (first.failed.some((place) => !again.some((file) => place === file || isImported(place, file))))
  process.exit(first.status);
// Programs that really die beside each other on a busy machine now and then miss a moment. What fails twice is broken.
console.log(`# once more, alone: ${again.join(' ')}`);
process.exit(run(again).status);
