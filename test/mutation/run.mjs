// npm run mutate <room>: changes the sources of a room (`journal`, or a folder of one, `formats/v8`) in small ways, one at a time, and
// runs the room's own tests, or, where it has none, those that the graph of imports leads to. A change that no test notices is printed: write the test that would have.
// The score is the share that was noticed. Tests that run the built program don't see the changes and are left out.
// A room takes hours. `--part 3/20` takes the third of twenty parts, a few lines here and there in each file: a sample.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { touchedTests } from '../support/run/changed-tests.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const { values, positionals } = parseArgs({ allowPositionals: true, options: { part: { type: 'string' } } });
const [room, ...files] = positionals;
const [part, parts] =
  /^(\d+)\/(\d+)$/
    .exec(values.part ?? '1/1')
    ?.slice(1)
    .map(Number) ?? [];
const folder = room && join(root, 'src', room);
if (!(part >= 1 && part <= parts) || !folder || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
  console.error(
    `usage: npm run mutate <room> [file of it …] [-- --part 1/20]\n${room ? `there is no src/${room}` : 'the room is missing'}`,
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
/** As ranges of lines. A change of more lines than one range has is in no part of several. */
const linesAtOnce = 12;
function linesOfPart(path) {
  if (parts === 1) return [path];
  const ranges = Math.ceil(readFileSync(join(root, path), 'utf8').split('\n').length / linesAtOnce);
  const first = (part - 1 + sources.indexOf(path)) % parts;
  return Array.from({ length: ranges }, (_, range) => range)
    .filter((range) => range % parts === first)
    .map((range) => `${path}:${range * linesAtOnce + 1}-${(range + 1) * linesAtOnce}`);
}

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
  mutate: sources.flatMap(linesOfPart),
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
