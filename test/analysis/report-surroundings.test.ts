/** A bundle of a process that could write only Node's own report: the report replaces the parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import { memoryBundle } from '../support/synth/synth-analysis-bundle.ts';

const mib = 1024 * 1024;
const report = {
  header: {
    reportVersion: 4,
    event: 'Allocation failed - JavaScript heap out of memory',
    trigger: 'OOMError',
    nodejsVersion: 'v20.20.2',
    componentVersions: { node: '20.20.2', v8: '11.3.244.8-node.38' },
    osName: 'Linux',
    osRelease: '6.1.0',
    arch: 'x64',
    platform: 'linux',
  },
  javascriptHeap: { usedMemory: 67 * mib, memoryLimit: 70 * mib },
  resourceUsage: { rss: 130 * mib },
  libuv: [{ type: 'timer', is_active: true, is_referenced: true, address: '0x1' }],
  userLimits: { open_files: { soft: 20000, hard: 20000 } },
};
const found = {
  'trigger.json': { kind: 'supervised-exit', verdictKind: 'heap-out-of-memory', pid: 7 },
  'evidence.json': {
    foundBy: 'supervisor',
    exit: { signal: 'SIGABRT' },
    fatal: { event: report.header.event, trigger: 'OOMError' },
  },
  'process.json': { pid: 7, argv: ['node', '/srv/a.js'], limits: {}, versions: { node: '20.20.2' } },
};

test('memory, limits, versions, operating system and handles are told from the report', async () => {
  const account = await analyzeBundle(memoryBundle({ ...found, 'report.json': report }));
  const { heapUsedBytes, heapLimitBytes, rssBytes } = account.memory ?? {};
  assert.deepEqual([heapUsedBytes, heapLimitBytes, rssBytes], [67 * mib, 70 * mib, 130 * mib]);
  assert.equal(account.process?.v8Version, '11.3.244.8-node.38');
  assert.deepEqual(account.process?.limits, { open_files: { soft: '20000', hard: '20000' } });
  assert.equal(account.process?.argv?.[1], '/srv/a.js');
  assert.equal(account.environment?.os?.['release'], '6.1.0');
  assert.deepEqual(account.environment?.handles, [{ kind: 'timer', count: 1 }]);
  assert.match(account.verdict?.title ?? '', /at 67(\.0)? MiB of 70(\.0)? MiB/);
  const shown = [...(account.verdict?.evidence ?? []), ...(account.environment?.unusual ?? [])];
  assert.ok(shown.some(({ fact }) => fact.includes('70')));
  for (const { part } of shown) assert.ok(['report.json', 'evidence.json'].includes(part), part);
});

test('a limit that counts young objects too is not held against a heap that was full', async () => {
  const small = { ...report, javascriptHeap: { usedMemory: 57 * mib, memoryLimit: 252 * mib } };
  const { verdict } = await analyzeBundle(memoryBundle({ ...found, 'report.json': small }));
  assert.equal(verdict?.title, 'The JavaScript heap ran out of memory');
  assert.match(
    verdict?.evidence.map(({ fact }) => fact).join(' ') ?? '',
    /57(\.0)? MiB were in use; .* young/,
  );
});

test('a report that is none adds nothing', async () => {
  const account = await analyzeBundle(memoryBundle({ ...found, 'report.json': 'torn' }));
  assert.equal(account.verdict?.kind, 'heap-out-of-memory');
  assert.equal(account.memory, undefined);
});

test('what the process wrote itself goes before its report', async () => {
  const account = await analyzeBundle(
    memoryBundle({
      ...found,
      'memory.json': { usage: { rss: 1, heapUsed: 2 }, heap: { heap_size_limit: 3 } },
      'report.json': report,
    }),
  );
  assert.deepEqual(
    [account.memory?.rssBytes, account.memory?.heapUsedBytes, account.memory?.heapLimitBytes],
    [1, 2, 3],
  );
});
