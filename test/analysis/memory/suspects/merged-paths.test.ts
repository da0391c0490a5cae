/** Merged paths to many objects: small heaps with the truth written by hand, hostile ones, and the leaking agent. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Heap, openHeap } from '../../../../src/analysis/memory/heap.ts';
import { conditionOf, nodesOfWords } from '../../../../src/analysis/memory/query/run.ts';
import { type MergedPaths, mergePaths } from '../../../../src/analysis/memory/questions/merged-paths.ts';
import { pathEdges } from '../../../../src/analysis/memory/questions/paths.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import { type HeapPathLine, heapSchema } from '../../../../src/model/heap.ts';
import { renderHeap } from '../../../../src/report/heap/text.ts';
import { plainPalette } from '../../../../src/report/palette.ts';
import { nodeBinary } from '../../../support/heaps/real-heapsnapshots.ts';
import { usualNode } from '../../../support/run/test-nodes.ts';
import { type SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

const heapOf = (synth: SynthSnapshot): Heap => new Heap(readHeapSnapshotSync(synth.toBuffer()));

function merged(synth: SynthSnapshot, words: string, limit = 40): MergedPaths {
  const heap = heapOf(synth);
  return mergePaths(heap, nodesOfWords(heap, words), limit);
}

/** The tree as lines: depth, objects, bytes of the objects, what the line's own nodes retain, path. */
function told(lines: readonly HeapPathLine[], depth = 0): string[] {
  return lines.flatMap((line) => [
    `${'  '.repeat(depth)}${line.path}: ${line.objects} with ${line.retainedSizeBytes}, ${line.nodes} ${line.class} hold ${line.nodesRetainedSizeBytes}${line.times ? `, ${line.times} times` : ''}`,
    ...told(line.below, depth + 1),
  ]);
}

test('what holds the objects of a class: entries of a Map, a list and a variable, largest first', () => {
  const { snapshot, global } = synthProgram();
  const map = snapshot.node({ name: 'Map', size: 32 });
  const table = snapshot.node({ type: 'array', name: '', size: 100 });
  snapshot.edge(global, map, 'byId').edge(map, table, 'table', 'internal');
  for (let at = 0; at < 5; at++)
    snapshot.edge(table, snapshot.node({ name: 'Order', size: 50 }), String(at + 7), 'internal');
  const service = snapshot.node({ name: 'Service', size: 24 });
  const list = snapshot.node({ name: 'Array', size: 16 });
  snapshot.edge(global, service, 'service').edge(service, list, 'open');
  for (let at = 0; at < 3; at++) {
    const order = snapshot.node({ name: 'Order', size: 50 });
    snapshot.edge(list, order, at).edge(order, snapshot.node({ name: 'Item', size: 10 }), 'item');
  }
  snapshot.edge(service, snapshot.node({ name: 'Order', size: 50 }), 'last');
  const { lines, ...sums } = merged(snapshot, 'Order');
  assert.deepEqual(sums, {
    ...{ objects: 9, selfSizeBytes: 450, retainedSizeBytes: 480 },
    ...{ unheld: 0, hidden: 0 },
  });
  assert.deepEqual(told(lines), [
    `global: 9 with 480, 1 global hold ${64 + 132 + 250 + 24 + 16 + 180 + 50}`,
    '  .byId.get(…): 5 with 250, 5 Order hold 250',
    '  .service: 4 with 230, 1 Service hold 270',
    '    .open[*]: 3 with 180, 3 Order hold 180',
    '    .last: 1 with 50, 1 Order hold 50',
  ]);
  assert.deepEqual(merged(snapshot, 'class = Order and referenced by (class = Service)').objects, 1);
});

test('objects that something else holds too: cutting the shortest path frees nothing', () => {
  const { snapshot, global } = synthProgram();
  const [near, far] = ['near', 'far'].map((name) => {
    const list = snapshot.node({ name: 'Array', size: 16 });
    snapshot.edge(global, list, name);
    return list;
  });
  const box = snapshot.node({ name: 'Box', size: 8 });
  snapshot.edge(far!, box, 0);
  for (let at = 0; at < 4; at++) {
    const order = snapshot.node({ name: 'Order', size: 50 });
    snapshot.edge(near!, order, at).edge(box, order, at);
  }
  const near4 = merged(snapshot, 'Order').lines[0]!;
  assert.equal(near4.path, 'global.near[*]');
  assert.equal(near4.retainedSizeBytes, 200);
  assert.match(
    merged(snapshot, 'class = Array')
      .lines[0]!.below.map(({ path }) => path)
      .join(' '),
    /\.near|\.far/,
  );
});

test('weak edges lead nowhere: what only they lead to is not held', () => {
  const { snapshot, global } = synthProgram();
  const held = snapshot.node({ name: 'Order', size: 50 });
  const weak = snapshot.node({ name: 'Order', size: 70 });
  const reference = snapshot.node({ name: 'WeakRef', size: 16 });
  snapshot.edge(global, held, 'held').edge(global, reference, 'ref').edge(reference, weak, 'target', 'weak');
  const { lines, unheld, objects } = merged(snapshot, 'Order');
  assert.deepEqual([objects, unheld, lines.length], [2, 1, 1]);
  assert.equal(lines[0]!.path, 'global.held');
});

test('nested objects of the class are counted once, and a tree of them is one step', () => {
  const { snapshot, global } = synthProgram();
  let level = [snapshot.node({ name: 'Folder', size: 10 })];
  snapshot.edge(global, level[0]!, 'top');
  for (let depth = 0; depth < 4; depth++)
    level = level.flatMap((folder) => {
      const list = snapshot.node({ name: 'Array', size: 2 });
      snapshot.edge(folder, list, 'folders');
      return [0, 1].map((at) => {
        const child = snapshot.node({ name: 'Folder', size: 10 });
        snapshot.edge(list, child, at);
        return child;
      });
    });
  const { lines, ...sums } = merged(snapshot, 'Folder');
  assert.deepEqual([sums.objects, sums.selfSizeBytes, sums.retainedSizeBytes], [31, 310, 310 + 15 * 2]);
  assert.deepEqual(told(lines), [
    'global.top: 31 with 340, 1 Folder hold 340',
    '  .folders[*]: 30 with 0, 30 Folder hold 328, 4 times',
  ]);
});

test('a list of 50,000 links is two lines', () => {
  const { snapshot, global } = synthProgram();
  let before = global;
  for (let at = 0; at < 50_000; at++) {
    const link = snapshot.node({ name: 'Link', size: 8 });
    snapshot.edge(before, link, at ? 'next' : 'head');
    before = link;
  }
  assert.deepEqual(told(merged(snapshot, 'Link').lines), [
    'global.head: 50000 with 400000, 1 Link hold 400000',
    '  .next: 49999 with 0, 49999 Link hold 399992, 49999 times',
  ]);
});

test('a chain of steps that never repeat is folded in the middle', () => {
  const { snapshot, global } = synthProgram();
  let before = global;
  for (let at = 0; at < 5_000; at++) {
    const next = snapshot.node({ name: `Layer${at}`, size: 8 });
    snapshot.edge(before, next, `layer${at}`);
    before = next;
  }
  snapshot.edge(before, snapshot.node({ name: 'Order' }), 'order');
  const { lines } = merged(snapshot, 'Order');
  assert.equal(lines.length, 1);
  assert.match(lines[0]!.path, /^global\.layer0\.layer1\..* … .*\.layer4999\.order$/s);
  assert.ok(lines[0]!.path.length < 400);
});

test('of 10,000 ways the largest are told, and how many are not', () => {
  const { snapshot, global } = synthProgram();
  for (let at = 0; at < 10_000; at++) {
    const owner = snapshot.node({ name: `Owner${at}`, size: 8 });
    snapshot.edge(global, owner, `owner${at}`);
    snapshot.edge(owner, snapshot.node({ name: 'Order', size: at === 777 ? 900 : 10 }), 'order');
  }
  const { lines, hidden, objects } = merged(snapshot, 'Order', 5);
  assert.deepEqual([objects, lines.length, lines[0]!.below.length], [10_000, 1, 4]);
  assert.equal(hidden, 10_000 - 4);
  assert.equal(lines[0]!.below[0]!.path, '.owner777.order');
  const text = renderHeap(
    {
      view: 'paths',
      schema: heapSchema,
      source: 'x',
      gaps: [],
      of: 'Order',
      ...merged(snapshot, 'Order', 5),
    },
    { palette: plainPalette, columns: 120 },
  );
  assert.match(text, /9,996 more lines \(--limit\)/);
});

test('a comb that parts at each of 300 steps ends, with what is deeper counted', () => {
  const { snapshot, global } = synthProgram();
  let before = global;
  for (let at = 0; at < 300; at++) {
    const next = snapshot.node({ name: `Layer${at}`, size: 8 });
    snapshot.edge(before, next, `layer${at}`).edge(next, snapshot.node({ name: 'Order' }), 'order');
    before = next;
  }
  const { lines, hidden, objects } = merged(snapshot, 'Order', 10_000);
  assert.equal(objects, 300);
  assert.ok(hidden >= 1);
  assert.equal(lines[0]!.objects, 300);
});

test('a cycle without a root, a node that refers to itself, and the root itself', () => {
  const { snapshot, root } = synthProgram();
  const [a, b, own] = [0, 1, 2].map(() => snapshot.node({ name: 'Lost' }));
  snapshot.edge(a!, b!, 'b').edge(b!, a!, 'a').edge(own!, own!, 'self');
  const { objects, unheld, lines } = merged(snapshot, 'Lost');
  assert.deepEqual([objects, unheld, lines], [3, 3, []]);
  assert.deepEqual(merged(snapshot, `@${root * 2 + 1}`).lines, []);
});

test('words: a class of any name, an id, a condition; nothing found, and what is no condition', () => {
  const { snapshot, global } = synthProgram();
  snapshot.edge(global, snapshot.node({ name: 'a b{c}', id: 901 }), 'odd');
  const heap = heapOf(snapshot);
  assert.equal(nodesOfWords(heap, 'a b{c}').length, 1);
  assert.deepEqual(nodesOfWords(heap, '@901'), nodesOfWords(heap, 'a b{c}'));
  assert.deepEqual(nodesOfWords(heap, 'class = Missing'), []);
  assert.throws(() => nodesOfWords(heap, 'Missing'), /no object of this heap is of a class Missing/);
  assert.throws(() => nodesOfWords(heap, 'class ='), { code: 'usage' });
  assert.throws(() => conditionOf('class = A group by class'), /no other clause/);
  assert.throws(() => conditionOf('class = A limit 3'), /no other clause/);
  const none = renderHeap(
    {
      view: 'paths',
      schema: heapSchema,
      source: 'x',
      gaps: [],
      of: 'class = No\x1b[31m',
      ...mergePaths(heap, [], 5),
    },
    { palette: plainPalette, columns: 120 },
  );
  assert.match(none, /^Nothing in this heap is class = No/);
  assert.ok(!none.includes('\x1b'));
});

test('the leaking agent: every message is below a line, on the steps of its own path', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'agentdump-paths-')), 'a.heapsnapshot');
  const program = fileURLToPath(
    new URL('../../../../fixtures/programs/heap/heap-leaky-agent.mjs', import.meta.url),
  );
  execFileSync(nodeBinary(usualNode.major), [program, file, '25']);
  const heap = await openHeap(file);
  const nodes = nodesOfWords(heap, '{role, tool_call_id, content}');
  const { lines, unheld, hidden, objects } = mergePaths(heap, nodes, 1000);
  assert.deepEqual([objects, unheld, hidden], [nodes.length, 0, 0]);
  assert.match(lines[0]!.path, /^global/);
  const all = (below: readonly HeapPathLine[], above = ''): [string, HeapPathLine][] =>
    below.flatMap((line) => [[above + line.path, line], ...all(line.below, above + line.path)]);
  const flat = all(lines);
  assert.equal(
    flat.reduce((sum, [, line]) => sum + line.endHere, 0),
    nodes.length,
  );
  const [place, most] = flat.toSorted(([, a], [, b]) => b.endHere - a.endHere)[0]!;
  assert.equal(place, 'global.service.sessions.get(…).messages[*]');
  // The path of each object, by the code that answers for one of them, goes through the same list.
  const inLists = nodes.filter((node) => {
    const names = pathEdges(heap, node).map((edge) => heap.snapshot.edgeName(edge));
    return names.includes('sessions') && names.includes('messages');
  });
  assert.equal(most.endHere, inLists.length);
});
