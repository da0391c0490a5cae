/**
 * Which bundles are problems of a run, and at which line: of a full heap, of what was seen before it filled up, of what was
 * handled.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeBundle } from '../../../src/ci/report/describe-bundle.ts';
import type { CiBundle, CiSummary } from '../../../src/model/ci-summary.ts';
import { renderCodeQuality } from '../../../src/report/ci/code-quality.ts';
import { renderCiMarkdown } from '../../../src/report/ci/markdown.ts';
import { renderCiText } from '../../../src/report/ci/text.ts';
import { problemsOf } from '../../../src/report/ci/wording.ts';
import { commonParts, synthParts, writeBundle } from '../../support/synth/synth-analysis-bundle.ts';

for (const [what, prefix] of [
  ['a path', ''],
  ['an address', 'file://'],
] as const)
  test(`${what}: the function that allocated the most`, async (context) => {
    const cwd = mkdtempSync(join(tmpdir(), 'agentdump-full-heap-'));
    context.after(() => rmSync(cwd, { recursive: true, force: true }));
    writeFileSync(
      join(cwd, 'cache.mjs'),
      'const kept = [];\nexport function keep(one) { kept.push(one); }\n',
    );
    const rows = [
      { bytes: 90, stack: ['push', `keep (${prefix}${cwd}/cache.mjs:2:8)`, 'run (node:internal/x:58:22)'] },
      { bytes: 5, stack: [`main (${prefix}${cwd}/main.mjs:9:1)`] },
    ];
    const common = commonParts();
    const path = writeBundle(
      join(cwd, '20261121T030405.678Z-agent-heap-out-of-memory-00112233.agentdump'),
      synthParts({
        'trigger.json': { ...(common['trigger.json'] as object), verdictKind: 'heap-out-of-memory' },
        'process.json': { ...(common['process.json'] as object), cwd },
        'heap-profile.json': { at: '2026-11-21T03:04:01.000Z', sampledBytes: 100, rows },
        'error.json': undefined,
      }),
    );
    const listed = {
      name: 'x',
      path,
      state: 'sealed',
      at: '',
      shortId: '00112233',
      bytes: 1,
      gaps: 0,
    } as const;
    const { facts } = await describeBundle(listed, []);
    assert.equal(facts.kind, 'heap-out-of-memory');
    assert.deepEqual({ ...facts.place, column: 0 }, { file: join(cwd, 'cache.mjs'), line: 2, column: 0 });
  });

test('a snapshot of memory that then ran out is no second problem; that of a process that lives is one', () => {
  const snapshot: CiBundle = { name: 'near.zip', bytes: 1, kind: 'snapshot', pid: 7 };
  const death: CiBundle = { name: 'full.zip', bytes: 1, kind: 'heap-out-of-memory', pid: 7 };
  const summary: CiSummary = {
    schema: 'agentdump.ci/1',
    command: ['npm', 'test'],
    outcome: { kind: 'failed', exitCode: 1 },
    tests: { finished: 1, failed: 0, unfinished: 0, telling: [] },
    bundles: [snapshot, death],
  };
  const names = (bundles: CiBundle[]) =>
    problemsOf({ ...summary, bundles }).map(({ bundle }) => bundle?.name);
  assert.deepEqual(names([snapshot, death]), ['full.zip']);
  assert.deepEqual(names([snapshot, { ...death, pid: 8 }]), ['near.zip', 'full.zip']);
});

test('a death that the program handled is a problem only where there is no other', () => {
  const worker: CiBundle = { name: 'worker.zip', bytes: 1, kind: 'startup-failure', pid: 7, handled: true };
  const death: CiBundle = { name: 'crash.zip', bytes: 1, kind: 'uncaught-exception', pid: 8 };
  const failed = { name: ['adds'], status: 'failed' as const };
  const summary: CiSummary = {
    schema: 'agentdump.ci/1',
    command: ['npm', 'test'],
    outcome: { kind: 'failed', exitCode: 1 },
    tests: { finished: 1, failed: 1, unfinished: 0, telling: [] },
    bundles: [worker],
  };
  const titles = (one: CiSummary) => problemsOf(one).map(({ bundle, test }) => bundle?.name ?? test);
  assert.deepEqual(titles(summary), ['worker.zip']);
  assert.deepEqual(titles({ ...summary, bundles: [worker, death] }), ['crash.zip']);
  assert.deepEqual(titles({ ...summary, tests: { ...summary.tests, telling: [failed] } }), ['adds']);
});

test('an error that a runner heard, of a test that had ended: it comes before the tests that it cut or failed', () => {
  const late: CiBundle = {
    name: 'late.zip',
    bytes: 1,
    kind: 'uncaught-exception',
    title: 'Error: late window at a.js:3:5',
    pid: 7,
    handled: true,
    test: { file: 'a.js', name: ['opens'] },
    unfinished: [{ file: 'a.js', name: ['closes'] }],
  };
  const closes = { file: 'a.js', name: ['closes'], startedAt: '' };
  const problems = (telling: CiSummary['tests']['telling'], bundles = [late]) =>
    problemsOf({
      schema: 'agentdump.ci/1',
      command: ['npm', 'test'],
      outcome: { kind: 'failed', exitCode: 1 },
      tests: { finished: 1, failed: 0, unfinished: 1, telling },
      bundles,
    } as CiSummary).map(({ test, title }) => `${test}: ${title}`);
  const opened = 'opens: Error: late window at a.js:3:5';
  assert.deepEqual(problems([{ ...closes, status: 'unfinished' }]), [opened, 'closes: It did not finish']);
  const error = { name: 'Error', message: 'late window' };
  assert.deepEqual(problems([{ ...closes, status: 'failed', error }]), [
    opened,
    'closes: Error: late window, from “opens”',
  ]);
  const own = { name: 'Error', message: 'done() called twice' };
  const rejected: CiBundle = {
    name: 'own.zip',
    bytes: 1,
    kind: 'unhandled-rejection',
    title: 'Error: done() called twice',
  };
  assert.deepEqual(
    problems([{ ...closes, status: 'failed', error: own, bundle: 'own.zip' }], [rejected, late]),
    [opened, 'closes: Error: done() called twice'],
  );
  // If no test of that time failed of it, it is one of the deaths that tests cause on purpose.
  assert.deepEqual(problems([{ ...closes, name: ['another'], status: 'failed', error }]), [
    'another: Error: late window',
  ]);
});

test('what was handled after its test had ended comes after the tests that failed, and a repeat is no entry of its own', () => {
  const passed = { name: ['closes'], file: 'close.js' };
  const late: CiBundle = {
    name: 'late.zip',
    bytes: 1,
    kind: 'unhandled-rejection',
    title: 'Error: gone at close.js:3:1',
    handled: true,
    late: true,
    test: passed,
  };
  const failed = (name: string, message: string) => ({
    name: [name],
    file: 'adds.js',
    status: 'failed' as const,
    error: { name: 'Error', message },
  });
  const first: CiBundle = {
    name: 'first.zip',
    bytes: 1,
    kind: 'uncaught-exception',
    title: 'Error: broken at adds.js:7:2',
    test: { name: ['adds'], file: 'adds.js' },
    again: { times: 1, tests: [{ name: ['adds more'], file: 'adds.js' }] },
  };
  const summary: CiSummary = {
    schema: 'agentdump.ci/1',
    command: ['npm', 'test'],
    outcome: { kind: 'failed', exitCode: 1 },
    tests: {
      finished: 4,
      failed: 3,
      unfinished: 0,
      telling: [
        { ...failed('adds', 'broken'), bundle: 'first.zip' },
        failed('adds more', 'broken'),
        failed('subtracts', 'other'),
      ],
    },
    bundles: [late, first],
  };
  assert.deepEqual(
    problemsOf(summary).map(({ test }) => test),
    ['adds', 'subtracts', 'closes'],
  );
  const text = renderCiText(summary, 'report');
  assert.match(text, /closes: Error: gone[^\n]*\n +close\.js\n +its test had ended; a handler/);
});

test('tests of one file that did not finish are one entry, behind those that failed', () => {
  const cut = (name: string, file = 'redirects.ts') => ({
    name: [name],
    file,
    status: 'unfinished' as const,
  });
  const summary: CiSummary = {
    schema: 'agentdump.ci/1',
    command: ['npm', 'test'],
    outcome: { kind: 'failed', exitCode: 1 },
    tests: {
      finished: 1,
      failed: 1,
      unfinished: 6,
      telling: [
        ...['a', 'b', 'c', 'd', 'e'].map((name) => cut(name)),
        cut('alone', 'retry.ts'),
        { name: ['retries'], file: 'retry.ts', status: 'failed', error: { name: 'Error', message: 'late' } },
      ],
    },
    bundles: [],
  };
  assert.deepEqual(renderCiText(summary, 'report').split('\n').slice(1, -1), [
    '  ✖ retries: Error: late',
    '    retry.ts',
    '  ✖ 5 tests did not finish: “a”, “b”, “c” and 2 others',
    '    redirects.ts',
    '  ✖ alone: It did not finish',
    '    retry.ts',
  ]);
});

test('a test that the runner failed for another reason than what its bundle is about: that is said, with the time that writing took', () => {
  const bundle: CiBundle = {
    name: 'b.zip',
    bytes: 1,
    kind: 'unhandled-rejection',
    title: 'Test “sets a cookie”: RangeError: jar is full at lib/response.js:7:9',
    handled: true,
    tookMs: 2_100,
  };
  const summaryOf = (message: string, durationMs: number): CiSummary => ({
    schema: 'agentdump.ci/1',
    command: ['mocha'],
    outcome: { kind: 'failed', exitCode: 1 },
    tests: {
      finished: 1,
      failed: 1,
      unfinished: 0,
      telling: [
        { name: ['sets a cookie'], status: 'failed', durationMs, error: { message }, bundle: 'b.zip' },
      ],
    },
    bundles: [bundle],
  });
  const text = renderCiText(summaryOf('Timeout of 2000ms exceeded.', 2_400), 'r');
  assert.match(text, /✖ sets a cookie: RangeError: jar is full at lib\/response\.js:7:9/);
  assert.match(
    text,
    /the test failed with “Timeout of 2000ms exceeded\.”; writing the bundle took 2\.1 s of its 2\.4 s/,
  );
  const slow = renderCiText(summaryOf('Timeout of 30000ms exceeded.', 30_100), 'r');
  assert.match(slow, /the test failed with “Timeout of 30000ms exceeded\.”\n/);
  assert.doesNotMatch(renderCiText(summaryOf('jar is full', 2_400), 'r'), /the test failed with/);
});

test('a stall that ended and an exit that a passed test expected are not listed beside a failure, and are not called handled', () => {
  const exit: CiBundle = { name: 'exit.zip', bytes: 1, kind: 'exit', pid: 8, aside: 'expected' };
  const stall: CiBundle = {
    name: 'stall.zip',
    bytes: 1,
    kind: 'event-loop-hang',
    pid: 7,
    late: true,
    aside: 'recovered',
  };
  const summary: CiSummary = {
    schema: 'agentdump.ci/1',
    command: ['npm', 'test'],
    outcome: { kind: 'failed', exitCode: 1 },
    tests: {
      finished: 1,
      failed: 1,
      unfinished: 0,
      telling: [{ name: ['pays'], status: 'failed', error: { message: 'the total is wrong' } }],
    },
    bundles: [exit, stall],
  };
  assert.deepEqual(
    problemsOf(summary).map(({ test }) => test),
    ['pays'],
  );
  const markdown = renderCiMarkdown(summary, 'r');
  assert.match(markdown, /`exit` · its test passed/);
  assert.match(markdown, /`event-loop-hang` · it recovered/);
  assert.doesNotMatch(markdown, /handled by the program|a handler/);
  // Where nothing else failed, they may be the reason.
  const alone = { ...summary, tests: { ...summary.tests, failed: 0, telling: [] } };
  assert.equal(problemsOf(alone).length, 2);
});

test('the same death twice in one test is one entry of the log, and comes before the tests that did not finish', () => {
  const late: CiBundle = {
    name: 'a-00000001.agentdump.zip',
    bytes: 1,
    kind: 'uncaught-exception',
    title: 'Error: gone at a.js:3:5',
    signature: 'aa',
    handled: true,
    late: true,
    test: { file: 'a.js', name: ['opens'] },
  };
  const summary = {
    schema: 'agentdump.ci/1',
    command: ['npm', 'test'],
    outcome: { kind: 'failed', exitCode: 1 },
    tests: {
      finished: 1,
      failed: 0,
      unfinished: 1,
      telling: [{ file: 'a.js', name: ['closes'], startedAt: '', status: 'unfinished' }],
    },
    bundles: [late, { ...late, name: 'b-00000002.agentdump.zip' }],
  } as unknown as CiSummary;
  const text = renderCiText(summary, 'report');
  assert.equal(text.match(/✖ opens: Error: gone/g)?.length, 1, text);
  assert.match(text, /the same in 1 other bundle of the report/);
  assert.ok(text.indexOf('opens: Error') < text.indexOf('closes: It did not finish'), text);
  const rows = renderCiMarkdown(summary, 'report').match(/^\| opens \|/gm);
  assert.equal(rows?.length, 1);
  assert.equal((JSON.parse(renderCodeQuality(summary, (one) => one)) as unknown[]).length, 2);
  const another = { ...late, name: 'c.zip', test: { file: 'a.js', name: ['reads'] } };
  const two = renderCiText({ ...summary, bundles: [late, another] }, 'report');
  assert.equal(two.match(/Error: gone/g)?.length, 2, two);
});
