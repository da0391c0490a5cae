/** Which code allocated the live objects: from tracked snapshots, sampled profiles and the stacks of a bundle. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Heap } from '../../../src/analysis/memory/heap.ts';
import {
  allocationsOfStacks,
  sampledAllocations,
  trackedAllocations,
} from '../../../src/analysis/memory/questions/allocations.ts';
import { readHeapProfile } from '../../../src/formats/heap-profile/heap-profile.ts';
import { readHeapSnapshotSync } from '../../../src/formats/heapsnapshot/index.ts';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { synthProgram } from '../../support/synth/synth-heapsnapshot.ts';

const program = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'agentdump-allocations-'));

/** Keeps 5,000 objects, and drops twice as many. */
const tracked = join(folder, 'tracked.cjs');
writeFileSync(
  tracked,
  `const inspector = require('node:inspector'), fs = require('node:fs');
   const kept = globalThis.kept = [];
   class Order { constructor(id) { this.id = id; this.lines = [id, id]; } }
   function keep(id) { kept.push(new Order(id)); }
   function drop(id) { return JSON.stringify({ id, other: [id] }).length; }
   const session = new inspector.Session();
   session.connect();
   session.post('HeapProfiler.startTrackingHeapObjects', { trackAllocations: true }, () => {
     let total = 0;
     for (let id = 0; id < 5000; id++) { keep(id); total += drop(id) + drop(id); }
     const fd = fs.openSync(process.argv[2], 'w');
     session.on('HeapProfiler.addHeapSnapshotChunk', ({ params }) => fs.writeSync(fd, params.chunk));
     session.post('HeapProfiler.stopTrackingHeapObjects', {}, () => process.stdout.write(String(total)));
   });`,
);

function heap(...words: string[]) {
  return spawnSync(process.execPath, [program, 'heap', ...words], { encoding: 'utf8' });
}

for (const { major, name, path } of nodesInTurn)
  test(`${name}: a tracked snapshot says which functions allocated what is kept`, () => {
    const file = join(folder, `${major}.heaptimeline`);
    // V8 attributes the allocations of an inlined call to its caller.
    execFileSync(path, ['--no-opt', '--no-maglev', tracked, file]);
    const { status, stdout, stderr } = heap('allocations', file, '--json', '--limit', '1000');
    assert.equal(status, 0, stderr);
    const { kind, rows, attributedBytes, totalBytes } = JSON.parse(stdout);
    assert.equal(kind, 'tracked');
    assert.ok(attributedBytes > 0 && attributedBytes <= totalBytes);
    const order = rows.find((row: { function: string }) => row.function === 'Order');
    // The lists of an order are allocated in its constructor. V8 may copy a literal lazily, so only the orders themselves are
    // certain.
    assert.ok(order.count >= 5000, JSON.stringify(order));
    assert.ok(order.script.endsWith('tracked.cjs') && order.line === 3);
    assert.ok(order.retainedSizeBytes >= order.bytes);
    const drop = rows.find((row: { function: string }) => row.function === 'drop');
    assert.ok(drop.allocatedCount >= 10_000 && drop.count < drop.allocatedCount / 10, JSON.stringify(drop));
  });

/** Two orders of 100 bytes, allocated by `add` inside `serve`. One of them holds 50 bytes that a package allocated for it. */
function synthTracked(): Buffer {
  const { snapshot: synth, global } = synthProgram();
  const [first, second] = [
    synth.node({ name: 'Order', size: 100, trace: 3 }),
    synth.node({ name: 'Order', size: 100, trace: 3 }),
  ];
  const text = synth.node({ name: 'Text', size: 50, trace: 4 });
  const foreign = synth.node({ name: 'Other', size: 1000 });
  synth
    .edge(global, first, 'first')
    .edge(first, second, 'next')
    .edge(second, text, 'text')
    .edge(second, foreign, 'x');
  const strings = ['serve', 'add', 'format', '/app/serve.js', '/app/node_modules/format/index.js', ''];
  const [serve, add, format, app, lib, none] = strings.map((name) => synth.string(name));
  const functions = [
    [0, none, none, 0, 0, 0],
    [1, serve, app, 5, 3, 7],
    [2, add, app, 5, 10, 1],
    [3, format, lib, 6, 1, 1],
  ];
  return synth.toBuffer({
    nodeFields: ['type', 'name', 'id', 'self_size', 'edge_count', 'trace_node_id', 'detachedness'],
    traceTree: [1, 0, 0, 0, [2, 1, 0, 0, [3, 2, 5, 500, [4, 3, 2, 90, []]]]],
    traceFunctions: functions.flat() as number[],
  });
}

test('what a package allocated counts for the function of the program that called it', () => {
  const { rows, attributedBytes } = trackedAllocations(new Heap(readHeapSnapshotSync(synthTracked())));
  assert.equal(attributedBytes, 250);
  assert.equal(rows.length, 1);
  const { stack, ...row } = rows[0]!;
  assert.deepEqual(row, {
    function: 'add',
    script: '/app/serve.js',
    line: 10,
    column: 1,
    bytes: 250,
    share: 1,
    count: 3,
    // Each byte counts once; objects that other code allocated are included if these retain them.
    retainedSizeBytes: 1250,
    allocatedBytes: 590,
    allocatedCount: 7,
  });
  assert.deepEqual(stack, ['add (/app/serve.js:10:1)', 'serve (/app/serve.js:3:7)']);
});

const call = (functionName: string, url: string, selfSize: number, children: object[] = []): object => ({
  callFrame: { functionName, url, lineNumber: 4, columnNumber: 0 },
  selfSize,
  children,
});
const sampledProfile = Buffer.from(
  JSON.stringify({
    head: call('(root)', '', 0, [
      call('main', '/app/main.js', 10, [
        call('push', '/app/node_modules/list/index.js', 5, [call('grow', 'node:buffer', 85)]),
      ]),
      call('boot', 'node:internal/boot', 7),
    ]),
  }),
);

test('a sampled profile has no counts, and the stack of its largest call', () => {
  const { kind, rows } = sampledAllocations(readHeapProfile(sampledProfile));
  assert.equal(kind, 'sampled');
  assert.deepEqual(
    rows.map((row) => [row.function, row.bytes, 'count' in row, row.stack[0]]),
    [
      ['main', 100, false, 'grow (node:buffer:5:1)'],
      ['boot', 7, false, 'boot (node:internal/boot:5:1)'],
    ],
  );
});

test("a bundle's stacks give the same rows", () => {
  const { rows } = allocationsOfStacks([
    { bytes: 80, stack: ['grow (node:buffer:1:2)', 'main (/app/main.js:5:1)'] },
    { bytes: 20, stack: ['main (/app/main.js:5:1)', '(anonymous) (/app/main.js:1:1)'] },
    { bytes: 3, stack: [] },
  ]);
  assert.deepEqual(
    rows.map(({ function: name, bytes, line }) => [name, bytes, line]),
    [['main', 100, 5]],
  );
});

test('a profile through the built program: without a question, gzipped, as a flame graph', () => {
  const path = join(folder, 'app.heapprofile');
  writeFileSync(path, sampledProfile);
  writeFileSync(`${path}.gz`, gzipSync(sampledProfile));
  const { status, stdout } = heap(path);
  assert.equal(status, 0);
  assert.match(stdout, /^107 bytes alive, estimated from samples of allocations\n/);
  assert.match(stdout, /100 bytes +93\.5 % +main +\/app\/main\.js:5:1/);
  assert.equal(heap(`${path}.gz`).stdout, stdout);
  assert.match(heap('export', path, '--format', 'folded').stdout, /;main \(\/app\/main\.js:5:1\) 10\n/);
});

test('other questions to a profile, an untracked snapshot and a foreign engine are refused in words', () => {
  const path = join(folder, 'b.heapprofile');
  writeFileSync(path, sampledProfile);
  const plain = join(folder, 'plain.heapsnapshot');
  writeFileSync(plain, synthProgram().snapshot.toBuffer());
  const foreign = join(folder, 'bun.json');
  writeFileSync(foreign, '{"version":3,"type":"Inspector","nodes":[],"nodeClassNames":[]}');
  for (const [words, message] of [
    [['suspects', path], /is a sampled allocation profile: it holds no objects/],
    [['allocations', plain], /taken without allocation tracking/],
    [[foreign], /JavaScriptCore[\s\S]*Bun\.generateHeapSnapshot\('v8'\)/],
  ] as const) {
    const { status, stderr } = heap(...words);
    assert.notEqual(status, 0);
    assert.match(stderr, message);
  }
});
