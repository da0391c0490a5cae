/**
 * The log of a thread's tests: what is in the file at each moment, because a death may come at any time, and what it counts.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CausalContext } from '../../../src/agent/record/causal-context.ts';
import { readTestLogs } from '../../../src/ci/report/test-logs.ts';
import { openTestLog, type TestLog } from '../../../src/testing/log.ts';
import { TestWatch } from '../../../src/testing/watch.ts';

function openWatch(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-test-log-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const log: TestLog = openTestLog(folder, 0, () => watch.restate());
  const watch: TestWatch = new TestWatch({ causal: new CausalContext(), folder, log });
  context.after(() => log.close());
  const told = (): string[] =>
    readTestLogs(folder).flatMap(({ tests }) => tests.map(({ name, status }) => `${name.at(-1)} ${status}`));
  return { folder, watch, log, told };
}

test('an end that waits is in the file with the next start, in one write; without one when told to settle', (context) => {
  const { watch, told } = openWatch(context);
  const first = watch.begin({ name: ['first'] });
  watch.end(first, 'passed', undefined, true);
  // If it were killed here, the file would name the test that ran last.
  assert.deepEqual(told(), ['first unfinished']);
  const second = watch.begin({ name: ['second'] });
  assert.deepEqual(told(), ['first passed', 'second unfinished']);
  watch.end(second, 'skipped', undefined, true);
  watch.settle();
  assert.deepEqual(told(), ['first passed', 'second skipped']);
});

test('what fails, what ends without a follower, a bundle and the goodbye wait for nothing', (context) => {
  const { watch, log, told, folder } = openWatch(context);
  watch.end(watch.begin({ name: ['fails'] }), 'failed', new Error('x'), true);
  assert.deepEqual(told(), ['fails failed']);
  watch.end(watch.begin({ name: ['alone'] }), 'passed');
  assert.deepEqual(told(), ['fails failed', 'alone passed']);
  watch.end(watch.begin({ name: ['before a bundle'] }), 'passed', undefined, true);
  watch.noteBundle('/b', 'uncaught-exception', false);
  assert.deepEqual(readTestLogs(folder)[0]?.bundles[0]?.running, []);
  watch.end(watch.begin({ name: ['last'] }), 'passed', undefined, true);
  log.close();
  assert.equal(told().at(-1), 'last passed');
});

test('hooks may be what runs, and are no tests', (context) => {
  const { watch, folder } = openWatch(context);
  const hook = watch.begin({ name: ['before each'], isHook: true });
  assert.equal(watch.describe()?.running[0]?.name[0], 'before each');
  watch.end(hook, 'skipped', undefined, true);
  watch.end(watch.begin({ name: ['adds'] }), 'passed', undefined, true);
  assert.equal(watch.describe()?.finished, 1);
  watch.settle();
  const [log] = readTestLogs(folder);
  assert.deepEqual(
    log?.tests.map(({ isHook = false }) => isHook),
    [true, false],
  );
});

test('a log that begins anew neither says twice nor forgets what waited', (context) => {
  const { watch, folder } = openWatch(context);
  const title = 'x'.repeat(400);
  const suite = Array.from({ length: 100 }, () => title);
  const tests = 450;
  for (let n = 0; n < tests; n++)
    watch.end(watch.begin({ name: [...suite, `${n}`] }), 'passed', undefined, true);
  watch.settle();
  const [log] = readTestLogs(folder);
  assert.ok((log?.dropped.finished ?? 0) > 0, 'it began anew');
  const ended = log?.tests.filter(({ status }) => status === 'passed').length ?? 0;
  assert.equal(ended + (log?.dropped.finished ?? 0), tests);
  const [name = ''] = readdirSync(folder);
  assert.ok(readFileSync(join(folder, name)).length < 17 * 1024 * 1024);
});
