/** How our own runner reports a test file: a failure must be seen, in whatever way the file ends. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

// Imported dynamically: it runs before anything that compiles TypeScript, and has no types.
const { runTestFile } = await import(`${new URL('run-test-file.mjs', import.meta.url)}`);
const folder = mkdtempSync(join(tmpdir(), 'agentdump-run-tests-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { NODE_TEST_CONTEXT: _, ...env } = process.env;

function run(source: string, more = {}) {
  const file = join(folder, 'a.test.mjs');
  writeFileSync(file, `import { suite, test } from 'node:test';\n${source}`);
  return runTestFile(file, { cwd: folder, env, imports: [], ...more });
}

test('tests are told and counted; what the file printed is a comment', async () => {
  const { hasPassed, tap, counts } = await run(`
    suite('a suite', () => { test('one', () => {}); test('two', { skip: 'why' }, () => {}); });
    test('three', () => console.log('not ok 1 - printed'));`);
  assert.equal(hasPassed, true);
  const { tests, suites, pass, fail, skipped } = counts;
  assert.deepEqual(
    { tests, suites, pass, fail, skipped },
    { tests: 3, suites: 1, pass: 2, fail: 0, skipped: 1 },
  );
  assert.match(tap, /^ {4}ok 2 - two # SKIP why$/m);
  assert.match(tap, /^# not ok 1 - printed$/m);
  assert.doesNotMatch(tap, /^not ok|^1\.\.|^TAP/m);
});

for (const [how, source, reason] of [
  [
    'a failed test',
    `test('one', () => {}); test('two', () => { throw new Error('no') });`,
    /^not ok 2 - two$/m,
  ],
  ['an end before its tests', `test('one', () => {}); process.exit(0);`, /ended with no report/],
  ['a code of its own', `test('one', () => {}); process.on('exit', () => process.exit(3));`, /exit code 3/],
  ['a signal', `test('one', () => {}); process.kill(process.pid, 'SIGKILL');`, /ended with SIGKILL/],
  ['an error at its start', `test('one', () => {}); throw new Error('no');`, /^not ok/m],
] as const)
  test(`a file fails by ${how}`, async () => {
    const { hasPassed, tap, counts } = await run(source);
    assert.equal(hasPassed, false);
    assert.equal(counts.fail, tap.match(/^not ok/gm)?.length);
    assert.equal(counts.fail, 1);
    assert.match(tap, reason);
  });

test('a file whose process hangs after its report has passed, and is named', async () => {
  const { hasPassed, hungAtEnd, counts } = await run(
    `test('one', () => {});
    process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));`,
    { endMs: 400 },
  );
  assert.deepEqual(
    { hasPassed, hungAtEnd, tests: counts.tests },
    { hasPassed: true, hungAtEnd: true, tests: 1 },
  );
});

test('a file has ended when its process has, whoever keeps its pipes', async () => {
  const { hasPassed, hungAtEnd, seconds } = await run(
    `import { spawn } from 'node:child_process';
    test('one', () => spawn('sleep', ['120'], { stdio: 'inherit', detached: true }).unref());`,
    { pipesMs: 100 },
  );
  assert.deepEqual({ hasPassed, hungAtEnd }, { hasPassed: true, hungAtEnd: false });
  assert.ok(seconds < 100, `it took ${seconds} s, as long as what kept them`);
});

const lives = new URL('child-lives.mjs', import.meta.url).href;
for (const [how, start] of [
  ['waited for synchronously', `spawnSync('sleep', ['300'])`],
  ['of execFileSync', `execFileSync('sleep', ['300'], { encoding: 'utf8' })`],
  ['of execSync', `execSync('exec sleep 300')`],
  ['waited for', `await new Promise((end) => spawn('sleep', ['300']).on('close', end))`],
] as const)
  test(`a child that never ends is ended and named: one ${how}`, async () => {
    const { tap } = await run(
      `import { execFileSync, execSync, spawn, spawnSync } from 'node:child_process';
      test('one', async () => { ${start}; });`,
      { env: { ...env, AGENTDUMP_TEST_CHILD_MS: '300' }, imports: [lives] },
    );
    assert.match(tap, /^# a child of this test had not ended after 0.3 s and was killed: .*sleep 300$/m);
  });

const { describeOverload } = await import(`${new URL('machine-load.mjs', import.meta.url)}`);
const { knownRaces, whyTolerated } = await import(`${new URL('second-tries.mjs', import.meta.url)}`);

test('a file that passed only when it ran again counts as a race, but for an overload or a race that is on the list', () => {
  const races = [{ file: 'test/a.test.ts', since: '2026-11-26', reason: 'a pid may be given again' }];
  assert.equal(whyTolerated('test/b.test.ts', undefined, races), undefined);
  assert.equal(
    whyTolerated('test/a.test.ts', undefined, races),
    'known since 2026-11-26: a pid may be given again',
  );
  assert.equal(whyTolerated('test/b.test.ts', 'a load of 17', races), 'overload: a load of 17');
});

test('an overload is what three test files beside each other do not make', () => {
  const quiet = { load: 5, lateMs: 200, stolen: 0.01, cores: 2 };
  assert.equal(describeOverload(quiet), undefined);
  assert.equal(describeOverload({ ...quiet, load: 17.2 }), 'a load of 17 on 2 cores');
  assert.equal(describeOverload({ ...quiet, lateMs: 1_510 }), 'no turn for any process for 1.5 s');
  assert.equal(describeOverload({ ...quiet, stolen: 0.4 }), '40 % of the time given to other machines');
});

test('every known race is of a file that is there, with a day and a reason', () => {
  for (const { file, since, reason } of knownRaces) {
    assert.ok(
      existsSync(new URL(`../../../${file}`, import.meta.url)),
      `${file} is gone: take it from the list`,
    );
    assert.match(since, /^\d{4}-\d\d-\d\d$/);
    assert.ok(reason.length > 20, file);
  }
});

test('a stack names the sources of what was compiled', async () => {
  const { nameSources } = await import(`${new URL('compile-tests.mjs', import.meta.url)}`);
  assert.equal(
    nameSources(
      'at x (file:///a/.tests/test/b/c.test.js:3:7)\n  /a/.tests/src/d.js /a/.tests/empty-store-1/e.js',
    ),
    'at x (file:///a/test/b/c.test.ts:3:7)\n  /a/src/d.ts /a/.tests/empty-store-1/e.js',
  );
  const stack = nameSources(`${new Error('no').stack}`);
  assert.match(stack, /run-test-file\.test\.ts:\d+:/);
});
