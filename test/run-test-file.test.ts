/** What our own runner makes of a test file: in whatever way one ends, a failure must be seen. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

// It runs before there is anything that compiles TypeScript, and has no types.
const { runTestFile } = await import(`${new URL('support/run-test-file.mjs', import.meta.url)}`);
const folder = mkdtempSync(join(tmpdir(), 'agentdump-run-tests-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { NODE_TEST_CONTEXT: _, ...env } = process.env;

function run(source: string) {
  const file = join(folder, 'a.test.mjs');
  writeFileSync(file, `import { suite, test } from 'node:test';\n${source}`);
  return runTestFile(file, { cwd: folder, env, imports: [] });
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
