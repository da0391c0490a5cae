// Runs the test files (all, or those whose path contains one of the arguments), two beside each other, and prints one TAP
// document. A file in which a test failed runs again, alone, up to twice: programs that really die beside each other on
// a busy machine now and then miss a moment. What passed only then is named at the end, with what failed as comments.
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { counted, runTestFile } from './run-test-file.mjs';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..');
const wanted = process.argv.slice(2);
const beside = 2;
const mostTries = 3;
/** More files than these fail for a reason. */
const mostRepeated = 8;
/** Below `agentdump ci` the test processes have its preload, and their children nothing of it. */
const isRecorded = process.env.AGENTDUMP_CI !== undefined;
const options = {
  cwd: root,
  imports: [...(isRecorded ? ['./test/support/clean-environment.mjs'] : []), 'tsx'],
  env: {
    ...process.env,
    LC_ALL: 'C',
    TZ: 'UTC',
    NODE_OPTIONS: (isRecorded && process.env.NODE_OPTIONS) || '',
    NO_COLOR: '',
  },
};

/** Test files below `dir`, in the order of their names. Node 20 knows no globs. */
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

const start = performance.now();
const totals = Object.fromEntries(counted.map((name) => [name, 0]));
const unsteady = [];
let number = 0;

/** Numbers a file's tests on from those before. */
function print({ tap, counts }) {
  for (const name of counted) totals[name] += counts[name];
  const numbered = tap.replace(/^((?:not )?ok) \d+/gm, (_, verdict) => `${verdict} ${++number}`);
  if (numbered) console.log(numbered);
}

console.log('TAP version 13');
const failed = [];
const waiting = [...files];
async function work() {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const result = await runTestFile(file, options);
    if (result.hasPassed) print(result);
    else failed.push(result);
  }
}
await Promise.all(Array.from({ length: beside }, work));

for (const first of failed) {
  let last = first;
  for (let tries = 1; !last.hasPassed && tries < mostTries && failed.length <= mostRepeated; tries++) {
    console.log(`# failed at try ${tries}, and runs again: ${first.file}`);
    console.log(last.tap.replace(/^/gm, '# | '));
    last = await runTestFile(first.file, options);
  }
  if (last.hasPassed) unsteady.push(first.file);
  print(last);
}

console.log(`1..${number}`);
for (const file of unsteady) console.log(`# passed only when it ran again: ${file}`);
for (const name of counted) console.log(`# ${name} ${totals[name]}`);
console.log(`# duration_ms ${performance.now() - start}`);
process.exitCode = totals.fail + totals.cancelled === 0 ? 0 : 1;
