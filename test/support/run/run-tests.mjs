// Runs the test files (all, or those whose path contains one of the arguments), some beside each other, and prints one TAP
// document. Without --all (`npm test`): on the Node that is there, with nothing else installed; what that leaves out is
// named in one closing line. With --all (`npm run test:all`): also the files *.wide.test.ts, all Nodes, oracles, real
// clients and runners. A test that fails is told when it fails. A file in which a test failed runs again, alone, up to
// twice, unless it had not ended after ten minutes; what passed only then is named at the end with the reason of its first
// failure, and with AGENTDUMP_TESTS_STEADY too many such files fail the run (second-tries.mjs). With --changed: only the files
// that a change touches (changed-tests.mjs). AGENTDUMP_TESTS_TURN, a number of commits or a commit: a part of the wide
// files (files-in-turn.mjs). AGENTDUMP_TESTS_PASSED: a file in which `npm test` notes what passed whole, and by which --all leaves
// out what would be the same tests once more.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sameInBothRuns, sameWithMoreInputs } from './both-runs.mjs';
import { changedFiles, touchedTests } from './changed-tests.mjs';
import { compiledName, compileTests, nameSources } from './compile-tests.mjs';
import { filesOfEachTurn, inTurn, runsBefore } from './files-in-turn.mjs';
import { secondsOfChildren, takeSecondsOfEnded, watchMachine } from './machine-load.mjs';
import { filesBeside, longestFirst } from './run-order.mjs';
import { counted, runTestFile } from './run-test-file.mjs';
import { mostRaces, whyTolerated } from './second-tries.mjs';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const isWide = process.argv.includes('--all') || process.env.AGENTDUMP_TESTS === 'all';
const words = process.argv.slice(2).filter((word) => word !== '--all');
const passedList = process.env.AGENTDUMP_TESTS_PASSED;
const turn = process.env.AGENTDUMP_TESTS_TURN;
const ofEachTurn = filesOfEachTurn(root);
const isOfChange = words[0] === '--changed';
if (isOfChange && words[1] === '--since' && !words[2]) throw new Error('--since needs a revision');
const changed = isOfChange ? changedFiles(root, words[1] === '--since' ? words[2] : undefined) : [];
const wanted = isOfChange ? [] : words;
const mustBeSteady = process.env.AGENTDUMP_TESTS_STEADY === '1';
const mostTries = 3;
/** More files than these fail for a reason. */
const mostRepeated = 8;
const slowestTold = 20;
/** Below `agentdump ci` the test processes have its preload, and their children nothing of it. */
const isRecorded = process.env.AGENTDUMP_CI !== undefined;
const options = {
  cwd: root,
  // In the wide run each file has what one starts it with by hand.
  imports: [
    ...(isRecorded ? ['./test/support/run/clean-environment.mjs'] : []),
    './test/support/run/load-typescript.mjs',
    './test/support/run/quick-messages.mjs',
    './test/support/run/child-lives.mjs',
  ],
  env: {
    ...process.env,
    LC_ALL: 'C',
    TZ: 'UTC',
    NODE_OPTIONS: (isRecorded && process.env.NODE_OPTIONS) || '',
    NO_COLOR: '',
    AGENTDUMP_TESTS: isWide ? 'all' : '',
  },
  onFailure: (failure) => console.log(asComment(failure)),
  startedAs: compiledName,
  named: nameSources,
};

function optionsOf(file) {
  if (!turn) return options;
  return { ...options, env: { ...options.env, AGENTDUMP_TESTS_TURN: runsBefore(turn, file, ofEachTurn) } };
}

const asComment = (text) => text.replace(/^/gm, '# ');

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

const isWideFile = (file) => file.endsWith('.wide.test.ts');
const found = findTests(join(root, 'test')).filter(
  (f) => !wanted.length || wanted.some((w) => f.includes(w)),
);
const possible = found.filter((file) => isWide || !isWideFile(file));
const { touched: files, leftOut: untouched } = isOfChange
  ? touchedTests(root, possible, changed)
  : { touched: filesDue(withoutRepeats(possible)), leftOut: 0 };
if (isOfChange) {
  console.log(`# ${files.length} of ${possible.length} test files for a change of ${changed.length} files`);
  if (untouched) console.log(`# ${untouched} more run the built program: npm test`);
  if (!files.length) process.exit(0);
}
if (!files.length) {
  const [first] = found;
  console.error(
    first === undefined
      ? `no test file matches ${wanted.join(', ')}`
      : `${first} belongs to the wide run: node test/support/run/run-tests.mjs --all ${wanted.join(' ')}`,
  );
  process.exit(2);
}

const start = performance.now();
await compileTests();
takeSecondsOfEnded();
const totals = Object.fromEntries(counted.map((name) => [name, 0]));
/** Why a test was left out, and how many were. */
const leftOut = new Map();
/** The wide run installs what it needs: who skips for want of that has a fault. */
const notInstalled = new Set();
const durations = [];
const passedWhole = [];
const unsteady = [];
const hung = [];
let number = 0;

/** Numbers a file's tests on from those before. */
function print({ file, hasPassed, tap, counts, skipped, seconds, processorSeconds, hungAtEnd }) {
  durations.push({ file, seconds, processorSeconds });
  if (hungAtEnd) hung.push(file);
  if (hasPassed && counts.skipped === 0) passedWhole.push(file);
  if (!isWide) {
    for (const reason of skipped) leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
    counts.tests -= counts.skipped;
    counts.skipped = 0;
  }
  for (const reason of skipped)
    if (/npm ci|not installed/.test(reason)) notInstalled.add(`${file}: ${reason}`);
  for (const name of counted) totals[name] += counts[name];
  const lines = isWide
    ? tap
    : tap.replace(/(?:^ *# Subtest: .*\n)?^ *ok \d+ - .* # SKIP.*(?:\n +---\n[\s\S]*?\n +\.\.\.)?\n?/gm, '');
  const numbered = lines.replace(/^((?:not )?ok) \d+/gm, (_, verdict) => `${verdict} ${++number}`);
  if (numbered) console.log(numbered);
}

console.log('TAP version 13');
const failed = [];
const waiting = longestFirst(files);
async function work() {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const endWatch = watchMachine();
    const failures = [];
    const onFailure = (failure) => {
      failures.push(failure);
      options.onFailure(failure);
    };
    const result = await runTestFile(file, { ...optionsOf(file), onFailure });
    const overload = endWatch();
    if (result.hasPassed) print(result);
    else failed.push({ ...result, overload, failures });
  }
}
await Promise.all(Array.from({ length: filesBeside }, work));

for (const first of failed) {
  let last = first;
  const mayRepeat = () => !last.hasPassed && !last.wasTooLong && failed.length <= mostRepeated;
  for (let tries = 1; tries < mostTries && mayRepeat(); tries++) {
    console.log(`# failed at try ${tries}, and runs again: ${first.file}`);
    last = await runTestFile(first.file, optionsOf(first.file));
  }
  if (last.hasPassed)
    unsteady.push({
      file: first.file,
      failures: first.failures,
      tolerated: whyTolerated(first.file, first.overload),
    });
  print(last);
}

console.log(`1..${number}`);
console.log(`# slowest: ${describeLargest('seconds')}`);
console.log(`# most seconds of processor: ${describeLargest('processorSeconds')}`);
for (const file of hung) console.log(`# had reported everything and did not end: ${file}`);
console.log(`# seconds of processor by folder: ${describeFolders()}`);
console.log(`# seconds of processor: ${secondsOfChildren().toFixed(0)}`);
for (const { file, failures, tolerated } of unsteady) {
  console.log(`# passed only when it ran again: ${file} (${tolerated ?? 'a race to find, not on the list'})`);
  // Once more, because a log may be kept only from its end.
  for (const failure of failures) console.log(asComment(failure));
}
if (isWide) for (const what of notInstalled) console.log(`# skipped for want of an install: ${what}`);
else console.log(`# left to npm run test:all: ${describeLeftOut()}`);
for (const name of counted) console.log(`# ${name} ${totals[name]}`);
console.log(`# duration_ms ${performance.now() - start}`);
if (!isWide && passedList) writeFileSync(passedList, passedWhole.map((file) => `${file}\n`).join(''));
const races = unsteady.filter(({ tolerated }) => tolerated === undefined).length;
const isTooUnsteady = mustBeSteady && races > mostRaces;
if (isTooUnsteady) console.log(`# ${races} files with a race: more than ${mostRaces} fail the run`);
const faults = totals.fail + totals.cancelled + (isWide ? notInstalled.size : 0);
process.exitCode = faults === 0 && !isTooUnsteady ? 0 : 1;

/** Those that `npm test` passed whole, of these files. */
function passedBefore(all) {
  if (!isWide || !passedList || !existsSync(passedList)) return [];
  const passed = new Set(readFileSync(passedList, 'utf8').split('\n'));
  return all.filter((file) => passed.has(file));
}

function withoutRepeats(all) {
  const passed = passedBefore(all);
  if (!passed.length) return all;
  const repeats = new Set(sameInBothRuns(root, passed));
  console.log(
    `# ${repeats.size} files that npm test passed, and that have nothing more to test, are left out`,
  );
  return all.filter((file) => !repeats.has(file));
}

function filesDue(all) {
  if (!isWide || !turn) return all;
  const alsoOnce = new Set(sameWithMoreInputs(root, passedBefore(all)));
  const { number, due, later } = inTurn(turn, all, ofEachTurn, alsoOnce);
  console.log(
    `# turn ${number}: ${later.length} wide files, or of more generated inputs, run with other commits`,
  );
  return due;
}

/** @param {'seconds' | 'processorSeconds'} measure */
function describeLargest(measure) {
  const largest = durations.sort((a, b) => b[measure] - a[measure]).slice(0, slowestTold);
  return largest.map((one) => `${one.file} ${one[measure].toFixed(1)} s`).join(', ');
}

function describeFolders() {
  const folders = new Map();
  for (const { file, processorSeconds } of durations) {
    const folder = dirname(relative('test', file));
    folders.set(folder, (folders.get(folder) ?? 0) + processorSeconds);
  }
  const longestFirst = [...folders].sort(([, a], [, b]) => b - a);
  return longestFirst.map(([folder, seconds]) => `${folder} ${seconds.toFixed(0)}`).join(', ');
}

function describeLeftOut() {
  const wideFiles = found.filter(isWideFile);
  const places = new Set(wideFiles.map((file) => file.split('/').slice(1, -1).join('/')));
  const reasons = [...leftOut].map(([reason, count]) => `${count} for: ${reason}`);
  const ofFiles = wideFiles.length ? [`${wideFiles.length} files of ${[...places].join(', ')}`] : [];
  return ['the other Nodes', ...ofFiles, ...reasons].join('; ');
}
