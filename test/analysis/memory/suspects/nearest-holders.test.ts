/** Who holds the copies of equal strings: small heaps with the truth written by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { computeDuplicateStrings } from '../../../../src/analysis/memory/questions/duplicate-strings.ts';
import { computeSuspects } from '../../../../src/analysis/memory/suspects/suspects.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import { type SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

const heapOf = (synth: SynthSnapshot): Heap => new Heap(readHeapSnapshotSync(synth.toBuffer()));

/** 30 sessions, 20 requests in a Map, a list, and one loose variable hold copies of one text. */
function program(bytes: number): SynthSnapshot {
  const { snapshot, global } = synthProgram();
  const copy = (): number => snapshot.node({ type: 'string', name: 'the same prompt', size: bytes });
  const sessions = snapshot.node({ name: 'Array', size: 16 });
  snapshot.edge(global, sessions, 'sessions');
  for (let at = 0; at < 30; at++) {
    const session = snapshot.node({ name: 'Session', size: 24 });
    snapshot.edge(sessions, session, at).edge(session, copy(), 'prompt');
  }
  const cache = snapshot.node({ name: 'Map', size: 32 });
  const table = snapshot.node({ type: 'array', name: '', size: 100 });
  snapshot.edge(global, cache, 'cache').edge(cache, table, 'table', 'internal');
  for (let at = 0; at < 20; at++) snapshot.edge(table, copy(), String(at + 7), 'internal');
  const list = snapshot.node({ name: 'Array', size: 16 });
  snapshot.edge(global, list, 'log');
  for (let at = 0; at < 10; at++) snapshot.edge(list, copy(), at);
  const owner = snapshot.node({ name: 'Loose', size: 16 });
  return snapshot.edge(global, owner, 'loose').edge(owner, copy(), 'last');
}

test('the three holders with the most copies, by class and field, each with a path', () => {
  const { rows } = computeDuplicateStrings(heapOf(program(64)), 5, true);
  assert.equal(rows[0]?.count, 61);
  assert.deepEqual(rows[0]?.holders, [
    { holder: 'Session.prompt', count: 30, path: 'global.sessions[*].prompt' },
    { holder: 'Map.get(…)', count: 20, path: 'global.cache.get(…)' },
    { holder: 'Array[*]', count: 10, path: 'global.log[*]' },
  ]);
});

test('a text of another size is another string, with holders of its own; without being asked there are none', () => {
  const snapshot = program(64);
  const { nodes } = snapshot;
  const short = nodes.filter(({ name }) => name === 'the same prompt').slice(0, 30);
  for (const node of short) node.size = 48;
  const { rows } = computeDuplicateStrings(heapOf(snapshot), 5, true);
  assert.deepEqual(
    rows.map(({ count, holders }) => [count, holders?.[0]?.holder, holders?.[0]?.count]),
    [
      [31, 'Map.get(…)', 20],
      [30, 'Session.prompt', 30],
    ],
  );
  assert.equal(computeDuplicateStrings(heapOf(snapshot), 5).rows[0]?.holders, undefined);
});

test('copies that nothing strong leads to', () => {
  const { snapshot } = synthProgram();
  for (let at = 0; at < 3; at++) snapshot.node({ type: 'string', name: 'lost', size: 32 });
  const { rows } = computeDuplicateStrings(heapOf(snapshot), 5, true);
  assert.deepEqual(
    rows[0]?.holders?.map(({ holder, count }) => [holder, count]),
    [['(nothing strong)', 3]],
  );
});

test('the suspect says who holds the worst, and that there are others', () => {
  const suspect = computeSuspects(heapOf(program(200_000)), { limit: 20 }).find(
    ({ rule }) => rule === 'duplicate-strings',
  );
  assert.match(
    suspect?.evidence.join('\n') ?? '',
    /held by Session\.prompt \(30, at global\.sessions\[\*\]\.prompt\), Map\.get\(…\) \(20, .*, others \(1\)$/,
  );
});

test('a snapshot whose strings were cut: every node has a class, and the copies have holders', () => {
  const bytes = program(64).toBuffer();
  const heap = new Heap(readHeapSnapshotSync(bytes.subarray(0, bytes.indexOf('"strings":') + 30)));
  for (let node = 0; node < heap.nodeCount; node++) assert.equal(typeof heap.className(node), 'string');
  assert.ok(computeDuplicateStrings(heap, 5, true).rows.every(({ holders }) => holders?.length));
});
