/**
 * What looks like a leak in a single snapshot but is none: bounded caches, spare capacity of arrays, Node's own timers,
 * modules.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Heap, openHeap } from '../../../../src/analysis/memory/heap.ts';
import { parseQuery } from '../../../../src/analysis/memory/query/parse.ts';
import { runQuery } from '../../../../src/analysis/memory/query/run.ts';
import { countClass } from '../../../../src/analysis/memory/rules/counted-class.ts';
import { computeSuspects } from '../../../../src/analysis/memory/suspects/suspects.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import { nodeBinary, realHeapSnapshot } from '../../../support/heaps/real-heapsnapshots.ts';
import { majorsInTurn, testMajors } from '../../../support/run/test-nodes.ts';
import { type SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

const program = fileURLToPath(
  new URL('../../../../fixtures/programs/heap/heap-bounded.mjs', import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), 'agentdump-bounded-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const heapOf = (synth: SynthSnapshot): Heap => new Heap(readHeapSnapshotSync(synth.toBuffer()));

for (const major of majorsInTurn(...testMajors)) {
  test(`Node ${major}: a cache at its limit, a queue with room and a server are no suspects`, async () => {
    const path = join(folder, `${major}.heapsnapshot`);
    execFileSync(nodeBinary(major), [program, path]);
    const heap = await openHeap(path);
    const told = computeSuspects(heap).map(({ rule, path: where }) => `${rule} ${where}`);
    assert.deepEqual(
      told.filter((text) => /responses|embeddings|unbounded-cache/.test(text)),
      [],
    );
    const { table } = runQuery(heap, parseQuery('from Timeout select path'), 50);
    const ways = table?.rows.flat().map(String) ?? [];
    assert.ok(!ways.some((way) => way.includes('setInterval, 30000 ms')), ways.join('\n'));
  });

  test(`Node ${major}: of promises Promise.prototype is none`, async () => {
    const heap = await openHeap(realHeapSnapshot(major));
    const found = countClass(heap, 'Promise')!;
    const { nodes } = runQuery(heap, parseQuery('referenced by (class = Function and name = Promise)'), 1000);
    const prototypes = nodes.filter((node) => node.class === 'Promise').map((node) => node.id);
    for (const node of found.members()) assert.ok(!prototypes.includes(heap.snapshot.nodes.id.get(node)));
  });
}

test('a cache with a limit beside it is told only of memory that ran out, or where it is most of a large heap; one without is told', () => {
  const rulesOf = (
    limit: string | undefined,
    ownerClass: string,
    ballast: number,
    { withTables = false, entryBytes = 4000 } = {},
  ): string[] => {
    const { snapshot, global } = synthProgram();
    const owner = snapshot.node({ name: ownerClass, size: 64 });
    const entries = snapshot.node({ name: 'Array', size: 64 });
    const shape = snapshot.node({ type: 'object shape', name: 'system / Map' });
    const descriptors = snapshot.node({ type: 'object shape', name: 'system / DescriptorArray' });
    snapshot
      .edge(global, owner, 'cache')
      .edge(owner, entries, 'entries')
      .edge(owner, shape, 'map', 'internal')
      .edge(shape, descriptors, 'descriptors', 'internal');
    if (limit) snapshot.edge(descriptors, snapshot.node({ type: 'string', name: limit }), '0', 'internal');
    for (let at = 0; at < 1500; at++)
      snapshot.edge(entries, snapshot.node({ name: 'Reply', size: entryBytes }), at);
    snapshot.edge(global, snapshot.node({ name: 'Table', size: ballast }), 'table');
    return computeSuspects(heapOf(snapshot), { limit: 20, withTables })
      .filter(({ path }) => path?.startsWith('global.cache'))
      .map(({ rule, confidence }) => `${rule} ${confidence}`);
  };
  const mega = 2 ** 20;
  assert.ok(rulesOf(undefined, 'Replies', 10 * mega).includes('unbounded-cache possible'));
  for (const limit of ['max', 'maxSize', '#max', 'limit', 'maxEntries', 'capacity'])
    assert.ok(
      !rulesOf(limit, 'Replies', 10 * mega).some((rule) => rule.startsWith('unbounded-cache')),
      limit,
    );
  // Nobody has a pool of thousands of connections.
  assert.ok(rulesOf(undefined, 'MockPool', 10 * mega).includes('unbounded-cache possible'));
  for (const name of ['LRUCache', 'QuickLRU', 'LruCache', 'RingBuffer'])
    assert.ok(!rulesOf(undefined, name, 10 * mega).some((rule) => rule.startsWith('unbounded-cache')), name);
  for (const property of ['maximal', 'limits', 'relimit'])
    assert.ok(rulesOf(property, 'Replies', 10 * mega).includes('unbounded-cache possible'), property);
  assert.deepEqual(rulesOf('max', 'Replies', 0), []);
  assert.ok(rulesOf('max', 'Replies', 0, { withTables: true }).includes('unbounded-cache possible'));
  assert.ok(rulesOf('max', 'Replies', 0, { entryBytes: 200_000 }).includes('unbounded-cache possible'));
});

test('a cache whose array was made at its full length is no suspect; one that has spare room is', () => {
  const rulesOf = (spareBytes: number): string[] => {
    const { snapshot, global } = synthProgram();
    const owner = snapshot.node({ name: 't', size: 64 });
    const values = snapshot.node({ name: 'Array', size: 32 });
    const elements = snapshot.node({
      type: 'array',
      name: '(object elements)',
      size: 16 + 8 * 1500 + spareBytes,
    });
    snapshot
      .edge(global, owner, 'cache')
      .edge(owner, values, '#t')
      .edge(values, elements, 'elements', 'internal');
    for (let at = 0; at < 1500; at++) snapshot.edge(values, snapshot.node({ name: 'Reply', size: 4000 }), at);
    snapshot.edge(global, snapshot.node({ name: 'Table', size: 10 * 2 ** 20 }), 'table');
    return computeSuspects(heapOf(snapshot))
      .filter(({ path }) => path?.startsWith('global.cache["#t"]'))
      .map(({ rule }) => rule);
  };
  assert.ok(!rulesOf(0).includes('unbounded-cache'));
  assert.ok(rulesOf(800).includes('unbounded-cache'));
});

test('what owns a table, an index of it and a cache with a limit is no suspect; with a list that something adds to it is', () => {
  const titles = (spareBytes: number): string[] => {
    const { snapshot, global } = synthProgram();
    const shop = snapshot.node({ name: 'Shop', size: 64 });
    const rows = snapshot.node({ name: 'Array', size: 32 });
    const index = snapshot.node({ name: 'Index', size: 64 });
    const cache = snapshot.node({ name: 'LRUCache', size: 64 });
    const entries = snapshot.node({ name: 'Entries', size: 64 });
    const size = 16 + 8 * 1500 + spareBytes;
    snapshot
      .edge(global, shop, 'shop')
      .edge(shop, rows, 'rows')
      .edge(shop, index, 'index')
      .edge(shop, cache, 'cache')
      .edge(rows, snapshot.node({ type: 'array', name: '(object elements)', size }), 'elements', 'internal')
      .edge(cache, entries, 'entries');
    for (let at = 0; at < 1500; at++) {
      const row = snapshot.node({ name: 'Object', size: 4000 });
      snapshot.edge(rows, row, at).edge(index, row, `row ${at}`);
      snapshot.edge(entries, snapshot.node({ name: 'Object', size: 4000 }), `page ${at}`);
    }
    return computeSuspects(heapOf(snapshot)).map(({ title }) => title.replace(/^.* MiB\)?: /, ''));
  };
  assert.deepEqual(titles(0), []);
  assert.match(titles(800)[0] ?? '', /global\.shop/);
});

test('timers that were cleared, to which something still refers, are not waiting', () => {
  const titles = (waiting: number): string[] => {
    const { snapshot, global } = synthProgram();
    const list = snapshot.node({ name: 'TimersList', size: 64 });
    const sockets = snapshot.node({ name: 'Set', size: 64 });
    snapshot.edge(global, list, 'timers').edge(global, sockets, 'sockets');
    for (let at = 0; at < 900; at++) {
      const timer = snapshot.node({ name: 'Timeout', size: 4000 });
      snapshot.edge(sockets, timer, `closeTimer${at}`);
      if (at < waiting) snapshot.edge(timer, list, '_idleNext');
    }
    return computeSuspects(heapOf(snapshot)).flatMap(({ rule, title }) => (rule === 'timers' ? [title] : []));
  };
  assert.deepEqual(titles(10), []);
  assert.match(titles(600)[0] ?? '', /^600 timers are waiting/);
});

test('lists that are all at one length are kept at it, and no suspects; of several lengths they are', () => {
  const titles = (lengthOf: (list: number) => number): string[] => {
    const { snapshot, global } = synthProgram();
    const history = snapshot.node({ name: 'History', size: 64 });
    snapshot.edge(global, history, 'history');
    for (let list = 0; list < 40; list++) {
      const messages = snapshot.node({ name: 'Array', size: 32 });
      snapshot.edge(history, messages, `user${list}`);
      for (let at = 0; at < lengthOf(list); at++)
        snapshot.edge(messages, snapshot.node({ name: 'Object', size: 4000 }), at);
    }
    return computeSuspects(heapOf(snapshot)).map(({ title }) => title);
  };
  assert.deepEqual(
    titles((list) => (list < 2 ? 20 : 50)),
    [],
  );
  assert.match(titles((list) => 30 + list)[0] ?? '', /global\.history/);
});

test('what is not told of a list with two ends does not keep its links from being told', () => {
  const { snapshot, global } = synthProgram();
  const jobs = snapshot.node({ name: 'Jobs', size: 64 });
  snapshot.edge(global, jobs, 'jobs');
  const links = Array.from({ length: 1500 }, () => snapshot.node({ name: 'Link', size: 4000 }));
  for (const [at, link] of links.entries()) {
    if (at) snapshot.edge(link, links[at - 1]!, 'before').edge(links[at - 1]!, link, 'after');
  }
  snapshot.edge(jobs, links[0]!, 'first').edge(jobs, links.at(-1)!, 'last');
  assert.deepEqual(
    computeSuspects(heapOf(snapshot)).map(({ title }) => title.replace(/hold .*: /, 'at ')),
    ['1,500 Link objects at global.jobs'],
  );
});

test('a trie is no suspect, nor its leaves; as many trees that are apart are', () => {
  const placesOf = (roots: number): unknown[] => {
    const { snapshot, global } = synthProgram();
    const tries = snapshot.node({ name: 'Tries', size: 64 });
    snapshot.edge(global, tries, 'tries');
    const nodes: number[] = [];
    for (let at = 0; at < 6000; at++) {
      const branch = snapshot.node({ name: at < 3000 ? 'Branch' : 'Leaf', size: 1000 });
      if (at < roots) snapshot.edge(tries, branch, at);
      else snapshot.edge(nodes[at < 4 * roots ? at % roots : at >> 2]!, branch, `letter${at}`);
      nodes.push(branch);
    }
    return computeSuspects(heapOf(snapshot)).map(({ path }) => path);
  };
  assert.deepEqual(placesOf(1), []);
  assert.deepEqual(placesOf(1200), ['global.tries']);
});

test('the exports of a module as a whole are no suspect', () => {
  const { snapshot, global } = synthProgram();
  const exported = snapshot.node({ size: 6 * 2 ** 20 });
  snapshot.edge(exported, snapshot.node({ type: 'hidden', name: 'true', size: 0 }), '__esModule');
  for (const name of ['parse', 'render'])
    snapshot.edge(exported, snapshot.node({ type: 'closure', name }), name);
  snapshot.edge(global, exported, 'library');
  assert.deepEqual(
    computeSuspects(heapOf(snapshot)).map(({ title }) => title),
    [],
  );
});

test('an index of a table that was made at once, and a single buffer, are no suspects; many buffers are, and a memory of WebAssembly', () => {
  const titles = (build: (program: ReturnType<typeof synthProgram>) => void): string[] => {
    const program = synthProgram();
    build(program);
    return computeSuspects(heapOf(program.snapshot)).map(({ title }) => title);
  };
  const rows = 1500;
  const indexed =
    (spareBytes: number) =>
    ({ snapshot, global }: ReturnType<typeof synthProgram>): void => {
      const shop = snapshot.node({ size: 64 });
      const table = snapshot.node({ name: 'Array', size: 32 });
      const elements = snapshot.node({
        type: 'array',
        name: '(object elements)',
        size: 16 + 8 * rows + spareBytes,
      });
      const byId = snapshot.node({ size: 64 });
      snapshot
        .edge(global, shop, 'shop')
        .edge(shop, table, 'table')
        .edge(table, elements, 'elements', 'internal')
        .edge(shop, byId, 'byId');
      for (let at = 0; at < rows; at++) {
        const row = snapshot.node({ size: 4000 });
        snapshot.edge(table, row, at).edge(byId, row, `p${at}`);
      }
    };
  assert.deepEqual(titles(indexed(0)), []);
  assert.notDeepEqual(titles(indexed(800)), []);

  const buffers =
    (count: number, owner: string) =>
    ({ snapshot, global }: ReturnType<typeof synthProgram>): void => {
      const held = snapshot.node({ name: 'Array', size: 64 });
      snapshot.edge(global, held, 'frames');
      for (let at = 0; at < count; at++) {
        const memory = snapshot.node({ name: owner, size: 64 });
        const buffer = snapshot.node({ name: 'ArrayBuffer', size: 64 });
        const store = snapshot.node({
          type: 'native',
          name: 'system / JSArrayBufferData',
          size: 12_000_000 / count,
        });
        snapshot
          .edge(held, memory, at)
          .edge(memory, buffer, 'buffer', 'internal')
          .edge(buffer, store, 'backing_store', 'internal');
      }
    };
  assert.deepEqual(titles(buffers(1, 'Uint8Array')), []);
  assert.match(titles(buffers(1, 'Memory')).join(), /Buffers hold .*: global\.frames/);
  assert.deepEqual(titles(buffers(20, 'Uint8Array')), [], 'twenty may be a pool');
  assert.match(titles(buffers(200, 'Uint8Array')).join('; '), /Buffers hold [^;]*: global\.frames(?:;|$)/);
});

test('what a program defines, in hundreds, is no suspect; a crowd of the same things is one, and some hundred emitters', () => {
  const rulesOf = (count: number, isEmitter = false): string[] => {
    const { snapshot, global } = synthProgram();
    const registry = snapshot.node({ size: 64 });
    snapshot.edge(global, registry, 'registry');
    for (let at = 0; at < count; at++) {
      const model = snapshot.node({ name: 'Model', size: 9_000_000 / count });
      if (isEmitter) snapshot.edge(model, snapshot.node({ size: 32 }), '_events');
      snapshot.edge(registry, model, `model ${at}`);
    }
    return computeSuspects(heapOf(snapshot)).map(({ confidence }) => confidence);
  };
  assert.deepEqual(rulesOf(600), []);
  assert.equal(rulesOf(3000)[0], 'possible');
  assert.equal(rulesOf(600, true)[0], 'possible');
});

test('some hundred routes with their handlers in a list are definitions; as many jobs whose list has none are a crowd', () => {
  const titles = (withHandlers: boolean): string[] => {
    const { snapshot, global } = synthProgram();
    const stack = snapshot.node({ name: 'Array', size: 64 });
    snapshot.edge(global, stack, 'stack');
    for (let at = 0; at < 150; at++) {
      const route = snapshot.node({ name: 'Route', size: 20_000 });
      const layers = snapshot.node({ name: 'Array', size: 32 });
      const layer = snapshot.node({ name: 'Layer', size: 64 });
      snapshot.edge(stack, route, at).edge(route, layers, 'stack').edge(layers, layer, 0);
      snapshot.edge(layer, snapshot.node({ type: withHandlers ? 'closure' : 'object', size: 64 }), 'handle');
    }
    return computeSuspects(heapOf(snapshot)).map(({ title }) => title);
  };
  assert.deepEqual(titles(true), []);
  assert.match(titles(false).join(), /: global\.stack$/);
});

test('a crowd whose members share what they hold, and a few worlds in wrappers, are told; a list of a hundred that was made at once is not', () => {
  const titles = (build: (program: ReturnType<typeof synthProgram>) => void): string[] => {
    const program = synthProgram();
    build(program);
    return computeSuspects(heapOf(program.snapshot)).map(({ title }) => title);
  };
  /** Each document is in two entries, so that neither retains it. */
  const history = ({ snapshot, global }: ReturnType<typeof synthProgram>): void => {
    const undo = snapshot.node({ name: 'Array', size: 64 });
    snapshot.edge(global, undo, 'undo');
    let before = snapshot.node({ name: 'Document', size: 4000 });
    for (let at = 0; at < 2000; at++) {
      const [entry, after] = [snapshot.node({ size: 64 }), snapshot.node({ name: 'Document', size: 4000 })];
      snapshot.edge(undo, entry, at).edge(entry, before, 'before').edge(entry, after, 'after');
      before = after;
    }
  };
  assert.match(titles(history).join(), /array with 2,000 entries .*: global\.undo/);

  const pages =
    (name: string) =>
    ({ snapshot, global }: ReturnType<typeof synthProgram>): void => {
      const pages = snapshot.node({ size: 64 });
      snapshot.edge(global, pages, 'pages');
      for (let at = 0; at < 12; at++) {
        const page = snapshot.node({ name: 'Page', size: 64 });
        snapshot.edge(pages, page, `page ${at}`).edge(page, snapshot.node({ name, size: 500_000 }), 'inside');
      }
    };
  assert.match(titles(pages('Window')).join(), /: global\.pages$/);
  assert.deepEqual(titles(pages('Document')), []);

  const ring =
    (spareBytes: number, length = 256) =>
    ({ snapshot, global }: ReturnType<typeof synthProgram>): void => {
      const frames = snapshot.node({ name: 'Array', size: 32 });
      const elements = snapshot.node({
        type: 'array',
        name: '(object elements)',
        size: 16 + 8 * length + spareBytes,
      });
      snapshot.edge(global, frames, 'frames').edge(frames, elements, 'elements', 'internal');
      for (let at = 0; at < length; at++)
        snapshot.edge(frames, snapshot.node({ name: 'Frame', size: 20_000 }), at);
    };
  assert.deepEqual(titles(ring(0)), []);
  assert.deepEqual(titles(ring(0, 300)), []);
  assert.notDeepEqual(titles(ring(800)), []);
  // `list = list.concat(one)` leaves no room either, but nobody chose its length.
  assert.match(titles(ring(0, 317)).join(), /: global\.frames$/);
});
