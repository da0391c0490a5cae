/**
 * What people ask: suspects, values, paths, strings, growth, queries; on a leaking agent under two Nodes, and on small heaps.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { computeRetainedTree } from '../../../src/analysis/memory/graph/retained-tree.ts';
import { computeDigest, computeGrowth, type HeapDigest } from '../../../src/analysis/memory/growth/growth.ts';
import { growthSuspects } from '../../../src/analysis/memory/growth/growth-suspects.ts';
import { Heap, openHeap } from '../../../src/analysis/memory/heap.ts';
import { computeMemoryFacts } from '../../../src/analysis/memory/memory-facts.ts';
import { parseQuery } from '../../../src/analysis/memory/query/parse.ts';
import { runQuery } from '../../../src/analysis/memory/query/run.ts';
import { computeDuplicateStrings } from '../../../src/analysis/memory/questions/duplicate-strings.ts';
import { computeFlame } from '../../../src/analysis/memory/questions/flame.ts';
import { computeHeapValue, valueText } from '../../../src/analysis/memory/questions/heap-value.ts';
import { generalPath, pathText, shortPath } from '../../../src/analysis/memory/questions/paths.ts';
import { computeStatistics, computeSummary } from '../../../src/analysis/memory/questions/summary.ts';
import { computeSuspects } from '../../../src/analysis/memory/suspects/suspects.ts';
import { readHeapSnapshotSync } from '../../../src/formats/heapsnapshot/index.ts';
import { type HeapSuspect, heapSchema } from '../../../src/model/heap.ts';
import { renderHeap } from '../../../src/report/heap/text.ts';
import { plainPalette } from '../../../src/report/palette.ts';
import { loadWithDevTools } from '../../oracles/devtools.ts';
import { nodeBinary, realHeapSnapshot } from '../../support/heaps/real-heapsnapshots.ts';
import { isWideRun, majorsInTurn, onlyWide, testMajors, usualNode } from '../../support/run/test-nodes.ts';
import { type SynthSnapshot, synthProgram } from '../../support/synth/synth-heapsnapshot.ts';

const leakyAgent = fileURLToPath(
  new URL('../../../fixtures/programs/heap/heap-leaky-agent.mjs', import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), 'agentdump-heap-'));
const leaks = new Map<number, [string, string]>();

/** The agent's heap after some turns, and after twice as many. */
function leak(major: number): [string, string] {
  const made = leaks.get(major) ?? [
    join(folder, `${major}-a.heapsnapshot`),
    join(folder, `${major}-b.heapsnapshot`),
  ];
  if (!leaks.has(major)) execFileSync(nodeBinary(major), [leakyAgent, made[0], '25', made[1]]);
  leaks.set(major, made);
  return made;
}

const heapOf = (synth: SynthSnapshot): Heap => new Heap(readHeapSnapshotSync(synth.toBuffer()));
const bySuspectRule = (suspects: HeapSuspect[], rule: string): HeapSuspect =>
  suspects.find((suspect) => suspect.rule === rule) ??
  assert.fail(`no ${rule} among ${suspects.map((s) => s.rule)}`);

for (const major of majorsInTurn(20, 24))
  test(`Node ${major}: suspects names the agent's tool results, conversations and listeners`, async () => {
    const suspects = computeSuspects(await openHeap(leak(major)[1]));
    const results = bySuspectRule(suspects, 'tool-results');
    assert.match(
      results.sentence,
      /^\d+ % of the heap \(.* MiB\) is 3,000 tool results of read_file retained by /,
    );
    assert.match(results.sentence, /service\.sessions\.get\(…\)\.messages\[\*\]/);
    assert.ok(results.share > 0.5 && results.share < 1, String(results.share));
    const conversations = bySuspectRule(suspects, 'conversations');
    assert.match(conversations.title, /^60 conversations with 9,060 messages/);
    assert.match(conversations.evidence.join(), /AgentSession with sessionId "session-\d+"/);
    assert.match(bySuspectRule(suspects, 'listeners').title, /60 listeners for "shutdown"/);
    assert.equal(suspects[0]?.rule, 'conversations');
  });

test('the account gets classes and suspects with the part as their evidence', async () => {
  const { classes, suspects } = computeMemoryFacts(
    await openHeap(leak(usualNode.major)[1]),
    'heap.heapsnapshot.gz',
  );
  assert.ok(classes.some((row) => row.name === 'AgentSession' && row.count === 60));
  assert.deepEqual(suspects[0]?.evidence[0]?.part, 'heap.heapsnapshot.gz');
  assert.match(suspects[0]?.evidence.at(-1)?.fact ?? '', /^it is at global\.service/);
});

test('growth: the messages and the cache, by place; the same snapshot twice has none', async () => {
  const [before, after] = leak(usualNode.major);
  const first = computeDigest(await openHeap(before));
  const last = await openHeap(after);
  const growth = computeGrowth([first, computeDigest(last)], last, 10);
  assert.equal(growth.grown[0]?.path, 'global.service.sessions.get(…).messages');
  assert.equal(growth.grown[0]?.count, 60);
  assert.equal(growth.grown[1]?.path, 'global.service.answerCache');
  const tools = growth.classes.find((row) => row.class === '{role, tool_call_id, content}');
  assert.deepEqual(
    [tools?.countGrowth, tools?.added, tools?.removed, tools?.trend],
    [1500, 1500, 0, 'grows'],
  );
  const [suspect] = growthSuspects(growth, 5);
  assert.match(suspect?.title ?? '', /^\+.* at global\.service\.sessions\.get\(…\)\.messages$/);
  assert.match(suspect?.sentence ?? '', /1,500 new objects of class \{role, tool_call_id, content\}/);
  assert.ok(growth.commonShare > 0.9);
  assert.equal(growth.matchedBy, 'id');
  const same = computeGrowth([computeDigest(last), computeDigest(last)], last, 10);
  assert.deepEqual([same.classes, same.grown, growthSuspects(same, 5)], [[], [], []]);
});

test('what a table of a Map grew by is told of the Map', () => {
  const digestOf = (size: number): { heap: Heap; digest: HeapDigest } => {
    const { snapshot, global } = synthProgram();
    const map = snapshot.node({ name: 'Map', size: 32 });
    const table = snapshot.node({ type: 'array', name: '', size: 1000 });
    snapshot.edge(global, map, 'byId').edge(map, table, 'table', 'internal');
    for (let at = 0; at < size; at++)
      snapshot.edge(
        table,
        snapshot.node({ name: 'Order', size: 500, id: 10_001 + 2 * at }),
        String(at),
        'internal',
      );
    const heap = heapOf(snapshot);
    return { heap, digest: computeDigest(heap, true) };
  };
  const [before, after] = [digestOf(100), digestOf(400)];
  const { grown } = computeGrowth([before.digest, after.digest], after.heap, 5);
  assert.deepEqual(
    grown.map(({ path, growthBytes, added }) => [path, growthBytes, added?.class, added?.count]),
    [['global.byId', 150_000, 'Order', 300]],
  );
});

test('what grew at each step comes before what grew once, and tables last; what was filled and stopped is not told; a long path keeps its end on the screen', async () => {
  const { snapshot, global } = synthProgram();
  snapshot.edge(global, snapshot.node({ name: 'Registry', size: 2 ** 20 }), 'registry');
  const heap = heapOf(snapshot);
  const node = runQuery(heap, parseQuery('class = Registry'), 1).nodes[0]!;
  const path = `global.${'application'.repeat(4)}.${'container'.repeat(9)}.registry.byCustomer.orders`;
  const row = (name: string, heldBytes: number[], type = 'object') => ({
    node: { ...node, type },
    count: 1,
    beforeBytes: heldBytes[0]!,
    growthBytes: heldBytes.at(-1)! - heldBytes[0]!,
    path: name,
    heldBytes,
  });
  const mega = 2 ** 20;
  const growth = {
    snapshots: [1, 2, 3].map((times) => ({ totalBytes: times * 50 * mega, nodes: 10 })),
    classes: [],
    grown: [
      row('(compiled code)', [mega, 30 * mega, 60 * mega], 'code'),
      row('(a table)', [mega, 30 * mega, 60 * mega], 'array'),
      row('global.filled', [mega, 20 * mega, 20 * mega]),
      row('global.started', [mega, mega, 20 * mega]),
      row(path, [mega, 2 * mega, 3 * mega]),
    ],
    commonShare: 1,
    matchedBy: 'id' as const,
    hasLastingIds: true,
  };
  const suspects = growthSuspects(growth, 5);
  assert.deepEqual(
    suspects.map((suspect) => [suspect.path, suspect.confidence]),
    [
      [path, 'likely'],
      ['global.started', 'possible'],
      ['(a table)', 'likely'],
    ],
  );
  assert.match(suspects[0]!.sentence, /grew from 1 MiB to 3 MiB, 1 MiB a step/);
  const head = { schema: heapSchema as typeof heapSchema, source: 'b', gaps: [], sources: ['a', 'b', 'c'] };
  const screen = renderHeap({ ...head, ...growth, view: 'growth' }, { palette: plainPalette, columns: 80 });
  assert.match(screen, /global.* … .*\.registry\.byCustomer\.orders$/m);
});

test('growth between two processes: by class and place, whatever ids they share', {
  skip: onlyWide,
}, async () => {
  const secondRun = join(folder, 'second-a.heapsnapshot');
  const secondEnd = join(folder, 'second-b.heapsnapshot');
  execFileSync(usualNode.path, [leakyAgent, secondRun, '25', secondEnd]);
  for (const earlier of majorsInTurn(20, 24).map((major) => leak(major)[0])) {
    const first = computeDigest(await openHeap(earlier), true);
    const last = await openHeap(secondEnd);
    const growth = computeGrowth([first, computeDigest(last)], last, 10);
    assert.ok(growth.commonShare > 0.5, 'ids alone do not tell processes apart');
    assert.equal(growth.matchedBy, 'place');
    assert.equal(growth.grown[0]?.path, 'global.service.sessions.get(…).messages');
    assert.equal(growth.grown[0]?.count, 60);
    assert.ok(growth.grown.some(({ path }) => path === 'global.service.answerCache'));
    const tools = growth.classes.find((row) => row.class === '{role, tool_call_id, content}');
    assert.deepEqual([tools?.countGrowth, tools?.added, tools?.removed], [1500, 1500, 0]);
  }
});

test('a list of many links is one suspect: its head', () => {
  const { snapshot, global } = synthProgram();
  let last = snapshot.node({ name: 'Link', size: 600 });
  snapshot.edge(global, last, 'head');
  for (let at = 0; at < 5000; at++) {
    const next = snapshot.node({ name: 'Link', size: 600 });
    snapshot.edge(last, next, 'next');
    last = next;
  }
  const suspect = bySuspectRule(computeSuspects(heapOf(snapshot)), 'large-object');
  assert.match(suspect.title, /linked list/);
  assert.equal(suspect.path, 'global.head');
});

test('small rules: collection, cache, timers, promises, embeddings, documents, strings', () => {
  const { snapshot, global } = synthProgram();
  const many = (name: string, owner: number, count: number, make: () => number): void => {
    const array = snapshot.node({ name: 'Array', size: 32 });
    snapshot.edge(owner, array, name);
    for (let at = 0; at < count; at++) snapshot.edge(array, make(), at);
  };
  const text = snapshot.node({ type: 'string', name: 'text', size: 16 });
  many('history', global, 1500, () => snapshot.node({ name: 'Event', size: 4000 }));
  many('replyCache', global, 1500, () => snapshot.node({ name: 'Reply', size: 4000 }));
  const list = snapshot.node({ name: 'TimersList', size: 40 });
  many('timers', global, 600, () => {
    const timer = snapshot.node({ name: 'Timeout', size: 200 });
    snapshot.edge(timer, list, '_idleNext');
    return timer;
  });
  many('waiting', global, 11_000, () => snapshot.node({ name: 'Promise', size: 40 }));
  many('docs', global, 900, () => {
    const node = snapshot.node({ name: 'Document', size: 5000 });
    snapshot.edge(node, text, 'pageContent').edge(node, text, 'metadata');
    return node;
  });
  many('vectors', global, 200, () => {
    const node = snapshot.node({ name: 'Float32Array', size: 100 });
    const buffer = snapshot.node({ name: 'ArrayBuffer', size: 80 });
    const store = snapshot.node({ type: 'native', name: 'system / JSArrayBufferData', size: 1536 * 4 * 10 });
    snapshot.edge(node, buffer, 'buffer', 'internal').edge(buffer, store, 'backing_store', 'internal');
    return node;
  });
  many('texts', global, 400, () => snapshot.node({ type: 'string', name: 'the same prompt', size: 9000 }));
  const suspects = computeSuspects(heapOf(snapshot), { limit: 20, withTables: true });
  assert.match(
    bySuspectRule(suspects, 'growing-collection').sentence,
    /array at global\.history has 1,500 entries/,
  );
  assert.match(bySuspectRule(suspects, 'unbounded-cache').sentence, /cache at global\.replyCache/);
  assert.match(bySuspectRule(suspects, 'timers').title, /600 timers/);
  assert.match(bySuspectRule(suspects, 'pending-promises').title, /11,000 promises/);
  assert.match(bySuspectRule(suspects, 'documents').title, /900 documents/);
  assert.match(bySuspectRule(suspects, 'embeddings').sentence, /200 vectors of 15,360 numbers/);
  assert.match(
    bySuspectRule(suspects, 'duplicate-strings').sentence,
    /"the same prompt", is there 400 times/,
  );
});

test('external memory and a closure that keeps it', () => {
  const { snapshot, global } = synthProgram();
  const closure = snapshot.node({ type: 'closure', name: 'onData', size: 64 });
  const scope = snapshot.node({ name: 'system / Context', size: 40 });
  const chunks = snapshot.node({ name: 'Array', size: 32 });
  snapshot
    .edge(global, closure, 'handler')
    .edge(closure, scope, 'context', 'internal')
    .edge(scope, chunks, 'chunks', 'context');
  for (let at = 0; at < 30; at++) {
    const buffer = snapshot.node({ name: 'Buffer', size: 100 });
    const store = snapshot.node({ type: 'native', name: 'system / JSArrayBufferData', size: 100_000 });
    snapshot.edge(chunks, buffer, at).edge(buffer, store, 'backing_store', 'internal');
  }
  const suspects = computeSuspects(heapOf(snapshot), { withTables: true });
  assert.match(bySuspectRule(suspects, 'external-memory').sentence, /memory of 30 Buffers/);
  assert.match(
    bySuspectRule(suspects, 'closure-context').sentence,
    /scope of onData .* through the variable chunks/,
  );
});

test('a heap where nothing stands out has no suspects', async () => {
  assert.deepEqual(
    computeSuspects(heapOf(synthProgram().snapshot)).filter((s) => s.confidence === 'certain'),
    [],
  );
});

test('values: Map, Set, WeakMap, closure, buffer, rope and slice of a real heap', async () => {
  for (const major of majorsInTurn(20, 24, 26)) {
    const heap = await openHeap(realHeapSnapshot(major));
    const { nodes } = runQuery(heap, parseQuery('has weakByObject and has floats'), 1);
    const keep = heap.snapshot.findById(nodes[0]!.id);
    const entries = new Map(computeHeapValue(heap, keep, 100).entries.map((entry) => [entry.key, entry]));
    const value = (key: string) => computeHeapValue(heap, heap.snapshot.findById(entries.get(key)!.id), 5000);
    assert.equal(entries.get('sessions')?.text, 'Array of 200 objects');
    assert.equal(computeHeapValue(heap, keep, 1).lacksNumbers, true);
    assert.equal(value('byId').entryCount, 200);
    assert.equal(value('byId').entries[7]?.text, 'Session');
    assert.equal(value('distinct').kind, 'set');
    assert.equal(value('distinct').entryCount, 4000);
    assert.equal(value('weakByObject').entryCount, 200);
    assert.match(value('rope').text, /^"part 0 part 1 part 2 /);
    assert.equal(value('slice').kind, 'string');
    assert.equal(value('symbol').text, 'Symbol(kept)');
    if (major > 20) assert.match(value('buffer').text, /Buffer over 200000 bytes/);
    const session = computeHeapValue(heap, heap.snapshot.findById(value('sessions').entries[3]!.id), 50);
    const closure = computeHeapValue(
      heap,
      heap.snapshot.findById(session.entries.find((e) => e.key === 'lastTurn')!.id),
      50,
    );
    assert.equal(closure.kind, 'function');
    assert.ok(
      closure.entries.some((entry) => entry.key === '(scope 0) this'),
      JSON.stringify(closure.entries),
    );
    assert.match(closure.source?.file ?? '', /heap-of-everything\.mjs$/);
    assert.match(pathText(heap, heap.snapshot.findById(session.id)), /keep|sessions|context/);
  }
});

test('an array of numbers: the bytes that they take; what the snapshot lacks is said where it may matter', () => {
  const { snapshot, global } = synthProgram();
  const list = snapshot.node({ name: 'Array', size: 32 });
  const elements = snapshot.node({ type: 'array', name: '(object elements)', size: 16 + 8 * 500 });
  const text = snapshot.node({ type: 'string', name: 'a text', size: 24 });
  snapshot.edge(global, list, 'list').edge(list, elements, 'elements', 'internal').edge(global, text, 'text');
  const heap = heapOf(snapshot);
  const values = [list, text].map((node) => computeHeapValue(heap, node, 10));
  assert.deepEqual(
    values.map(({ text, lacksNumbers }) => [text, lacksNumbers]),
    [
      ['Array of 0 objects, with 4016 bytes of numbers', true],
      ['"a text"', undefined],
    ],
  );
});

for (const major of majorsInTurn(...testMajors))
  test(`Node ${major}: null, undefined and the truth values are called so`, async () => {
    const heap = await openHeap(realHeapSnapshot(major));
    const texts = new Set<string>();
    for (let node = 0; node < heap.nodeCount; node++)
      if (heap.snapshot.nodeTypeName(node) === 'hidden') texts.add(valueText(heap, node, 100));
    for (const text of ['null', 'undefined', 'true', 'false']) assert.ok(texts.has(text), text);
    assert.ok(!texts.has('system / Oddball'));
  });

test("statistics are DevTools'", { skip: isWideRun ? false : 'DevTools as an oracle' }, async () => {
  for (const major of majorsInTurn(20, 24)) {
    const heap = await openHeap(realHeapSnapshot(major));
    const theirs = (await loadWithDevTools(realHeapSnapshot(major))).getStatistics() as {
      native: { total: number; typedArrays: number };
      v8heap: { code: number; jsArrays: number; strings: number; system: number };
    };
    assert.deepEqual(computeStatistics(heap), {
      nativeBytes: theirs.native.total,
      typedArrayBytes: theirs.native.typedArrays,
      codeBytes: theirs.v8heap.code,
      stringBytes: theirs.v8heap.strings,
      jsArrayBytes: theirs.v8heap.jsArrays,
      systemBytes: theirs.v8heap.system,
    });
    const { classes, files } = computeSummary(heap, 5000);
    assert.equal(
      classes.reduce((sum, row) => sum + row.selfSizeBytes, heap.snapshot.header.extraNativeBytes),
      heap.totalBytes,
    );
    assert.ok(files.some((file) => file.name.endsWith('heap/heap-of-everything.mjs')));
  }
});

test('strings: copies counted, ropes and numbers not', () => {
  const { snapshot, global } = synthProgram();
  for (let at = 0; at < 3; at++)
    snapshot.edge(global, snapshot.node({ type: 'string', name: 'twice', size: 40 }), `s${at}`);
  snapshot.edge(global, snapshot.node({ type: 'string', name: 'once', size: 40 }), 'o');
  snapshot.edge(global, snapshot.node({ type: 'concatenated string', name: 'twice', size: 32 }), 'c');
  const { count, wastedBytes, rows } = computeDuplicateStrings(heapOf(snapshot), 10);
  assert.deepEqual([count, wastedBytes, rows.length, rows[0]?.value, rows[0]?.count], [4, 80, 1, 'twice', 3]);
});

test('queries: fields, units, properties, brackets, order; wrong ones say where', () => {
  const { snapshot, global } = synthProgram();
  const role = (text: string) => snapshot.node({ type: 'string', name: text, size: 20 });
  for (let at = 0; at < 4; at++) {
    const message = snapshot.node({ name: 'Message', size: 1024 * (at + 1), id: 1001 + 2 * at });
    snapshot.edge(global, message, `m${at}`).edge(message, role(at % 2 ? 'tool' : 'user'), 'role');
  }
  const heap = heapOf(snapshot);
  const ids = (text: string): number[] => runQuery(heap, parseQuery(text), 100).nodes.map((row) => row.id);
  assert.deepEqual(ids('class = Message'), [1007, 1005, 1003, 1001]);
  assert.deepEqual(ids('class = Message and self >= 3kb'), [1007, 1005]);
  assert.deepEqual(
    ids('class = Message and not (self > 3KiB or self < 1.5 k) sort by id asc'.replace('1.5 k', '1.5k')),
    [1003, 1005],
  );
  assert.deepEqual(ids('has role and .role = tool limit 1'), [1007]);
  assert.deepEqual(ids('name ~ "^Mess" and .role != "tool" sort by self asc'), [1001, 1005]);
  assert.deepEqual(
    parseQuery('type = object select id, class').select?.map(({ name }) => name),
    ['id', 'class'],
  );
  for (const [text, said] of [
    ['class =', /a value expected/],
    ['size > 5', /before "size > 5": one of id, name/],
    ['retained > lots', /before "lots": a number, perhaps with a unit/],
    ['distance != "2"', /a number/],
    ['(class = a', /\) expected/],
    ['class = a b', /before "b"/],
    ['class = a limit x', /a number expected/],
    [`${'('.repeat(100)}`, /fewer brackets/],
    ['class ~ "("', /regular expression/],
    ['§ = "', /expected/],
  ] as const)
    assert.throws(() => runQuery(heap, parseQuery(text), 1), said);
});

test('the flame graph adds up to the heap', async () => {
  const heap = await openHeap(realHeapSnapshot(usualNode.major));
  const frames = computeFlame(heap);
  assert.equal(
    frames.reduce((sum, frame) => sum + frame.bytes, 0),
    heap.retained[heap.root],
  );
  for (const [row, frame] of frames.entries()) assert.ok(frame.parent < row);
});

test('the tree of an account adds up to the heap, and names nothing small', async () => {
  const heap = await openHeap(realHeapSnapshot(usualNode.major));
  const rows = computeRetainedTree(heap);
  assert.equal(
    rows.reduce((sum, { bytes }) => sum + bytes, 0),
    heap.retained[heap.root],
  );
  assert.ok(rows.length > 10 && rows.length < 1500, `${rows.length} rows`);
  const totals = rows.map(({ bytes }) => bytes);
  for (let row = rows.length - 1; row > 0; row--) {
    const { parent, name } = rows[row]!;
    assert.ok(parent < row && parent >= 0);
    assert.notEqual(rows[parent]!.name, '(smaller ones)');
    totals[parent]! += totals[row]!;
    if (name !== '(smaller ones)') assert.ok(totals[row]! >= heap.totalBytes / 500, name);
  }
});

test("a place without its keys: the histories of twenty sessions are one place, an object's own properties are not", () => {
  const { snapshot: synth, global } = synthProgram();
  const histories = synth.node({ name: 'Histories' });
  synth.edge(global, histories, 'histories');
  const own = Array.from({ length: 20 }, (_, at) => {
    const history = synth.node({ name: 'History' });
    const messages = synth.node({ name: 'Array' });
    synth.edge(histories, history, `session ${at}`).edge(history, messages, 'messages');
    return messages;
  });
  const heap = heapOf(synth);
  assert.deepEqual(
    [...new Set(own.map((node) => generalPath(heap, node)))],
    ['global.histories[*].messages'],
  );
  assert.equal(pathText(heap, own[3]!), 'global.histories["session 3"].messages');
});

test('a step that is taken over and over is written once', () => {
  assert.equal(shortPath('global.list.next.next.next.next.next.value'), 'global.list.next×5.value');
  assert.equal(shortPath('a{x}{x}{x}{x}[0][0]'), 'a{x}×4[0][0]');
});

test('strings that are cut alike may be copies; strings that are whole are', () => {
  const copies = (text: string) => {
    const { snapshot: synth, global } = synthProgram();
    for (let at = 0; at < 4; at++)
      synth.edge(global, synth.node({ type: 'string', name: text, size: 2 ** 20 }), `text${at}`);
    return bySuspectRule(computeSuspects(heapOf(synth), { limit: 20 }), 'duplicate-strings');
  };
  assert.match(copies('x'.repeat(1024)).sentence, /may be copies/);
  assert.equal(copies('x'.repeat(1024)).confidence, 'possible');
  assert.match(copies('short').sentence, /is copies of strings/);
  assert.equal(copies('short').confidence, 'likely');
});
