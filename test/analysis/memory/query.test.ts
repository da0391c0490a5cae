/**
 * The language of `heap query`. Twenty questions of the kind that the manuals of Eclipse MAT (OQL) and Perfetto (SQL over
 * heap graphs) ask, on a real heap whose answers follow from its construction; then missing values and invalid queries.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Heap, openHeap } from '../../../src/analysis/memory/heap.ts';
import { otherSnapshot } from '../../../src/analysis/memory/query/change.ts';
import { parseQuery } from '../../../src/analysis/memory/query/parse.ts';
import { runQuery } from '../../../src/analysis/memory/query/run.ts';
import { readHeapSnapshotSync } from '../../../src/formats/heapsnapshot/index.ts';
import { nodeBinary, realHeapSnapshot } from '../../support/heaps/real-heapsnapshots.ts';
import { majorsInTurn, usualNode } from '../../support/run/test-nodes.ts';
import { synthProgram } from '../../support/synth/synth-heapsnapshot.ts';

const program = fileURLToPath(
  new URL('../../../fixtures/programs/heap/heap-of-questions.mjs', import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), 'agentdump-query-'));

/** The rows of a `select`; for a query without one, how many nodes match. */
function answer(heap: Heap, text: string): unknown {
  const { matches, table } = runQuery(heap, parseQuery(text), 1000);
  return table ? table.rows : matches;
}

/** 300 orders, numbered from 0, of ada, bob and cleo in turns; dan has none. */
const questions: readonly [string, unknown][] = [
  // Numbers compare as numbers, below and above ten.
  ['class = Order and .number > 290', 9],
  ['class = Order and .number < 5', 5],
  ['from Order where .number between 10 and 19', 10],
  ['from Order where .price = 7.5', 1],
  // Paths: nested, quoted, by index, by the key of a Map, by a symbol.
  ['from Order where .res.statusCode >= 500', 30],
  ['from Order where .res.headers["content-type"] = "text/html"', 150],
  ['from Order where [Symbol(origin)] = shop', 100],
  [
    'select .customers["bob"].name, .customers["ada"].orders[1].number, .customers["eve"] from Index',
    [['bob', 3, null]],
  ],
  // Lengths and sizes.
  ['from Customer where .orders.length = 100', 3],
  ['select .name, .byDay.size from Customer where .byDay.size < 10 order by .name', [['bob', 9], ['dan', 0]]], // biome-ignore format: a row a question
  ['select .customers.size, .empty.size, .sparse.length, length(.customers) from Index', [[4, 0, 10, 4]]],
  ['select distinct .tags.size from Customer order by .tags.size', [[0], [7]]],
  // The room of collections against their use.
  [
    'select capacity(.empty), fill(.empty), fill(.customers), wasted(.customers) from Index',
    [[4, null, 1, 0]],
  ],
  ['from Map where fill between 0.5 and 0.7 and capacity = 16 and referenced by Customer', 3],
  ['select capacity(.name) from Customer limit 1', [[null]]],
  // Groups.
  ['select .res.statusCode, count() from Order group by .res.statusCode', [[200, 270], [500, 30]]], // biome-ignore format: a row a question
  ['select sum(.number), min(.price), max(.price), avg(.number), count(*) from Order', [[44_850, 0.5, 299.5, 149.5, 300]]], // biome-ignore format: a row a question
  [
    'select .customer.name as who, count() as orders, count(distinct .res.statusCode) from Order group by who having orders > 50 order by who',
    [
      ['ada', 100, 2],
      ['bob', 100, 2],
      ['cleo', 100, 2],
    ],
  ],
  ['select count(), sum(.number), max(.number) from Order where .number > 1000', [[0, null, null]]],
  ['from Order group by .isPaid select .isPaid, count(.note)', [[true, 150], [false, 50]]], // biome-ignore format: a row a question
  ['select distinct .customer.name from Order order by .customer.name desc', [['cleo'], ['bob'], ['ada']]],
  ['select .res.statusCode, .number from Order order by .res.statusCode desc, .number limit 2', [[500, 0], [500, 10]]], // biome-ignore format: a row a question
  // The row itself by its name, as Eclipse MAT has it; entries and ids as they are written in code.
  ['select count(o), count(distinct o.customer), count(distinct o) from Order o', [[300, 3, 300]]],
  ['select c.name from Customer c where c.byDay.get("day 2").order.number = 272', [['cleo']]],
  ['select i.customers.get("ada").name from Index i', [['ada']]],
  ['from Customer where upper(.name) = ADA', 1],
  // Texts by pattern.
  ['from Order where .note like "note 1_"', 7],
  ['from Order where .note ilike "NOTE 29%"', 8],
  ['from Order where .coupon like "SAVE\\_10\\%"', 60],
  ['from Order where .note glob "note 29?"', 7],
  ['from Order where .note ~ "^note \\\\d$"', 6],
  ['from Order where .note ~ "^note \\d$"', 6],
  ['from Order where .res.headers["content-type"] ~ "^text/\\w+$"', 150],
  // A name for the nodes, as in SQL and OQL.
  ['SELECT o.number, o.res.headers["content-type"] FROM Order o WHERE o.number > 297 ORDER BY o.number', [[298, 'application/json'], [299, 'text/html']]], // biome-ignore format: a row a question
  ['select count(o.note) from Order as o where o.res.statusCode = 500', [[20]]],
  // A missing value is neither equal nor unequal.
  ['from Order where .note is null', 100],
  ['from Order where .note is not null', 200],
  ['from Order where not .note = "note 1"', 199],
  ['from Order where .note != "note 1"', 199],
  ['from Order where .note in ("note 1", "note 2", "note 3")', 2],
  ['from Order where .note not in ("note 1", null)', 0],
  ['from Order where .number not in (1, 2)', 298],
  ['from Order where has coupon and not has .res.none', 60],
  ['from Order where .isPaid = false', 75],
  // Retainers.
  ['from Page where retained by Archive', 40],
  ['from Page where dominated by Archive', 40],
  ['from Archive where retains (class = Page and .text ~ "^page 7 ")', 1],
  ['from Shared where retained by (has shared)', 1],
  ['from Shared where dominated by (has shared and not has index)', 0],
  ['from Order where referenced by (class = Array and .length = 100)', 300],
  ['references (class = Order and .number = 299) and class = Array', 1],
  ['from Order where .customer = Customer and class(.res) = Customer', 0],
  // Promises: what waits, what has ended, and those of which nothing is known.
  ['from Promise where promise = "pending" and referenced by Task', 12],
  ['from Task where promise(.work) = "settled"', 8],
  ['from Task where promise(.work) is null', 4],
  // Arithmetic.
  ['from Order where .price - .number = 0.5 and .number % 100 = 7', 3],
  ['select count() from Order where retained(.res) >= self(.res) and -.number > -3', [[3]]],
  [
    'select lower(.coupon), length(.coupon), .number / 0 from Order where .number = 5',
    [['save_10%', 8, null]],
  ],
];

for (const major of majorsInTurn(20, 22, 24, 26))
  test(`Node ${major}: each question has the answer that follows from the program`, async () => {
    const path = join(folder, `${major}.heapsnapshot`);
    execFileSync(nodeBinary(major), [program, path]);
    const heap = await openHeap(path);
    const wrong = questions.flatMap(([text, expected]) => {
      const found = answer(heap, text);
      return isDeepStrictEqual(found, expected) ? [] : [{ text, found }];
    });
    assert.deepEqual(wrong, []);
  });

test('numbers that a snapshot lacks are missing, and that is said; where no number is asked for it is not', async () => {
  const heap = await openHeap(realHeapSnapshot(usualNode.major));
  const notes = (text: string): string => runQuery(heap, parseQuery(text), 5).notes.join();
  assert.match(notes('from Session where .id > 3'), /Numbers are not in this snapshot/);
  assert.match(notes('select sum(.id) from Session'), /Numbers are not in this snapshot/);
  assert.equal(answer(heap, 'from Session where .id > 3'), 0);
  assert.equal(answer(heap, 'from Session where .messages.length = 20'), 200);
  assert.equal(notes('from Session where .messages.length = 20'), '');
  assert.equal(notes('.role = "user"'), '');
});

test('select shows what it is asked for: edges, values, paths; groups without select have counts and sizes', () => {
  const { snapshot, global } = synthProgram();
  for (const [at, text] of ['one', 'two', 'two'].entries()) {
    const box = snapshot.node({ name: 'Box', size: 100 * (at + 1), id: 1001 + 2 * at });
    snapshot.edge(global, box, `box${at}`).edge(box, snapshot.node({ type: 'string', name: text }), 'text');
  }
  snapshot.node({ name: 'Garbage' });
  const heap = new Heap(readHeapSnapshotSync(snapshot.toBuffer()));
  assert.deepEqual(answer(heap, 'from Box order by id limit 1 select edges, id, .text, path'), [
    [1, 1001, 'one', 'global.box0'],
  ]);
  const { columns, rows } = runQuery(heap, parseQuery('from Box select id, dominator, self'), 1).table!;
  assert.deepEqual(
    columns.map(({ kind }) => kind),
    ['id', 'id', 'bytes'],
  );
  assert.deepEqual(rows, [[1005, snapshot.nodes[global]!.id, 300]]);
  assert.deepEqual(answer(heap, 'id = 1 select dominator'), [[null]]);
  assert.equal(answer(heap, 'class = Garbage and distance is null'), 1);
  assert.equal(answer(heap, 'class = Box and id = @1003'), 1);
  const { table, matches } = runQuery(heap, parseQuery('class = Box group by .text'), 1);
  assert.equal(matches, 3);
  assert.deepEqual(table, {
    columns: [
      { name: '.text', kind: 'value' },
      { name: 'count()', kind: 'number' },
      { name: 'sum(self)', kind: 'bytes' },
    ],
    rows: [['two', 2, 500]],
    rowCount: 2,
  });
});

test('what only one of two snapshots of a process has, and what both have', () => {
  /** Sessions with these ids, beside 200 objects that stay. */
  const heapWith = (ids: number[], embedderId: number): Heap => {
    const { snapshot, global } = synthProgram();
    for (let at = 0; at < 200; at++)
      snapshot.edge(global, snapshot.node({ name: 'Route', id: 2001 + 2 * at }), `route${at}`);
    for (const id of ids) snapshot.edge(global, snapshot.node({ name: 'Session', id }), `session${id}`);
    // The ids of what embeds V8 are even, and come from addresses.
    snapshot.edge(
      global,
      snapshot.node({ type: 'native', name: 'Node / Environment', id: embedderId }),
      'env',
    );
    return new Heap(readHeapSnapshotSync(snapshot.toBuffer()));
  };
  const [early, late] = [heapWith([3001, 3003], 80_000), heapWith([3003, 3005, 3007], 60_000)];
  const text = 'select change, count() from Session group by change order by change';
  const rows = (heap: Heap, other: Heap) =>
    runQuery(heap, parseQuery(text), 10, otherSnapshot(other)).table?.rows;
  assert.deepEqual(rows(late, early), [['common', 1], ['new', 2]]); // biome-ignore format: a row a group
  assert.deepEqual(rows(early, late), [['common', 1], ['gone', 1]]); // biome-ignore format: a row a group
  const { nodes } = runQuery(late, parseQuery('class = Session and change = new'), 10, otherSnapshot(early));
  assert.deepEqual(
    nodes.map(({ id }) => id),
    [3005, 3007],
  );
  assert.throws(() => answer(late, text), { code: 'usage', message: /change needs another snapshot/ });
  const { snapshot } = synthProgram();
  for (let at = 0; at < 200; at++) snapshot.node({ type: 'closure', id: 2001 + 2 * at });
  assert.throws(() => rows(late, new Heap(readHeapSnapshotSync(snapshot.toBuffer()))), {
    code: 'usage',
    message: /not of one process/,
  });
});

test('a class that nothing is of is said; a getter is no value', () => {
  const { snapshot, global } = synthProgram();
  const session = snapshot.node({ name: 'Session' });
  const getter = snapshot.node({ type: 'hidden', name: 'system / AccessorPair' });
  snapshot.edge(global, session, 'session').edge(session, getter, 'age');
  const text = snapshot.node({ type: 'string', name: 'Ann' });
  for (let at = 0; at < 3; at++) {
    const user = snapshot.node({ name: 'Object' });
    snapshot.edge(session, user, at).edge(user, text, 'name').edge(user, text, 'first');
  }
  const heap = new Heap(readHeapSnapshotSync(snapshot.toBuffer()));
  const notes = (text: string): string[] => runQuery(heap, parseQuery(text), 10).notes;
  assert.deepEqual(notes('from string'), [
    'No object of this heap is of a class "string": did you mean "(string)"?',
  ]);
  assert.match(notes('from Object')[0] ?? '', /such as \{name, first\}: name = Object finds all of them/);
  assert.deepEqual(notes('from Sesion'), [
    'No object of this heap is of a class "Sesion": did you mean "Session"?',
  ]);
  assert.deepEqual(notes('referenced by (class = Sesion or class = Session)'), [
    'No object of this heap is of a class "Sesion": did you mean "Session"?',
  ]);
  assert.deepEqual(notes('from nodes'), [
    'No object of this heap is of a class "nodes": leave `from` out to ask about all objects.',
  ]);
  assert.deepEqual(notes('from Session'), []);
  assert.deepEqual(notes('class != Sesion'), []);
  assert.deepEqual(answer(heap, 'select .age from Session'), [[null]]);
});

test('a property that no node has is said, unless it may be a number that the snapshot lacks', () => {
  const { snapshot, global } = synthProgram();
  const session = snapshot.node({ name: 'Session' });
  snapshot.edge(global, session, 'session').edge(session, snapshot.node({ name: 'User' }), 'user');
  const heap = new Heap(readHeapSnapshotSync(snapshot.toBuffer()));
  const notes = (text: string): string => runQuery(heap, parseQuery(text), 10).notes.join('|');
  assert.match(notes('from Session where .usr.name = "ann"'), /None of the objects .* has \.usr\.name\.$/);
  assert.match(notes('select .state from Session'), /None of the objects .* has \.state\.$/);
  assert.doesNotMatch(notes('from Session where has user'), /None of/);
  // Its name is in the heap: where small numbers are not, it may be one of a Session.
  assert.doesNotMatch(notes('from User where .user = 1'), /None of/);
  assert.doesNotMatch(notes('from Nobody where .state = 1'), /None of/);
});

test('an object is found by its id; that it has no order is said', () => {
  const { snapshot, global } = synthProgram();
  for (const at of [0, 1]) {
    const session = snapshot.node({ name: 'Session' });
    snapshot.edge(global, session, `session${at}`);
    snapshot.edge(session, snapshot.node({ name: 'Date', id: 5001 + 2 * at }), 'at');
  }
  const heap = new Heap(readHeapSnapshotSync(snapshot.toBuffer()));
  assert.equal(answer(heap, 'from Session where .at = @5003'), 1);
  assert.equal(answer(heap, 'from Session where .at != @5003'), 1);
  assert.deepEqual(answer(heap, 'select s.at from Session s where s.at = @5001'), [['Date @5001']]);
  const notes = (text: string): string => runQuery(heap, parseQuery(text), 10).notes.join('|');
  assert.match(notes('from Session where .at > "2026-01-01"'), /^\.at is an object \(Date\)/);
  assert.match(notes('from Session s where s.at between 1 and 2'), /^\.at is an object \(Date\)/);
  assert.equal(notes('from Session where .at = Date'), '');
});

test('a wrong question is an error that names the place', () => {
  for (const [text, said] of [
    ['class = Order and .number >', /at the end: a value expected/],
    ['self > 1 and', /at the end: a field/],
    ['.a = null', /at character 6, before "null": a value .*is null/],
    ['.a..b = 1', /at character 3, before "\.\.b/],
    ['.a[x] = 1', /at character 3, before "\[x\]/],
    ['select count( from Order', /before "from Order"/],
    ['select sum(class)', /at character 12, before "class\)": a number/],
    ['select .a, count() from Order', /at character 8, before "\.a, .*a value of the group/],
    ['count() > 3', /at character 1, .*no count\(\) where .*having/],
    ['select foo(self)', /at character 8, before "foo\(self\)": a function/],
    ['select retained(3)', /a property \(retained\(\.name\)\)/],
    ['limit 1 limit 2', /at character 9, before "limit 2": only one limit/],
    ['group self', /before "self": by expected/],
    ['select self as bytes where bytes > 100', /before "bytes > 100": .*repeat what it stands for/],
    ['select class from A union select class, self from B', /before "union .*: one query, in which `or`/],
    ['class = a order by nothing', /at character 20, .*nothing is none/],
    ['class like', /at the end: a quoted text/],
    ['class ~ "["', /at character 9, .*a regular expression/],
    ['class not 5', /before "5": in, between/],
    ['self in (1, "two")', /before "\\"two\\"\)": a number/],
    ['name > 5', /before "5": a quoted text/],
    ['self', /a comparison expected|another comparison expected/],
    ['retained by', /a class .*@id or \(/],
    ['from (string)', /a class \(in quotes, if it is more than a word/],
    ['class = "a" "b"', /at character 13/],
    ['§ § §', /one of id, name/],
    ['select status from Session', /character 8, .*or \.status, the property, expected/],
    ['select * from Session where user.admin = true', /before "user.admin .*or \.user\.admin, the property/],
    ['select self_size from Session', /character 8, .*\(here self\)/],
    ['select s.@retainedHeapSize from Session s', /character 9, .*without @/],
    ['select count(*) from instanceof Session', /character 22, before "instanceof .*class in \(A, B\)/],
    ['from Session s join User u on s.user = u', /before "join User .*no join/],
    ['from Session where .byId.has("a") = true', /before "\(.*no call/],
    ['from Session where .isPaid', /at the end: .*\(\.isPaid = true\)/],
    ['from Session where .isPaid and self > 1', /before "and self.*\(\.isPaid = true\)/],
  ] as const)
    assert.throws(() => parseQuery(text), { code: 'usage', message: said }, text);
});
