/**
 * What an open heap answers to a page, for a real heap whose objects are known: compared with the command line's own answers.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Heap, openHeap } from '../../../src/analysis/memory/heap.ts';
import { dominatorsDocument, retainersDocument } from '../../../src/analysis/memory/questions/documents.ts';
import { computeFillTable } from '../../../src/analysis/memory/questions/fill-table.ts';
import { classRows } from '../../../src/analysis/memory/questions/summary.ts';
import { openSession } from '../../../src/workbench/heap/open-session.ts';
import type { HeapSession } from '../../../src/workbench/heap/session.ts';
import { writeHeapOfQuestions } from '../../support/heaps/heap-of-questions.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-session-'));
const path = join(folder, 'orders.heapsnapshot');
const said: string[] = [];
let session: HeapSession;
let heap: Heap;
const all = { from: 0, count: 500 };

before(async () => {
  writeHeapOfQuestions(path);
  session = await openSession({ path, name: 'orders', kind: 'heap' }, ({ text }) => said.push(text));
  heap = await openHeap(path);
});
after(() => rmSync(folder, { recursive: true, force: true }));

function orderClass(): number {
  const { rows } = session.answer({ ask: 'classes', sort: 'retained', filter: 'Order', ...all });
  return rows.find(({ name, count }) => name === 'Order' && count === 300)!.class;
}

test('the opening says what it does', () => {
  for (const phase of ['dominators', 'sorting objects', 'suspects'])
    assert.ok(
      said.some((text) => text.includes(phase)),
      `${phase}: ${said}`,
    );
  assert.equal(session.summary.nodes, heap.nodeCount);
  assert.equal(session.summary.root, heap.snapshot.nodes.id.get(heap.root));
});

test('classes: sorted, filtered, in parts that add up', () => {
  const expected = classRows(heap, 'self').map(({ class: name, count }) => `${name} ${count}`);
  const parts: string[] = [];
  for (let from = 0; ; from += 7) {
    const { rows, total } = session.answer({ ask: 'classes', sort: 'self', filter: '', from, count: 7 });
    assert.equal(total, expected.length);
    parts.push(...rows.map(({ name, count }) => `${name} ${count}`));
    if (rows.length === 0) break;
  }
  assert.deepEqual(parts, expected);
  const { rows } = session.answer({ ask: 'classes', sort: 'name', filter: 'ORDER', ...all });
  assert.ok(rows.length > 0 && rows.every(({ name }) => /order/i.test(name)));
});

test('objects of a class by each order', () => {
  const kind = orderClass();
  for (const [sort, isUp] of [
    ['retained', false],
    ['self', false],
    ['distance', true],
    ['id', true],
  ] as const) {
    const { rows, total, className } = session.answer({ ask: 'objects', class: kind, sort, ...all });
    assert.deepEqual([total, rows.length, className], [300, 300, 'Order']);
    const values = rows.map((row) => row[sort] ?? 0);
    assert.deepEqual(
      values,
      values.toSorted((a, b) => (isUp ? a - b : b - a)),
      sort,
    );
  }
  const everything = session.answer({
    ask: 'objects',
    sort: 'retained',
    from: heap.nodeCount - 3,
    count: 100,
  });
  assert.deepEqual([everything.total, everything.rows.length], [heap.nodeCount, 3]);
});

test('an object: its value, its fields, who keeps it and what it keeps', () => {
  const [order] = session.answer({ ask: 'objects', class: orderClass(), sort: 'id', from: 0, count: 1 }).rows;
  const { id } = order!;
  const view = session.answer({ ask: 'object', id });
  assert.equal(view.object.class, 'Order');
  assert.equal(view.class, orderClass());
  assert.ok(view.path.text.length > 0 && view.path.steps.at(-1)?.object.id === id);
  const fields = session.answer({ ask: 'fields', id, isRaw: false, ...all });
  assert.equal(fields.total, view.counts.fields);
  assert.ok(fields.rows.some(({ name, object }) => name === 'customer' && object?.class === 'Customer'));
  const slots = session.answer({ ask: 'fields', id, isRaw: true, ...all });
  assert.ok(slots.rows.some(({ name, kind }) => name === 'map' && kind === 'internal'));
  const asked = { heap, source: '', gaps: [] };
  const retainers = session.answer({ ask: 'retainers', id, ...all });
  assert.equal(retainers.total, view.counts.retainers);
  assert.deepEqual(
    retainers.rows.map(({ object }) => object?.id),
    retainersDocument(asked, String(id), 500).retainers.map(({ node }) => node.id),
  );
  const root = session.summary.root;
  assert.deepEqual(
    session.answer({ ask: 'dominated', id: root, ...all }).rows.map(({ retained }) => retained),
    dominatorsDocument(asked, 'root', 500).nodes.map(({ retainedSizeBytes }) => retainedSizeBytes),
  );
});

test('a map of tiles adds up to what the object keeps, at each step down', () => {
  for (let id = session.summary.root, depth = 0; depth < 6; depth++) {
    const { tiles, object, above } = session.answer({ ask: 'tiles', id });
    assert.equal(
      tiles.reduce((sum, { bytes }) => sum + bytes, 0),
      object.retained,
    );
    assert.equal(above.length, depth);
    const next = tiles.find((tile) => tile.inside);
    if (next?.id === undefined) break;
    assert.equal(
      next.inside!.reduce((sum, { bytes }) => sum + bytes, 0),
      next.bytes,
    );
    id = next.id;
  }
});

test('queries: nodes, columns and groups, and what is wrong with one', () => {
  const nodes = session.answer({ ask: 'query', text: 'class = Order and .number > 290', ...all });
  assert.deepEqual([nodes.matches, nodes.total, nodes.ids.length], [9, 9, 9]);
  assert.equal(nodes.rows[0]?.[0], nodes.ids[0]);
  const groups = session.answer({
    ask: 'query',
    text: 'select .res.statusCode, count() from Order group by .res.statusCode',
    ...all,
  });
  assert.deepEqual(groups.rows, [
    [200, 270],
    [500, 30],
  ]);
  assert.throws(() => session.answer({ ask: 'query', text: 'class = ', ...all }), { code: 'usage' });
});

test('a query is completed by what this heap has', () => {
  const textsFor = (text: string) =>
    session.answer({ ask: 'complete', text, caret: text.length }).options.map((option) => option.text);
  assert.ok(textsFor('class = Ord').includes('Order'));
  assert.deepEqual(textsFor('from Order where .num'), ['number']);
  assert.deepEqual(textsFor('type = clos'), ['closure']);
  assert.deepEqual(textsFor('from Nothing where .num'), []);
});

test('the collections are those of heap fill', () => {
  const { collections, wastedBytes, classes } = session.answer({ ask: 'fill' });
  const expected = computeFillTable(heap, 100);
  assert.deepEqual([collections, wastedBytes], [expected.collections, expected.wastedBytes]);
  assert.deepEqual(classes, expected.classes);
  assert.ok(collections > 0 && classes.length > 0);
});

test('what is not there is said, and no part is larger than a screen needs', () => {
  assert.throws(() => session.answer({ ask: 'object', id: 4_000_000_000 }), { code: 'not-found' });
  assert.throws(() => session.answer({ ask: 'objects', class: 1e9, sort: 'id', ...all }), {
    code: 'not-found',
  });
  const { rows } = session.answer({ ask: 'objects', sort: 'id', from: 0, count: 1e9 });
  assert.equal(rows.length, 500);
  assert.deepEqual(session.answer({ ask: 'strings', from: 1e9, count: 5 }).rows, []);
});

test('a file that is no snapshot says so', async () => {
  await assert.rejects(
    openSession({ path: import.meta.filename, name: '', kind: 'heap' }, () => {}),
    {
      code: 'malformed-input',
    },
  );
});
