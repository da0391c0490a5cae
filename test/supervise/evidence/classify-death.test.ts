/** One word for each kind of end, derived from what other processes could observe. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EvidencePart, MemoryEvidence } from '../../../src/bundle/layout/evidence.ts';
import { classifyDeath } from '../../../src/supervise/evidence/classify-death.ts';
import { isAbout } from '../../../src/supervise/evidence/kernel-log.ts';

const base: EvidencePart = {
  foundBy: 'supervisor',
  foundAt: '2026-01-01T00:00:00.000Z',
  fate: { because: 'there is no process 7' },
  process: { pid: 7, parentPid: 1, startedAt: '2026-01-01T00:00:00.000Z', heartbeatMs: 0 },
};
const memory = (before: number, after: number): MemoryEvidence => ({
  cgroup: { path: '/x', oomKills: { before, after } },
  system: { totalBytes: 1, availableBytes: 1 },
  history: [],
});
const oomLine = '[12.3] Out of memory: Killed process 7 (node) total-vm:1kB';

const cases: [string, Partial<EvidencePart>, string][] = [
  ['a fault', { exit: { signal: 'SIGSEGV' } }, 'native-crash'],
  ['a fault told by a shell', { exit: { code: 139, signal: 'SIGSEGV', inferred: true } }, 'native-crash'],
  ['an abort', { exit: { signal: 'SIGABRT' } }, 'abort'],
  ['a breakpoint trap of V8', { exit: { signal: 'SIGTRAP' } }, 'abort'],
  [
    "V8's heap",
    { exit: { signal: 'SIGABRT' }, fatal: { event: 'Allocation failed', trigger: 'OOMError' } },
    'heap-out-of-memory',
  ],
  [
    'another fatal error',
    { exit: { signal: 'SIGABRT' }, fatal: { event: 'Check failed', trigger: 'FatalError' } },
    'abort',
  ],
  [
    'ended by its parent when V8 had given its heap up',
    { exit: { signal: 'SIGTERM', byParent: true }, lastGcs: [] },
    'heap-out-of-memory',
  ],
  ['SIGKILL and no more', { exit: { signal: 'SIGKILL' } }, 'killed'],
  [
    'SIGKILL and a kill counted',
    { exit: { signal: 'SIGKILL' }, memory: memory(3, 4) },
    'system-out-of-memory',
  ],
  ['SIGKILL and none counted', { exit: { signal: 'SIGKILL' }, memory: memory(3, 3) }, 'killed'],
  [
    "SIGKILL and the kernel's line",
    { exit: { signal: 'SIGKILL' }, kernelLog: [oomLine] },
    'system-out-of-memory',
  ],
  [
    'our own SIGKILL though one was counted',
    {
      exit: { signal: 'SIGKILL' },
      memory: memory(3, 4),
      signalsSent: [{ name: 'SIGKILL', at: '', by: 'supervisor' }],
    },
    'killed',
  ],
  ['SIGTERM', { exit: { signal: 'SIGTERM' } }, 'terminated'],
  ['nobody saw the exit', {}, 'killed'],
  ['nobody saw it, and a kill was counted', { memory: memory(0, 1) }, 'system-out-of-memory'],
  ['nobody saw it, and a core lies there', { core: { pattern: 'core', path: '/core' } }, 'native-crash'],
];
for (const [what, change, kind] of cases)
  test(`${what}: ${kind}`, () => assert.equal(classifyDeath({ ...base, ...change }), kind));

test('lines of the kernel are told apart by the whole pid', () => {
  const lines = [
    [oomLine, true],
    ['[1.0] oom-kill:constraint=CONSTRAINT_MEMCG,task=node,pid=7,uid=0', true],
    ['[1.0] node[7]: segfault at 0 ip 0000 sp 0000 error 4 in node', true],
    ['[1.0] traps: node[7] trap int3 ip:1 sp:2 error:0', true],
    ['[7.0] something else', false],
    ['[1.0] Killed process 77 (node)', false],
    ['[1.0] Killed process 17 (node)', false],
    ['[1.0] eth0[7.5]', false],
  ] as const;
  for (const [line, expected] of lines) assert.equal(isAbout(line, 7), expected, line);
});
