/** Queries on the heap of a dead process: what exists and what retains it, what is dead and left out, and its file. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type CoreGraph, readCoreGraph } from '../../../../src/analysis/core/graph/core-graph.ts';
import { snapshotHeadText } from '../../../../src/analysis/core/graph/snapshot-head.ts';
import { snapshotRecords } from '../../../../src/analysis/core/graph/snapshot-records.ts';
import { snapshotText } from '../../../../src/analysis/core/graph/snapshot-text.ts';
import { type Heap, openHeap } from '../../../../src/analysis/memory/heap.ts';
import { parseQuery } from '../../../../src/analysis/memory/query/parse.ts';
import { runQuery } from '../../../../src/analysis/memory/query/run.ts';
import { classesDocument } from '../../../../src/analysis/memory/questions/documents.ts';
import type { HeapSnapshot } from '../../../../src/formats/heapsnapshot/index.ts';
import { type HeapGraph, idOfNode } from '../../../../src/formats/v8/graph/graph.ts';
import { createRecordRedactor } from '../../../../src/redaction/snapshot/records.ts';
import { createSnapshotRedactor } from '../../../../src/redaction/snapshot/redactor.ts';
import { withheldString } from '../../../../src/redaction/snapshot/strings.ts';
import { type Death, makeCore, noCores, victims } from '../../../support/cores/core-victims.ts';
import { countEdges } from '../../../support/heaps/heap-graph-oracle.ts';
import { isWideRun, onlyWide, usualNode } from '../../../support/run/test-nodes.ts';

const bin = fileURLToPath(new URL('../../../../bin/agentdump.js', import.meta.url));
const run = (...words: string[]) =>
  spawnSync(process.execPath, [bin, 'heap', ...words], { encoding: 'utf8' });
const sessions = 200;

/** By node: text number. */
function namesOf(graph: HeapGraph): number[] {
  const names: number[] = [];
  for (const batch of graph.nodes()) names.push(...batch.names.subarray(0, batch.count));
  return names;
}

suite('the heap of a core', { skip: noCores }, () => {
  let death: Death;
  let core: CoreGraph;
  let heap: Heap;
  before(async () => {
    death = makeCore(usualNode.path, [join(victims, 'heap-graph.cjs'), '', `${sessions}`]);
    core = readCoreGraph(death.core);
    heap = await openHeap(snapshotText(core.graph));
  });
  after(() => {
    core?.close();
    death?.remove();
  });

  const count = (query: string): number => runQuery(heap, parseQuery(query), 1000).matches;

  test('every object that is alive, by its class; what nobody keeps is left out', () => {
    assert.equal(count('class = Guest'), sessions / 2);
    assert.equal(count('class = Session and has .weight'), sessions / 2);
    // Out of a hundred: a leftover word on a stack may still look like the address of one.
    assert.ok(count('class = Lost') <= 3);
  });

  test('properties, elements, private fields, Maps, dictionaries and variables of closures by their names', () => {
    assert.equal(count('class = Guest and .name ~ "session-" and .tags[1] is not null'), sessions / 2);
    assert.equal(count('has ["#secret"]'), sessions);
    assert.equal(count('class = Guest and .visits.size = 1'), sessions / 2);
    assert.equal(count('has .key1999'), 1);
    assert.equal(count('has .far'), 1);
  });

  test('who keeps what: by one path from the global object, weakly what is weak', () => {
    assert.equal(count('class = WeakRef and has .target'), 0);
    assert.equal(count('class = Session and has .weight and dominated by (class = Array)'), sessions / 2);
  });

  test('what V8 does not describe: fields of generators, and the buffers of typed arrays', () => {
    const edges = countEdges(heap);
    assert.equal(edges.get('object|steps 3 function closure|steps'), 1);
    assert.ok((edges.get('object|Float64Array 3 buffer object|ArrayBuffer') ?? 0) > 0);
  });

  test('where functions and the classes of objects were written', () => {
    const lines = readFileSync(join(victims, 'heap-graph.cjs'), 'utf8').split('\n');
    const { classes } = classesDocument({ heap, source: '', gaps: [] }, 'count', 10_000);
    const source = classes.find((row) => row.class === 'Guest')?.source;
    assert.equal(source?.file, join(victims, 'heap-graph.cjs'));
    assert.match(lines[source.line - 2]!, /class Guest/);
    assert.equal(lines[source.line - 1]!.slice(source.column - 1), '(id) {');
  });

  test('the C++ object of a wrapper, with its size', () => {
    assert.ok((countEdges(heap).get('object|TCP 3 javascript_to_native native|TCP (C++)') ?? 0) > 0);
    assert.ok(count('class = "TCP (C++)" and self > 100 and self < 10000') > 0);
  });

  test('as records, what its redacted text gives: every node, every edge, every string', async () => {
    const withheld = withheldString;
    const [first, second] = [
      readCoreGraph(death.core, { withheld }),
      readCoreGraph(death.core, { withheld, keepsEdges: true }),
    ];
    const redactor = createSnapshotRedactor({ strings: 'names' });
    async function* clean() {
      for await (const piece of snapshotText(first.graph)) yield redactor.write(piece);
    }
    const { snapshot: text } = await openHeap(clean());
    first.close();
    const strings = createRecordRedactor(snapshotHeadText(second.graph), { strings: 'names' });
    const { snapshot: records } = await openHeap(snapshotRecords(second.graph, strings, second.close));
    const columnsOf = ({ nodes, edges }: HeapSnapshot) => [
      ...[nodes.type, nodes.name, nodes.selfSize.narrow, nodes.firstEdge],
      ...[edges.packed, edges.nameOrIndex.low, edges.nameOrIndex.high],
      ...Object.values(nodes.id.parts()),
    ];
    assert.deepEqual(columnsOf(records).map(String), columnsOf(text).map(String));
    const stringsOf = ({ strings }: HeapSnapshot) =>
      Array.from({ length: strings.count }, (_, i) => strings.get(i));
    assert.deepEqual(stringsOf(records), stringsOf(text));
    assert.deepEqual(records.strings.ephemeronNames, text.strings.ephemeronNames);
    assert.ok(text.strings.ephemeronNames.length > 0);
    const placesOf = (snapshot: HeapSnapshot) =>
      Array.from({ length: snapshot.nodes.count }, (_, node) => snapshot.location(node));
    assert.deepEqual(placesOf(records), placesOf(text));
  });

  test('values that are withheld are not read, and still told apart', () => {
    const withheld = readCoreGraph(death.core, { withheld: 'gone' });
    const [own, other] = [namesOf(core.graph), namesOf(withheld.graph)];
    assert.equal(other.length, own.length);
    const [ownTexts, otherTexts] = [[...core.graph.names.all()], [...withheld.graph.names.all()]];
    withheld.close();
    const names = new Map<number, number>();
    let gone = 0;
    for (const [node, name] of own.entries()) {
      const text = ownTexts[name]!;
      const changed = other[node]!;
      assert.equal(names.get(changed) ?? name, name, text);
      names.set(changed, name);
      if (otherTexts[changed] === 'gone') gone++;
      else if (!text.includes('pair in WeakMap')) assert.equal(otherTexts[changed], text);
    }
    assert.ok(gone >= sessions, String(gone));
    assert.equal(ownTexts.includes('session-1'), true);
    assert.equal(otherTexts.includes('session-1'), false);
  });

  test('an address, tagged or within, is the object that lies there', () => {
    let seen = 0;
    const { graph } = core;
    for (let node = 0; node < graph.nodeCount && seen < 200; node += 97) {
      const address = graph.addressOf(idOfNode(node));
      if (address === undefined) continue;
      seen++;
      for (const offset of [0, 1, 9])
        assert.equal(graph.idAt(address + offset), idOfNode(node), `${address.toString(16)}`);
    }
    assert.equal(seen, 200);
    assert.equal(graph.idAt(0x10), undefined);
  });

  test('export writes a heap snapshot without the strings that are only values', async () => {
    const target = join(death.core, '..', 'out.heapsnapshot');
    const { status, stderr } = run('export', death.core, '--out', target);
    assert.equal(status, 1, stderr);
    assert.match(stderr, /C\+\+/);
    assert.equal(statSync(target).mode & 0o777, 0o600);
    const text = readFileSync(target, 'latin1');
    assert.doesNotMatch(text, /"session-1"/);
    const exported = await openHeap(target);
    assert.equal(exported.nodeCount, heap.nodeCount);
    assert.equal(exported.snapshot.header.hasLastingIds, false);
  });

  test('questions take a core where they take a snapshot, and say what it does not tell', {
    skip: onlyWide,
  }, () => {
    const { stdout, status } = run('classes', death.core, '--json');
    assert.equal(status, 1);
    const { classes, gaps } = JSON.parse(stdout);
    assert.equal(classes.find((row: { class: string }) => row.class === 'Guest')?.count, sessions / 2);
    assert.match(gaps[0].reason, /roots in native memory are guessed/);
  });

  test('questions take a living process; export too (in the wide run), without the strings that are only values', async () => {
    const code = `class Visit { constructor(id) { this.name = 'visit-' + id; } }
      globalThis.visits = Array.from({ length: 300 }, (_, id) => new Visit(id));
      setInterval(() => {}, 1000); console.log('ready');`;
    const victim = spawn(usualNode.path, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(victim.stdout, 'data');
      const { stdout, stderr } = run('classes', String(victim.pid), '--json');
      assert.match(stderr, /stood still for \d+ ms/);
      const found = JSON.parse(stdout).classes.find((row: { class: string }) => row.class === 'Visit');
      assert.equal(found?.count, 300);
      if (!isWideRun) return;
      const target = join(death.core, '..', 'living.heapsnapshot');
      run('export', String(victim.pid), '--out', target);
      assert.doesNotMatch(readFileSync(target, 'latin1'), /visit-1/);
    } finally {
      victim.kill('SIGKILL');
    }
  });

  test('a snapshot is no core to export', () => {
    const { stderr, status } = run('export', bin, '--out', join(death.core, '..', 'no.heapsnapshot'));
    assert.equal(status, 2);
    assert.match(stderr, /is no bundle, core or process/);
  });
});
