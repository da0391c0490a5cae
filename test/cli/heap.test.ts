/** `agentdump heap` through the built program: every question, JSON and text, bundles, invalid arguments, truncated files. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Account } from '../../src/model/account.ts';
import { onlyWide, sampleOf } from '../support/run/test-nodes.ts';
import { synthProgram } from '../support/synth/synth-heapsnapshot.ts';

const program = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'agentdump-heap-'));
const snapshot = join(folder, 'small.heapsnapshot');
writeFileSync(snapshot, smallProgram());

/** 200 sessions with ten messages each. */
function smallProgram(): Buffer {
  const { snapshot: synth, global } = synthProgram();
  const array = synth.node({ name: 'Array', size: 32 });
  synth.edge(global, array, 'sessions');
  for (let at = 0; at < 200; at++) {
    const session = synth.node({ name: 'Session', size: 1000 });
    const messages = synth.node({ name: 'Array', size: 32 });
    synth.edge(array, session, at).edge(session, messages, 'messages');
    for (let turn = 0; turn < 10; turn++) {
      const message = synth.node({ name: 'Object', size: 40 });
      const content = synth.node({ type: 'string', name: `message ${turn}`, size: 64 });
      synth.edge(messages, message, turn).edge(message, content, 'content').edge(message, content, 'role');
    }
  }
  return synth.toBuffer();
}

function heap(...words: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [program, 'heap', ...words], { encoding: 'utf8', maxBuffer: 1 << 28 });
}

function json(...words: string[]): Record<string, never> & { [key: string]: unknown } {
  const { status, stdout, stderr } = heap(...words, '--json');
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

const rowKeys = [
  'id',
  'name',
  'type',
  'class',
  'selfSizeBytes',
  'retainedSizeBytes',
  'distance',
  'dominatorId',
];

test("dominators --json: the nodes by retained size, in rows of the snapshot's own ids", () => {
  const { nodes } = json('dominators', snapshot, '--limit', '50') as unknown as {
    nodes: Record<string, unknown>[];
  };
  assert.equal(nodes.length, 50);
  assert.deepEqual(Object.keys(nodes[0]!), rowKeys);
  for (let at = 1; at < 50; at++)
    assert.ok((nodes[at]!['retainedSizeBytes'] as number) <= (nodes[at - 1]!['retainedSizeBytes'] as number));
  assert.equal(nodes[0]!['dominatorId'], null);
  const below = json('dominators', snapshot, String(nodes[1]!['id'])) as unknown as {
    nodes: Record<string, unknown>[];
  };
  assert.ok(below.nodes.every((row) => row['dominatorId'] === nodes[1]!['id']));
});

test('the question may stand first, second or not at all', () => {
  const first = json('summary', snapshot);
  assert.deepEqual(json(snapshot), first);
  assert.deepEqual(json(snapshot, 'summary'), first);
  assert.equal(first['schema'], 'agentdump.heap/1');
  assert.deepEqual(first['gaps'], []);
});

test('each question answers in text and in JSON', () => {
  const { nodes } = json('query', snapshot, 'class = Session', '--limit', '1') as unknown as {
    nodes: { id: number }[];
  };
  const id = `@${nodes[0]!.id}`;
  for (const [words, said] of sampleOf<readonly [readonly string[], RegExp]>(
    [
      [['classes', snapshot, '--sort', 'count'], /\d classes in/],
      [['suspects', snapshot], /./],
      [['retainers', snapshot, id], /references? to Session @/],
      [['path', snapshot, id], /What keeps Session @/],
      [['paths', snapshot, 'Session'], /200 objects retaining .* by what holds them/],
      [['strings', snapshot], /copies waste/],
      [['fill', snapshot], /free entries waste/],
      [['show', snapshot, id], /messages/],
      [['diff', snapshot, snapshot], /snapshot/],
      [['suspects', snapshot, '--baseline', snapshot], /^Nothing that the program holds grew/],
      [['query', snapshot, 'class', '=', 'Session', 'and', 'retained', '>', '1kb'], /200 nodes/],
    ],
    3,
  )) {
    const { status, stdout, stderr } = heap(...words);
    assert.equal(status, 0, stderr);
    assert.match(stdout, said);
    assert.equal(stderr, '');
    assert.equal(json(...words)['schema'], 'agentdump.heap/1');
  }
});

test('query as CSV and JSON; export as speedscope and folded stacks, to a file that is not overwritten', {
  skip: onlyWide,
}, () => {
  const csv = heap(
    'query',
    snapshot,
    'class = Session limit 2 select id, retained',
    '--format',
    'csv',
  ).stdout;
  assert.match(csv, /^id,retainedSizeBytes\r\n\d+,\d+\r\n\d+,\d+\r\n$/);
  const table = heap('query', snapshot, 'class = Session limit 1 select type, dominator, id, name').stdout;
  assert.match(table, /^type +dominator +id +name\nobject +@\d+ +@\d+ +Session$/m);
  const out = join(folder, 'flame.json');
  assert.equal(heap('export', snapshot, '--out', out).status, 0);
  const flame = JSON.parse(readFileSync(out, 'utf8'));
  assert.equal(flame.profiles[0].samples.length, flame.profiles[0].weights.length);
  assert.equal(heap('export', snapshot, '--out', out).status, 2);
  assert.match(heap('export', snapshot, '--format', 'folded').stdout, /^\(heap\);.* \d+$/m);
});

test('--html: the heap as a page, with its suspects and what keeps what', () => {
  const { status, stdout } = heap(snapshot, '--html', '-');
  assert.equal(status, 0);
  const data = /id="account">(.*)<\/script>/.exec(stdout)?.[1] ?? '';
  const { memory } = JSON.parse(data) as Account;
  assert.ok(memory?.classes?.some(({ name }) => name === 'Session'));
  assert.ok(memory?.retained?.some(({ name }) => name === 'Session'));
  assert.equal(heap('classes', snapshot, '--html', '-').status, 2);
});

test('a snapshot from a pipe, plain and gzipped', () => {
  const { source: _, ...expected } = json('summary', snapshot);
  for (const input of [readFileSync(snapshot), gzipSync(readFileSync(snapshot))]) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [program, 'heap', 'summary', '-', '--json'],
      {
        input,
        encoding: 'utf8',
      },
    );
    assert.equal(status, 0, stderr);
    const { source, ...fromPipe } = JSON.parse(stdout);
    assert.equal(source, '-');
    assert.deepEqual(fromPipe, expected);
  }
});

test('a snapshot from a named pipe, whose bytes can be had once', () => {
  const { source: _, ...expected } = json('summary', snapshot);
  const pipe = join(folder, 'snapshot.pipe');
  const command = 'mkfifo "$0" && { cat "$1" > "$0" & } && exec "$2" "$3" heap summary "$0" --json';
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-c', command, pipe, snapshot, process.execPath, program],
    {
      encoding: 'utf8',
    },
  );
  assert.equal(status, 0, stderr);
  const { source: __, ...fromPipe } = JSON.parse(stdout);
  assert.deepEqual(fromPipe, expected);
});

test('gzip, and a bundle: torn, with the snapshot as its part', { skip: onlyWide }, () => {
  const packed = join(folder, 'a.heapsnapshot.gz');
  writeFileSync(packed, gzipSync(readFileSync(snapshot), { level: 1 }));
  const { source: _, ...expected } = json('summary', snapshot);
  const { source: __, ...fromGzip } = json('summary', packed);
  assert.deepEqual(fromGzip, expected);
  const bundle = join(folder, '20260101T000000Z-app-snapshot-0123abcd.agentdump.partial');
  mkdirSync(bundle);
  copyFileSync(packed, join(bundle, 'heap.heapsnapshot.gz'));
  writeFileSync(
    join(bundle, 'trigger.json'),
    JSON.stringify({ id: '0123abcd00000000', kind: 'snapshot-call' }),
  );
  const { source: ___, ...fromBundle } = json('summary', bundle);
  assert.deepEqual(fromBundle, expected);
});

test('wrong words are usage errors that say what is missing', () => {
  for (const [words, said] of [
    [[], /a heap snapshot, a core or a bundle is missing/],
    [['retainers', snapshot], /a node id is missing/],
    [['retainers', snapshot, 'Session'], /no node id/],
    [['diff', snapshot], /a second snapshot is missing/],
    [['summry', snapshot], /did you mean summary\?/],
    [['query', snapshot, 'size > 3'], /one of id, name/],
    [['classes', snapshot, '--sort', 'age'], /--sort takes one of/],
    [['summary', snapshot, 'more'], /one word too many/],
    [['summary', snapshot, '--limit', '0'], /--limit/],
    [['summary', snapshot, '--threads', 'two'], /--threads takes 1 or 2/],
    [['summary', snapshot, '--thread', '7'], /is no core or process: --thread selects one of their heaps/],
    [['summary', snapshot, '--thread', '0'], /--thread takes the id of a thread/],
  ] as const) {
    const { status, stderr, stdout } = heap(...words);
    assert.equal(status, 2, stderr);
    assert.match(stderr, said);
    assert.equal(stdout, '');
  }
});

test('what is no snapshot, is not there, or was cut: exit 3 and one line; a cut tail: an answer and its gaps', () => {
  const cut = (name: string, section: string): string => {
    const path = join(folder, name);
    const bytes = readFileSync(snapshot);
    writeFileSync(path, bytes.subarray(0, bytes.indexOf(`"${section}":`) + 60));
    return path;
  };
  for (const [words, said] of [
    [['summary', program], /not a heap snapshot/],
    [['summary', join(folder, 'none.heapsnapshot')], /cannot open/],
    [['summary', cut('nodes.heapsnapshot', 'nodes')], /cut/],
    [['suspects', cut('edges.heapsnapshot', 'edges')], /only a summary can be given/],
    [['show', snapshot, '@999999999'], /no node has the id/],
  ] as const) {
    const { status, stderr } = heap(...words);
    assert.equal(status, 3, stderr);
    assert.match(stderr, said);
  }
  const partial = heap('summary', cut('edges2.heapsnapshot', 'edges'), '--json');
  assert.equal(partial.status, 1);
  assert.match(JSON.parse(partial.stdout).gaps[0].reason, /edges are there/);
  assert.equal(heap('suspects', cut('strings.heapsnapshot', 'strings')).status, 1);
});
