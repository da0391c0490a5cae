/**
 * What the report says about a run, whatever a program put into its names and messages; the logs it is made from; the
 * baseline.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { detectService, readDuration, timeLeftMs } from '../../../src/ci/environment.ts';
import { compareWithBaseline, readBaseline } from '../../../src/ci/report/diff.ts';
import { measureGrowth } from '../../../src/ci/report/leak-check.ts';
import { keepNames } from '../../../src/ci/report/names-only.ts';
import { readThread, startingTest } from '../../../src/ci/report/test-logs.ts';
import { readWords } from '../../../src/cli/commands/ci.ts';
import type { CiSummary } from '../../../src/model/ci-summary.ts';
import { renderAzureCommands, renderGitHubAnnotations } from '../../../src/report/ci/annotations.ts';
import { renderCodeQuality } from '../../../src/report/ci/code-quality.ts';
import { renderJunit } from '../../../src/report/ci/junit.ts';
import { renderCiMarkdown } from '../../../src/report/ci/markdown.ts';
import { renderCiText } from '../../../src/report/ci/text.ts';

const hostile =
  'x\n::set-output name=a::b\n##vso[task.setvariable variable=a]b\r]]></x>[[ATTACHMENT|/etc/passwd]] <img> @all';

function summaryOf(text: string): CiSummary {
  return {
    schema: 'agentdump.ci/1',
    command: ['npm', 'test'],
    outcome: { kind: 'failed', exitCode: 1 },
    durationMs: 1200,
    tests: {
      finished: 2,
      failed: 1,
      unfinished: 0,
      telling: [
        {
          name: ['booking', text],
          file: `test/${text}.ts`,
          status: 'failed',
          error: { name: 'Error', message: text, stackText: text },
          place: { file: 'test/a.ts', line: 14, column: 3 },
        },
      ],
    },
    bundles: [
      {
        name: 'a.agentdump.zip',
        bytes: 10,
        kind: 'uncaught-exception',
        title: text,
        summary: text,
        signature: 's1',
      },
    ],
    processes: [{ entry: 'test/a.ts', tests: 2, handles: { Timeout: 2 }, heapUsedBytes: 50e6 }],
  };
}

test('no program smuggles a command into the job’s log', () => {
  const summary = summaryOf(hostile);
  const lines = renderGitHubAnnotations(summary);
  assert.equal(lines.length, 2);
  for (const line of lines) {
    assert.doesNotMatch(line, /[\r\n]/);
    assert.match(line, /^::error [^\r\n]*::/);
  }
  const azure = renderAzureCommands(summary, '/w/agentdump-report/summary.md');
  for (const line of azure)
    assert.match(
      line,
      /^##vso\[(?:task\.logissue|task\.uploadsummary|artifact\.upload)[^\]\r\n]*\][^\r\n]*$/,
    );
  for (const document of [
    renderCiMarkdown(summary, 'agentdump-report'),
    renderCiText(summary, 'agentdump-report'),
  ]) {
    assert.doesNotMatch(document, /^\s*::/m);
    assert.doesNotMatch(document, /##vso\[/);
    assert.doesNotMatch(document, /\r/);
  }
});

test('a GitHub annotation stands on the line that was written', () => {
  const [line = ''] = renderGitHubAnnotations(summaryOf('books: the cheapest, 100%')).slice(-1);
  assert.match(
    line,
    /^::error file=test\/a\.ts,line=14,col=3,title=booking › books%3A the cheapest%2C 100%25::/,
  );
});

test('what a failed test says is said once, on one line, and without columns that hold nothing', () => {
  const message =
    'Expected values to be loosely deep-equal:\n\n[\n  1\n]\n\nshould loosely deep-equal\n\n[\n  2\n]';
  const summary = { ...summaryOf('x'), bundles: [] };
  const test = { ...summary.tests.telling[0], name: ['adds'], status: 'failed' as const };
  summary.tests.telling = [{ ...test, error: { name: 'AssertionError', message } }];
  const line =
    'AssertionError: Expected values to be loosely deep-equal: [ 1 ] should loosely deep-equal [ 2 ]';
  assert.ok(renderCiText(summary, 'agentdump-report').includes(`\n  ✖ adds: ${line}\n    test/a.ts:14\n`));
  assert.match(
    renderGitHubAnnotations(summary).join('\n'),
    /::AssertionError: Expected values to be loosely deep-equal:%0A%0A\[%0A {2}1%0A\]%0A%0Ashould/,
  );
  assert.match(
    renderCiMarkdown(summary, 'agentdump-report'),
    /\n\| Test \| What happened \| Where \|\n\| --- \| --- \| --- \|\n\| adds \|/,
  );
});

test('a bundle says its test and the line; a title that names the test is not preceded by the name', () => {
  const summary = summaryOf('“adds” hung: no progress for 3 s');
  const [bundle] = summary.bundles;
  assert.ok(bundle);
  const place = { file: 'lib/add.ts', line: 30 };
  summary.bundles = [{ ...bundle, place, test: { name: ['adds'], file: 'test/a.ts' } }];
  assert.match(renderCiMarkdown(summary, 'r'), /\n\nTest: \*\*adds\*\*\n\nAt `lib\/add\.ts:30`\n\n/);
  assert.match(renderCiText(summary, 'agentdump-report'), /\n {2}✖ “adds” hung: no progress for 3 s\n/);
});

test('JUnit holds our attachment lines and no others, and nothing that is no XML', () => {
  const xml = renderJunit(summaryOf(hostile), '/w/agentdump-report');
  assert.deepEqual(
    [...xml.matchAll(/\[\[ATTACHMENT\|([^\]]*)\]\]/g)].map((match) => match[1]),
    ['/w/agentdump-report/bundles/a.agentdump.zip'],
  );
  assert.doesNotMatch(xml, /<img|]]>/);
  assert.match(xml, /<testsuites name="agentdump" tests="2" failures="1" errors="1">/);
});

test('GitLab gets a finding a problem, with a path and a line', () => {
  const findings = JSON.parse(renderCodeQuality(summaryOf('a'), (text) => `h${text.length}`)) as object[];
  assert.deepEqual((findings[0] as { location: object }).location, {
    path: 'test/a.ts',
    lines: { begin: 14 },
  });
});

test('a log is read up to the torn line of a death', () => {
  const lines = [
    {
      kind: 'process',
      atMs: Date.parse('2026-01-01T00:00:00Z'),
      pid: 7,
      parentPid: 3,
      threadId: 0,
      program: 'x',
      argv: [],
      cwd: '/',
      nodeVersion: 'v20',
    },
    { kind: 'runner', runner: 'jest', file: '/a.test.js' },
    { kind: 'start', id: 1, name: ['s', 'one'], startedMs: Date.parse('2026-01-01T00:00:01Z') },
    { kind: 'end', id: 1, status: 'passed', tookMs: 3 },
    { kind: 'start', id: 2, name: ['s', 'two'], startedMs: Date.parse('2026-01-01T00:00:02Z') },
    { kind: 'bundle', path: '/b', trigger: 'uncaught-exception', handled: true },
  ].map((line) => JSON.stringify(line));
  const thread = readThread(
    7,
    0,
    `${lines.join('\n')}\nnull\n7\n{"kind":"start","id":3,"name":"no list","startedMs":1}\n{"kind":"start","id":4,"name":["x"],"startedMs":1e99}\n{"kind":"end","i`,
  );
  assert.deepEqual(
    thread.tests.map(({ name, status }) => [name.at(-1), status]),
    [
      ['one', 'passed'],
      ['two', 'unfinished'],
    ],
  );
  assert.deepEqual(
    thread.bundles[0]?.running.map(({ name }) => name),
    [['s', 'two']],
  );
  const child = readThread(
    9,
    0,
    JSON.stringify({
      ...JSON.parse(lines[0] ?? ''),
      pid: 9,
      parentPid: 7,
      atMs: Date.parse('2026-01-01T00:00:03Z'),
    }),
  );
  assert.deepEqual(startingTest([thread, child], 9)?.name, ['s', 'two']);
});

test('the baseline tells what is new, seen before, and gone', () => {
  const before = summaryOf('a');
  const after = summaryOf('b');
  after.bundles = [{ name: 'b', bytes: 1, signature: 's2', title: 'new' }];
  after.processes = [{ entry: 'test/a.ts', tests: 2, handles: { Timeout: 3 }, heapUsedBytes: 90e6 }];
  const difference = compareWithBaseline('/base', before, after);
  assert.deepEqual(
    difference.signatures.map(({ id, state }) => [id, state]),
    [
      ['s2', 'first'],
      ['s1', 'gone'],
    ],
  );
  assert.deepEqual(difference.handles, [{ entry: 'test/a.ts', kind: 'Timeout', before: 2, after: 3 }]);
  assert.equal(difference.memory[0]?.afterBytes, 90e6);
});

test('a baseline that is no summary is refused', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-baseline-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.equal(readBaseline(folder), undefined);
  for (const text of [
    '',
    'null',
    '[]',
    '{}',
    '{"schema":"agentdump.ci/1"}',
    '{"schema":"agentdump.ci/1","bundles":[null]}',
  ]) {
    writeFileSync(join(folder, 'summary.json'), text);
    assert.throws(() => readBaseline(folder), { code: 'malformed-input' }, text);
  }
});

test('growth is the median of the last third against that of the first', () => {
  assert.equal(measureGrowth([1, 2, 3, 4, 5]), undefined);
  const { first, last, samples } = measureGrowth([10, 11, 90, 12, 13, 14, 20, 30, 21]) ?? {};
  assert.deepEqual({ first, last, samples }, { first: 11, last: 21, samples: 3 });
});

test('a leak grows all the time, a load in a step', () => {
  const leak = Array.from({ length: 30 }, (_, at) => 10 + at);
  const load = Array.from({ length: 30 }, (_, at) => (at < 12 ? 10 : 40) + (at % 2));
  const spikes = leak.map((bytes, at) => bytes + (at % 5 === 0 ? 100 : 0));
  assert.ok((measureGrowth(leak)?.steadyShare ?? 0) > 0.9);
  assert.ok((measureGrowth(spikes)?.steadyShare ?? 0) > 0.8);
  assert.ok((measureGrowth(load)?.steadyShare ?? 1) < 0.1);
});

test('a leak still grows at the end, a cache is full by then', () => {
  const cache = Array.from({ length: 30 }, (_, at) => 10 + Math.min(at, 18));
  const slowed = Array.from({ length: 30 }, (_, at) => 10 + (at < 20 ? at : 20 + (at - 20) / 2));
  const dips = Array.from({ length: 6 }, (_, at) => 10 + at - (at === 5 ? 1 : 0));
  assert.equal(measureGrowth(cache)?.lateShare, 0);
  assert.ok((measureGrowth(slowed)?.lateShare ?? 0) > 0.15);
  assert.ok((measureGrowth(dips)?.lateShare ?? 0) > 0.2);
});

test('services and their limits', () => {
  assert.equal(detectService({ GITHUB_ACTIONS: 'true' }), 'github');
  assert.equal(detectService({ TF_BUILD: 'True' }), 'azure');
  assert.equal(readDuration('1.5m'), 90_000);
  assert.equal(readDuration('soon'), undefined);
  const now = Date.parse('2026-01-01T00:10:00Z');
  const gitlab = { CI_JOB_TIMEOUT: '3600', CI_JOB_STARTED_AT: '2026-01-01T00:00:00Z' };
  assert.equal(timeLeftMs(gitlab, now), 50 * 60_000 - 60_000);
  assert.equal(timeLeftMs({ BUILDKITE_TIMEOUT: 'false' }, now), undefined);
});

test('wrong words are usage', () => {
  for (const words of [
    [],
    ['--hang-after', 'soon', '--', 'x'],
    ['--heap', 'maybe', '--', 'x'],
    ['--what', '--', 'x'],
  ])
    assert.throws(() => readWords(words, {}), { code: 'usage' });
  assert.deepEqual(readWords(['--leak-check=50%,1M', '--', 'x'], {}).leakCheck, {
    share: 0.5,
    bytes: 1024 ** 2,
  });
});

test('beside encrypted bundles a summary has names, kinds and numbers, and nothing that a program said', () => {
  const said = 'what-the-program-said';
  const whole: CiSummary = {
    ...summaryOf(said),
    command: ['/opt/bin/npm', 'test', '--token', said],
    leaks: [
      {
        entry: 'test/a.ts',
        firstBytes: 1,
        lastBytes: 9,
        samples: 3,
        tests: 2,
        suspects: [{ name: 'Map', path: said, count: 1, bytesGrowth: 8 }],
      },
    ],
    gaps: [said],
  };
  whole.tests.telling[0]!.name = ['booking'];
  whole.tests.telling[0]!.file = 'test/a.ts';
  Object.assign(whole.bundles[0]!, { lastModelCall: said, lastToolCall: said });
  const kept = keepNames(whole);
  assert.doesNotMatch(JSON.stringify(kept), /what-the-program-said/);
  assert.deepEqual(kept.command, ['npm', '…']);
  assert.deepEqual(kept.tests.telling[0]?.error, { name: 'Error', message: '' });
  assert.deepEqual(kept.tests.telling[0]?.place, { file: 'test/a.ts', line: 14, column: 3 });
  assert.deepEqual(kept.bundles[0], {
    name: 'a.agentdump.zip',
    bytes: 10,
    kind: 'uncaught-exception',
    title: 'uncaught-exception',
    signature: 's1',
  });
  assert.match(kept.gaps?.join() ?? '', /AGENTDUMP_RECIPIENT/);
  for (const text of [renderCiMarkdown(kept, 'r'), renderCiText(kept, 'r'), renderJunit(kept, 'r')])
    assert.match(text, /booking/);
});
