// npm run mutate <room>: changes the sources of a room (`journal`, or a folder of one, `formats/v8`) in small ways, one at a time, and
// runs the room's own tests, or, where it has none, those that the graph of imports leads to. A change that no test notices is printed: write the test that would have.
// The score is the share that was noticed. Tests that run the built program don't see the changes and are left out.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { touchedTests } from '../support/run/changed-tests.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const [room, ...files] = process.argv.slice(2);
const folder = room && join(root, 'src', room);
if (!folder || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
  console.error(
    `usage: npm run mutate <room> [file of it …]\n${room ? `there is no src/${room}` : 'the room is missing'}`,
  );
  process.exit(2);
}

const pathsBelow = (dir, ending) =>
  readdirSync(dir, { recursive: true })
    .filter((path) => path.endsWith(ending) && !path.includes('node_modules'))
    .map((path) => relative(root, join(dir, path)));
const sources = pathsBelow(folder, '.ts').filter(
  (path) => !path.endsWith('.d.ts') && (!files.length || files.some((file) => path.endsWith(file))),
);
const tests = pathsBelow(join(root, 'test'), '.test.ts').filter((path) => !path.endsWith('.wide.test.ts'));
if (!sources.length) {
  console.error(`no file of src/${room} matches ${files.join(', ')}`);
  process.exit(2);
}
const own = tests.filter((path) => path.startsWith(join('test', room)));
const testFiles = own.length ? own : touchedTests(root, tests, sources).touched;
console.log(`${sources.length} files of src/${room}, ${testFiles.length} test files`);

// In a copy: the working tree stays as it is, also when this is killed. Files of other people's packages are not copied.
const copy = mkdtempSync(join(tmpdir(), 'agentdump-mutation-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
});
for (const path of String(listed).split('\0'))
  if (path && statSync(join(root, path), { throwIfNoEntry: false })?.isFile())
    cpSync(join(root, path), join(copy, path), { verbatimSymlinks: true });
for (const name of ['node_modules', 'dist']) symlinkSync(join(root, name), join(copy, name));
process.chdir(copy);

const { Stryker } = await import('@stryker-mutator/core');
const results = await new Stryker({
  mutate: sources,
  inPlace: true,
  testRunner: 'tap',
  tap: { testFiles, nodeArgs: ['--import', 'tsx'] },
  plugins: [import.meta.resolve('@stryker-mutator/tap-runner')],
  ignorePatterns: ['/fixtures', '/docs'],
  concurrency: Number(process.env.AGENTDUMP_TESTS_BESIDE) || 2,
  // The compiler of this project is none that could be asked to rewrite its configuration, and needs no rewriting.
  tsconfigFile: 'none',
  disableTypeChecks: false,
  timeoutMS: 20_000,
  allowEmpty: false,
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { reportTests: false, allowColor: false },
  thresholds: { high: 85, low: 85, break: null },
}).runMutationTest();
const noticed = results.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
const judged = results.filter(
  ({ status }) => !['Ignored', 'CompileError', 'RuntimeError'].includes(status),
).length;
console.log(`${noticed} of ${judged} changes were noticed: ${((100 * noticed) / judged).toFixed(1)} %`);
