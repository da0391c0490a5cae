/** Queries on the heap of a dead process: what exists and what retains it, what is dead and left out, and its file. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findNodeAt, readCoreGraph } from '../../../src/analysis/core/graph/core-graph.ts';
import { snapshotText } from '../../../src/analysis/core/graph/snapshot-text.ts';
import { type Heap, openHeap } from '../../../src/analysis/memory/heap.ts';
import { parseQuery } from '../../../src/analysis/memory/query/parse.ts';
import { runQuery } from '../../../src/analysis/memory/query/run.ts';
import { idOfNode } from '../../../src/formats/v8/graph/graph-columns.ts';
import { type Death, makeCore, noCores, victims } from '../../support/cores/core-victims.ts';
import { countEdges } from '../../support/heaps/heap-graph-oracle.ts';
import { usualNode } from '../../support/run/test-nodes.ts';

const bin = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const run = (...words: string[]) =>
  spawnSync(process.execPath, [bin, 'heap', ...words], { encoding: 'utf8' });
const sessions = 200;

suite('the heap of a core', { skip: noCores }, () => {
  let death: Death;
  let columns: ReturnType<typeof readCoreGraph>['columns'];
  let heap: Heap;
  before(async () => {
    death = makeCore(usualNode.path, [join(victims, 'heap-graph.cjs'), '', `${sessions}`]);
    columns = readCoreGraph(death.core).columns;
    heap = await openHeap(snapshotText(columns));
  });
  after(() => death?.remove());

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

  test('values that are withheld are not read, and still told apart', () => {
    const read = columns;
    const withheld = readCoreGraph(death.core, { withheld: 'gone' }).columns;
    assert.equal(withheld.nodeCount, read.nodeCount);
    const names = new Map<number, number>();
    let gone = 0;
    for (let node = 0; node < read.nodeCount; node++) {
      const [own, other] = [read.name[node]!, withheld.name[node]!];
      assert.equal(names.get(other) ?? own, own, read.texts[own]);
      names.set(other, own);
      if (withheld.texts[other] === 'gone') gone++;
      else if (!read.texts[own]!.includes('pair in WeakMap'))
        assert.equal(withheld.texts[other], read.texts[own]);
    }
    assert.ok(gone >= sessions, String(gone));
    assert.equal(read.texts.includes('session-1'), true);
    assert.equal(withheld.texts.includes('session-1'), false);
  });

  test('an address, tagged or within, is the object that lies there', () => {
    let seen = 0;
    for (let node = 0; node < columns.nodeCount && seen < 200; node += 97) {
      const address = columns.address[node]!;
      if (address === 0 || columns.size[node]! < 16) continue;
      seen++;
      for (const offset of [0, 1, 9])
        assert.equal(findNodeAt(columns, address + offset), idOfNode(node), `${address.toString(16)}`);
    }
    assert.equal(seen, 200);
    assert.equal(findNodeAt(columns, 0x10), undefined);
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

  test('questions take a core where they take a snapshot, and say what it does not tell', () => {
    const { stdout, status } = run('classes', death.core, '--json');
    assert.equal(status, 1);
    const { classes, gaps } = JSON.parse(stdout);
    assert.equal(classes.find((row: { class: string }) => row.class === 'Guest')?.count, sessions / 2);
    assert.match(gaps[0].reason, /roots in native memory are guessed/);
  });

  test('a mini core, which leaves the heap behind, is refused', () => {
    const mini = join(death.core, '..', 'mini.core.gz');
    const made = spawnSync(process.execPath, [bin, 'core', death.core, '--mini', mini], { encoding: 'utf8' });
    assert.match(made.stderr, /mini\.core\.gz/);
    const { stderr, status } = run('summary', mini);
    assert.equal(status, 2);
    assert.match(stderr, /holds no heap/);
  });

  test('a snapshot is no core to export', () => {
    const { stderr, status } = run('export', bin, '--out', join(death.core, '..', 'no.heapsnapshot'));
    assert.equal(status, 2);
    assert.match(stderr, /is no core file/);
  });
});
