/** Diagnostic reports without a bundle: real ones of this Node, and files that are none. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { analyzeReport } from '../../src/analysis/analyze-report.ts';
import { renderText } from '../../src/report/text.ts';
import '../support/run/fuzz-runs.ts';

const dir = mkdtempSync(join(tmpdir(), 'agentdump-report-'));
after(() => rmSync(dir, { recursive: true, force: true }));

function reportOf(
  name: string,
  options: string[],
  code: string,
): Promise<Awaited<ReturnType<typeof analyzeReport>>> {
  const path = join(dir, name);
  const words = [...options, `--report-directory=${dir}`, `--report-filename=${name}`, '-e', code];
  spawnSync(process.execPath, words, {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], SECRET: 'hunter2' },
  });
  return analyzeReport(readFileSync(path), path);
}

test('an uncaught exception', async () => {
  const code =
    "setTimeout(function plan() { throw Object.assign(new TypeError('no plan'), { code: 'E_PLAN', step: 4 }) })";
  const account = await reportOf('exception.json', ['--report-uncaught-exception'], code);
  assert.equal(account.verdict?.kind, 'uncaught-exception');
  assert.match(account.verdict?.title ?? '', /^TypeError \[E_PLAN\]: no plan/);
  assert.equal(account.error?.properties?.['step'], '4');
  assert.match(account.error?.frames?.[0]?.function ?? '', /plan/);
  assert.equal(account.process?.nodeVersion, process.version);
  assert.ok(account.process?.limits?.['open_files']);
  assert.ok((account.memory?.heapLimitBytes ?? 0) > 0);
  assert.ok(account.threads?.some((thread) => thread.kind === 'native' && thread.frames.length > 0));
  for (const { part } of account.verdict?.evidence ?? []) assert.equal(part, 'exception.json');
  assert.doesNotMatch(JSON.stringify(account), /hunter2/);
});

test('a heap that ran out', async () => {
  const code = 'const a = []; for (;;) a.push(new Array(1000).fill({}).map(() => ({ x: 1 })))';
  const account = await reportOf('oom.json', ['--max-old-space-size=30', '--report-on-fatalerror'], code);
  assert.equal(account.verdict?.kind, 'heap-out-of-memory');
  assert.equal(account.error, undefined);
});

test('a report on request is a snapshot', async () => {
  const account = await reportOf('call.json', [], 'process.report.writeReport()');
  assert.equal(account.verdict?.kind, 'snapshot');
  assert.match(renderText(account), /^■ A snapshot of a live process/);
});

test('what is no report is refused', async () => {
  await assert.rejects(analyzeReport(Buffer.from('{'), 'x.json'), { code: 'malformed-input' });
  await assert.rejects(analyzeReport(Buffer.from('[]'), 'x.json'), { code: 'malformed-input' });
  await assert.rejects(analyzeReport(Buffer.from('{"a":1}'), 'x.json'), { code: 'not-a-bundle' });
});

test('any JSON beside a header gives an account', async () => {
  const sections = [
    'javascriptStack',
    'nativeStack',
    'javascriptHeap',
    'libuv',
    'userLimits',
    'resourceUsage',
    'workers',
  ];
  const triggers = ['Exception', 'Signal', 'API', 'FatalError'];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...sections),
      fc.constantFrom(...triggers),
      fc.jsonValue(),
      async (section, trigger, value) => {
        const report = { header: { reportVersion: 3, trigger, event: 'x' }, [section]: value };
        const account = await analyzeReport(Buffer.from(JSON.stringify(report)), 'x.json');
        assert.ok(account.verdict && renderText(account));
      },
    ),
  );
});
