/** Each rule reports above its threshold and is silent below it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findUnusual, thresholds, type UnusualInput } from '../../../src/analysis/unusual.ts';

const gib = 1024 ** 3;
const limits = (soft: string) => ({ limits: { 'Max open files': { soft, hard: soft } } });
const heap = (used: number) => ({ memory: { heap: { used_heap_size: used, heap_size_limit: 2 * gib } } });
const cgroup = (values: Record<string, string | number>) => ({ process: { cgroup: values } });
const sockets = (count: number, state: string) => ({
  handles: {
    sockets: Array.from({ length: count }, () => ({ protocol: 'tcp', remote: '10.0.0.1:443', state })),
  },
});
const variable = (entry: { value: string } | { withheld: string }) => ({
  environment: { variables: { NODE_TLS_REJECT_UNAUTHORIZED: entry } },
});

/** Name, an unusual input, the sentence about it, and an input that looks alike but is not unusual. */
const cases: [string, UnusualInput, RegExp, UnusualInput][] = [
  [
    'descriptors',
    { process: limits('1024'), handles: { descriptorCount: 1000 } },
    /File descriptors near their limit: 1,000 of 1,024 \(98 %\)/,
    { process: limits('unlimited'), handles: { descriptorCount: 1000 } },
  ],
  ['heap', heap(1.9 * gib), /JavaScript heap near its limit: 1\.9 GiB of 2 GiB \(95 %\)/, heap(gib)],
  [
    'cgroup',
    cgroup({ 'memory.current': 0.95 * gib, 'memory.max': gib }),
    /Container memory near its limit/,
    cgroup({ 'memory.current': 0.95 * gib, 'memory.max': 'max' }),
  ],
  [
    'cgroup v1',
    cgroup({ 'memory/memory.usage_in_bytes': 95, 'memory/memory.limit_in_bytes': 100 }),
    /Container memory/,
    cgroup({ 'memory/memory.usage_in_bytes': 95, 'memory/memory.limit_in_bytes': 2 ** 63 }),
  ],
  [
    'machine',
    { memory: { system: { totalBytes: 100 * gib, availableBytes: gib } } },
    /Machine memory nearly used up/,
    { memory: { system: { totalBytes: 100 * gib, availableBytes: 50 * gib } } },
  ],
  [
    'processes',
    cgroup({ 'pids.current': 99, 'pids.max': 100 }),
    /Processes of the container near their limit: 99 of 100/,
    cgroup({ 'pids.current': 9, 'pids.max': 100 }),
  ],
  [
    'kills',
    cgroup({ 'memory.events.oom_kill': 2 }),
    /2 processes of this container were killed/,
    cgroup({ 'memory.events.oom_kill': 0 }),
  ],
  [
    'handles of one kind',
    { handles: { resources: { Timeout: 4, TCPSocketWrap: thresholds.handlesOfOneKind } } },
    /500 open handles of one kind: TCPSocketWrap/,
    { handles: { resources: { TCPSocketWrap: 12 } } },
  ],
  ['one peer', sockets(100, 'ESTABLISHED'), /100 connections to one peer/, sockets(9, 'ESTABLISHED')],
  ['never closed', sockets(20, 'CLOSE_WAIT'), /20 sockets in CLOSE_WAIT/, sockets(20, 'LISTEN')],
  [
    'load',
    { loadAverage: [9, 1], cpus: 2 },
    /Load average 9 on 2 processors/,
    { loadAverage: [7, 1], cpus: 2 },
  ],
  [
    'buffers',
    { memory: { usage: { external: gib, heapUsed: gib / 8 } } },
    /1 GiB outside the JavaScript heap \(Buffers and array buffers\)/,
    { memory: { usage: { external: gib, heapUsed: gib } } },
  ],
  [
    'WebAssembly memory',
    { memory: { usage: { external: gib, heapUsed: gib / 8, arrayBuffers: gib / 100 } } },
    /1 GiB outside the JavaScript heap \(1014 MiB WebAssembly memory, long strings, .*; hardly any Buffers\)/,
    { memory: { usage: { external: gib, heapUsed: gib, arrayBuffers: gib / 100 } } },
  ],
  [
    'heaps of workers',
    {
      memory: {
        usage: { rss: 2 * gib, heapTotal: gib / 8, heapUsed: gib / 8 },
        mapped: { mallocBytes: gib / 8, stackBytes: gib / 64, otherBytes: 1.6 * gib },
      },
    },
    /neither heap nor Buffers .*: mapped, and not by malloc: heaps of workers/,
    { memory: { usage: { rss: 2 * gib, heapTotal: gib, heapUsed: gib } } },
  ],
  [
    'resident memory',
    {
      memory: {
        usage: {
          rss: 2 * gib,
          heapTotal: gib / 8,
          heapUsed: gib / 8,
          external: gib / 4,
          arrayBuffers: gib / 8,
        },
        mapped: { mallocBytes: gib, mallocArenas: 9, stackBytes: gib / 64, fileBytes: gib / 16 },
      },
    },
    /1\.6 GiB of 2 GiB resident memory is neither heap nor Buffers .*128 MiB V8's heap, 128 MiB Buffers.*1 GiB in malloc's main arena and 9 arenas of threads, 16 MiB in stacks, 64 MiB of files$/,
    { memory: { usage: { rss: 2 * gib, heapTotal: gib, heapUsed: gib, external: gib / 2 } } },
  ],
  [
    'detached',
    { memory: { heap: { number_of_detached_contexts: 1 } } },
    /1 detached context/,
    { memory: { heap: { number_of_detached_contexts: 0 } } },
  ],
  ['crash loop', { repeats: 7 }, /The same death came 7 more times/, { repeats: 0 }],
  ['certificates', variable({ value: '0' }), /certificates were not checked/, variable({ withheld: 'rule' })],
];
for (const [name, loud, pattern, quiet] of cases)
  test(name, () => {
    assert.match(
      findUnusual(loud)
        .map((f) => f.fact)
        .join('\n'),
      pattern,
    );
    assert.deepEqual(findUnusual(quiet), []);
  });

test('alarms come before notices', () => {
  const found = findUnusual({
    loadAverage: [99],
    cpus: 1,
    process: limits('100'),
    handles: { descriptorCount: 100 },
  });
  assert.deepEqual(
    found.map((f) => f.level),
    ['alarm', 'notice'],
  );
});
