/** Reports of real Nodes, reports of older versions in their documented shape, and hostile ones. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { AgentdumpError, MalformedInput } from '../../../src/errors.ts';
import {
  type DiagnosticReport,
  readDiagnosticReport,
  readReportValue,
} from '../../../src/formats/diagnostic-report/diagnostic-report.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

const empty: DiagnosticReport = {
  header: { commandLine: [], componentVersions: {}, cpuCount: 0 },
  nativeStack: [],
  handles: [],
  sharedObjects: [],
  limits: {},
  workers: [],
};

test('smallest: an empty object is a report without sections', () => {
  assert.deepEqual(readDiagnosticReport('{}'), empty);
  assert.deepEqual(
    readDiagnosticReport(Buffer.from('\uFEFF{"header":{"reportVersion":1}}')).header.reportVersion,
    1,
  );
});

test('real: a report of this Node, with an error, handles and a worker', () => {
  const code = `
    const { Worker } = require('node:worker_threads');
    const server = require('node:net').createServer().listen(0, '127.0.0.1', () => {
      const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
      worker.on('online', () => setTimeout(() => {
        const error = Object.assign(new RangeError('boom'), { code: 'E_BOOM' });
        console.log(JSON.stringify(process.report.getReport(error)));
        process.exit();
      }, 50));
    });`;
  const run = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const report = readDiagnosticReport(run.stdout);
  assert.equal(report.header.processId, run.pid);
  assert.equal(report.header.nodeVersion, process.version);
  assert.equal(report.header.componentVersions['v8'], process.versions.v8);
  assert.equal(new Date(report.header.writtenAt ?? '').getUTCFullYear(), new Date().getUTCFullYear());
  assert.equal(report.javascriptStack?.message, 'RangeError: boom');
  assert.match(report.javascriptStack?.stackText ?? '', /^RangeError: boom\n {4}at /);
  assert.equal(report.javascriptStack?.properties['code'], 'E_BOOM');
  assert.ok((report.heap?.usedBytes ?? 0) > 1e6 && (report.heap?.spaces.length ?? 0) > 3);
  assert.ok((report.usage?.rssBytes ?? report.usage?.maxRssBytes ?? 0) > 1e6);
  assert.ok(report.nativeStack.length > 1 && /^0x[1-9a-f]/.test(report.nativeStack[0]?.address ?? ''));
  assert.ok(report.nativeStack.some(({ symbol, object }) => symbol?.includes('node::') && object));
  assert.ok(report.handles.some(({ type, local }) => type === 'tcp' && local?.startsWith('127.0.0.1:')));
  assert.ok(!report.handles.some(({ type }) => type === 'loop'));
  assert.ok((report.loopIdleSeconds ?? 0) > 0);
  assert.ok(report.sharedObjects.some((path) => path.includes('libc')));
  assert.match(report.limits['open_files']?.soft ?? '', /^(?:\d+|unlimited)$/);
  assert.equal(report.workers.length, 1);
  assert.ok((report.workers[0]?.header.threadId ?? 0) > 0);
  assert.equal(report.workers[0]?.javascriptStack, undefined);
  assert.ok(!JSON.stringify(report).includes(process.env['PATH'] ?? 'PATH'), 'holds no environment');
});

test('version 1: no report version of threads, memory in texts, time without milliseconds', () => {
  const report = readReportValue({
    header: {
      reportVersion: 1,
      dumpEventTime: '2019-05-01T10:20:30Z',
      commandLine: ['node', 'a.js'],
      nodejsVersion: 'v12.3.1',
    },
    javascriptStack: { message: 'Error: x', stack: ['at f (/a.js:1:2)'] },
    resourceUsage: { rss: '51380224', constrained_memory: '18446744073709551615', userCpuSeconds: 0.1 },
    nativeStack: [
      { pc: '0x00000000009a81e4', symbol: 'node::report::TriggerNodeReport(v8::Isolate*) [node]' },
    ],
    libuv: [{ type: 'pipe', is_active: true, localEndpoint: '/tmp/x.sock', fd: 7 }],
    userLimits: { open_files: { soft: 1024, hard: 'unlimited' }, nonsense: 7 },
  });
  assert.equal(report.header.writtenAt, '2019-05-01T10:20:30.000Z');
  assert.equal(report.javascriptStack?.stackText, 'Error: x\n    at f (/a.js:1:2)');
  assert.deepEqual(report.usage, { rssBytes: 51380224, userCpuSeconds: 0.1 });
  assert.deepEqual(report.nativeStack, [
    { address: '0x9a81e4', symbol: 'node::report::TriggerNodeReport(v8::Isolate*)', object: 'node' },
  ]);
  assert.deepEqual(report.handles, [{ type: 'pipe', active: true, fd: 7, local: '/tmp/x.sock' }]);
  assert.deepEqual(report.limits, { open_files: { soft: '1024', hard: 'unlimited' } });
});

test('a stack that could not be walked is none', () => {
  for (const message of ['No stack.', 'Unavailable.'])
    assert.equal(
      readReportValue({ javascriptStack: { message, stack: ['Unavailable.'] } }).javascriptStack,
      undefined,
    );
});

test('native symbols may be missing, or hold brackets', () => {
  const { nativeStack } = readReportValue({
    nativeStack: [
      { pc: '0x1', symbol: '' },
      { pc: '0x02', symbol: ' [/usr/lib/libc.so.6]' },
      { pc: '0x3', symbol: 'operator[](int) [a [b]]' },
      { pc: 'none', symbol: 'x' },
      { symbol: 'x' },
    ],
  });
  assert.deepEqual(nativeStack.slice(0, 2), [
    { address: '0x1' },
    { address: '0x2', object: '/usr/lib/libc.so.6' },
  ]);
  assert.deepEqual([nativeStack.length, nativeStack[2]?.address], [3, '0x3']);
});

test('the name of a worker is taken from its event; IPv6 endpoints stand in brackets', () => {
  const report = readReportValue({
    workers: [{ header: { event: 'Worker thread subreport [busy]', threadId: 3 } }],
    libuv: [{ type: 'tcp', remoteEndpoint: { ip6: '::1', port: 443 } }],
  });
  assert.equal(report.workers[0]?.header.threadName, 'busy');
  assert.equal(report.handles[0]?.remote, '[::1]:443');
});

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
for (const text of ['', 'no json', '[]', 'null', '7', '{"header":', deep(200_000)])
  test(`hostile: ${text.slice(0, 20) || 'nothing'} is malformed`, () => {
    assert.throws(() => readDiagnosticReport(text), MalformedInput);
  });

test('hostile: more bytes than the limit', () => {
  const huge = { length: 2 ** 40 } as unknown as Uint8Array;
  assert.throws(
    () => readDiagnosticReport(huge),
    (error) => error instanceof AgentdumpError && error.code === 'over-limit',
  );
});

test('hostile: workers 100,000 deep, lists 200,000 deep, a million handles', () => {
  const nested = readDiagnosticReport(`${'{"workers":['.repeat(100_000)}${']}'.repeat(100_000)}`);
  assert.equal(nested.workers.length, 1);
  const lists = readDiagnosticReport(
    `{"libuv":[${deep(200_000)}],"header":${deep(200_000)},"userLimits":{"a":${deep(200_000)}}}`,
  );
  assert.deepEqual(lists, empty);
  const handles = readReportValue({ libuv: new Array(1_000_000).fill({ type: 'timer' }) });
  assert.equal(handles.handles.length, 10_000);
});

test('hostile: everything behind __proto__ is nothing, and a key of that name does no harm', () => {
  assert.deepEqual(readDiagnosticReport('{"__proto__":{"header":{"processId":1}}}'), empty);
  const { limits } = readDiagnosticReport('{"userLimits":{"__proto__":{"soft":1,"hard":2}}}');
  assert.deepEqual(Object.keys(limits), ['__proto__']);
  assert.equal(({} as { soft?: string }).soft, undefined);
});

test('fuzz: any JSON object is read, and what is read has the promised kinds', () => {
  const name = fc.constantFrom(
    ...[
      'header',
      'javascriptStack',
      'javascriptHeap',
      'nativeStack',
      'resourceUsage',
      'libuv',
      'workers',
      'userLimits',
    ],
    ...[
      'sharedObjects',
      'stack',
      'message',
      'type',
      'pc',
      'soft',
      'hard',
      'heapSpaces',
      'event',
      'dumpEventTimeStamp',
    ],
  );
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom<unknown>(null, true, 7, -1e300, 'x', '0x1', 'No stack.', '9'.repeat(20)),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(name, tie('json'), { maxKeys: 5 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(name, json, { maxKeys: 8 }), (value) => {
      const report = readDiagnosticReport(JSON.stringify(value));
      for (const handle of report.handles) assert.equal(typeof handle.type, 'string');
      for (const frame of report.nativeStack) assert.match(frame.address, /^0x[0-9a-f]+$/);
      for (const limit of Object.values(report.limits))
        assert.equal(typeof limit.soft + typeof limit.hard, 'stringstring');
    }),
    { numRuns: fuzzRuns(1000) },
  );
});
