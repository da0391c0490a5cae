/**
 * Verdicts on deaths that another process observed: each kind from its evidence, with the confidence that the evidence
 * supports.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findGrowth, whatGrew } from '../../../src/analysis/memory-growth.ts';
import type { EvidenceFacts } from '../../../src/analysis/parts/evidence.ts';
import { readEvidence } from '../../../src/analysis/parts/evidence.ts';
import { Fields, PartFaults } from '../../../src/analysis/parts/fields.ts';
import type { VerdictFacts } from '../../../src/analysis/verdict/facts.ts';
import { reachVerdict } from '../../../src/analysis/verdict/reach-verdict.ts';
import type { Verdict } from '../../../src/model/verdict.ts';

function verdictOf(evidence: EvidenceFacts): Verdict {
  const trigger = { kind: 'supervised-exit' as const, verdictKind: 'killed' };
  return reachVerdict({ account: { schema: 'agentdump.analysis/1', gaps: [] }, trigger, evidence });
}
const counted = (before: number, after: number) => ({
  oomKills: { before, after },
  path: '/cg',
  maxBytes: 5e8,
});
const line = '[9.1] Memory cgroup out of memory: Killed process 77 (node) total-vm:900kB';
const sigkill = { exit: { signal: 'SIGKILL' } };

const cases: [string, EvidenceFacts, Verdict['kind'], Verdict['confidence']][] = [
  ['a fault', { exit: { signal: 'SIGSEGV' } }, 'native-crash', 'certain'],
  ['only a core', { core: { path: '/x/core' } }, 'native-crash', 'likely'],
  ['an abort, or SIGABRT from whoever sent it', { exit: { signal: 'SIGABRT' } }, 'abort', 'likely'],
  ['a failed check of V8', { exit: { signal: 'SIGTRAP' } }, 'abort', 'likely'],
  [
    'a fatal error of V8',
    { exit: { signal: 'SIGABRT' }, fatal: { event: 'Check failed: x', trigger: 'FatalError' } },
    'abort',
    'certain',
  ],
  [
    "V8's heap",
    { exit: { signal: 'SIGABRT' }, fatal: { event: 'Allocation failed - JavaScript heap out of memory' } },
    'heap-out-of-memory',
    'certain',
  ],
  ['SIGKILL by somebody', sigkill, 'killed', 'likely'],
  [
    'SIGKILL by the supervisor, while another was killed for memory',
    {
      ...sigkill,
      memory: { cgroup: counted(0, 1) },
      signalsSent: [{ name: 'SIGKILL', by: 'supervisor', at: 'then', reason: 'it hung' }],
    },
    'killed',
    'certain',
  ],
  [
    'SIGKILL and a counted kill',
    { ...sigkill, memory: { cgroup: counted(2, 3) } },
    'system-out-of-memory',
    'likely',
  ],
  ["SIGKILL and the kernel's word", { ...sigkill, kernelLog: [line] }, 'system-out-of-memory', 'certain'],
  [
    'SIGKILL, and a kill somewhere on the machine',
    { ...sigkill, memory: { hostOomKills: { before: 1, after: 2 } } },
    'killed',
    'likely',
  ],
  [
    'a reboot',
    { fate: { rebooted: true, because: 'this machine was started anew since' } },
    'killed',
    'certain',
  ],
  ['nobody saw it', { fate: { because: 'there is no process 7' } }, 'killed', 'possible'],
  ['nobody saw it, but the kernel did', { kernelLog: [line] }, 'system-out-of-memory', 'certain'],
];
for (const [what, evidence, kind, confidence] of cases)
  test(`${what}: ${kind}, ${confidence}`, () => {
    const verdict = verdictOf(evidence);
    assert.deepEqual([verdict.kind, verdict.confidence], [kind, confidence]);
    assert.ok(verdict.title.length <= 100 && verdict.refutedBy.length > 20 && verdict.nextSteps.length > 0);
  });

test('a kill elsewhere on the machine stays as another reading', () => {
  const verdict = verdictOf({ ...sigkill, memory: { hostOomKills: { before: 1, after: 2 } } });
  assert.deepEqual(
    verdict.alternatives?.map((other) => other.kind),
    ['system-out-of-memory'],
  );
});

const history = [10, 20, 5, 8, 105].map((mb, i) => ({
  at: `2026-01-01T00:00:0${i}.000Z`,
  rss: mb * 1e6,
  heapUsed: 4e6,
}));
test('growth is told from the lowest point to the last, and by kind', () => {
  assert.deepEqual(findGrowth(history, 'rss'), { fromBytes: 5e6, toBytes: 105e6, overMs: 2000 });
  assert.equal(findGrowth(history, 'heapUsed'), undefined);
  assert.equal(whatGrew(history), 'outside');
  assert.equal(whatGrew(history.map((p) => ({ ...p, heapUsed: p.rss }))), 'heap');
  assert.equal(findGrowth([], 'rss'), undefined);
  const verdict = verdictOf({ ...sigkill, kernelLog: [line], memory: { history } });
  assert.ok(verdict.evidence.some(({ fact }) => /^Resident memory grew from .* to .* in 2/.test(fact)));
});

test('growth that reads as none is not told', () => {
  const still = [13_500_000, 13_544_000].map((heapUsed, i) => ({
    at: `2026-01-01T00:00:0${i}.000Z`,
    heapUsed,
  }));
  const verdict = verdictOf({ ...sigkill, memory: { history: still } });
  assert.doesNotMatch(JSON.stringify(verdict.evidence), /grew/);
});

test('after memory ran out the next steps name what is there, and what bears on what grew', () => {
  const stepsOf = (
    evidence: EvidenceFacts,
    parts: string[] = [],
    rest: Partial<VerdictFacts> = {},
  ): string => {
    const bundle = {
      id: 'b',
      path: '/dumps/b.agentdump',
      capturedAt: '',
      sealed: true,
      parts: parts.map((name) => ({ name, bytes: 1, complete: true })),
    };
    const account = { schema: 'agentdump.analysis/1' as const, gaps: [], bundle };
    return reachVerdict({ account, evidence, ...rest }).nextSteps.join('\n');
  };
  const full = { exit: { signal: 'SIGABRT' }, fatal: { event: 'JavaScript heap out of memory' } };
  assert.match(stepsOf(full, ['heap.heapsnapshot.gz']), /`agentdump heap suspects \/dumps\/b\.agentdump`/);
  const without = stepsOf(full);
  assert.match(without, /No heap snapshot was kept/);
  assert.doesNotMatch(without, /suspects \/dumps/);
  const killed = { ...sigkill, kernelLog: [line] };
  assert.match(stepsOf(killed), /Set `--max-old-space-size`/);
  const outside = stepsOf({ ...killed, memory: { history } });
  assert.match(outside, /`--max-old-space-size` would not have helped/);
  assert.doesNotMatch(outside, /Set `--max-old-space-size`/);
});

test('evidence of a part that was never written is told of the report or journal that has it', () => {
  const parts = ['recorder.journal', 'report.json', 'evidence.json'].map((name) => ({
    name,
    bytes: 1,
    complete: true,
  }));
  const bundle = { id: 'b', path: '/dumps/b', capturedAt: '', sealed: true, parts };
  const memory = { usage: { heapUsed: 90e6 }, heap: { used_heap_size: 90e6, heap_size_limit: 1e8 } };
  const fatal = { event: 'JavaScript heap out of memory' };
  const { evidence } = reachVerdict({
    account: { schema: 'agentdump.analysis/1', gaps: [], bundle },
    evidence: { exit: { signal: 'SIGABRT' }, fatal },
    memory,
  });
  assert.ok(evidence.some(({ fact }) => fact.includes('were in use')));
  assert.deepEqual(
    evidence.filter(({ part }) => !parts.some(({ name }) => name === part)),
    [],
  );
});

test('a hostile part gives faults, never a throw', () => {
  const hostile: unknown[] = [
    { exit: 7, memory: { history: [null, 5, { at: 'x' }, { at: '2026-01-01T00:00:00Z', rss: 'big' }] } },
    { kernelLog: 'x', signalsSent: [{ name: 1 }], fate: [] },
    { memory: { cgroup: { oomKills: { before: {}, after: 1 } } } },
  ];
  for (const part of hostile) {
    const faults = new PartFaults('evidence.json');
    const fields = Fields.of(part, '', faults);
    assert.ok(fields && verdictOf(readEvidence(fields)));
    assert.ok(faults.gaps().length > 0);
  }
});
