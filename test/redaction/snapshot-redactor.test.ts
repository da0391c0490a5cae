/** The heap snapshot's structural redactor: a minimal file, real files of every Node, hostile ones, any chunking. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { createPolicy, createSnapshotRedactor, findCanary } from '../../src/redaction/index.ts';
import { fuzzRuns } from '../support/run/fuzz-runs.ts';
import { nodesInTurn } from '../support/run/test-nodes.ts';

const nodeTypes = ['hidden', 'object', 'string', 'closure', 'concatenated string', 'regexp'];
const edgeTypes = ['context', 'element', 'property', 'hidden'];

interface Parts {
  strings: string[];
  nodes: number[][];
  edges: number[][];
  separator?: string;
}

/** A snapshot with three node fields and otherwise the layout that V8 writes, restated here. */
function synthSnapshot({ strings, nodes: rows, edges, separator = ',' }: Parts): string {
  const meta = {
    node_fields: ['type', 'name', 'edge_count'],
    node_types: [nodeTypes, 'string', 'number'],
    edge_fields: ['type', 'name_or_index', 'to_node'],
    edge_types: [edgeTypes, 'string_or_number', 'node'],
  };
  const list = (name: string, text: string): string => `"${name}":[${text}]`;
  return `{"snapshot":{"meta":${JSON.stringify(meta)},"node_count":${rows.length}},\n${[
    list('nodes', rows.map((row) => row.join(',')).join(separator)),
    list('edges', edges.map((row) => row.join(',')).join(separator)),
    list('trace_tree', '1,[2,[]]'),
    list('strings', strings.map((text) => JSON.stringify(text)).join(separator)),
  ].join(',\n')}}\n`;
}

function redactIn(
  text: Buffer,
  size: number,
  strings: 'names' | 'clean' = 'names',
  policy = createPolicy(),
): string {
  const redactor = createSnapshotRedactor({ strings, policy });
  const out: Buffer[] = [];
  for (let i = 0; i < text.length; i += size) out.push(redactor.write(text.subarray(i, i + size)));
  out.push(redactor.end());
  return Buffer.concat(out).toString('latin1');
}

const token = ['gh', 'p_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4'].join('');
const parts: Parts = {
  //        0          1        2          3              4             5      6
  strings: ['<dummy>', 'Agent', 'apiKey', 'opens sesame', 'both "ways"', token, 'é \\ pattern'],
  nodes: [
    [1, 1, 1],
    [2, 3, 0],
    [2, 4, 0],
    [3, 4, 0],
    [5, 6, 0],
  ],
  edges: [
    [2, 2, 3],
    [2, 5, 3],
    [1, 3, 3],
  ],
};

test('names stay, values go, a name that is a secret goes, numbers stay', () => {
  const text = synthSnapshot(parts);
  const out = JSON.parse(redactIn(Buffer.from(text, 'latin1'), 1 << 16));
  const { strings, ...rest } = JSON.parse(text);
  assert.deepEqual({ ...out, strings: undefined }, { ...rest, strings: undefined });
  assert.equal(strings.length, out.strings.length);
  assert.deepEqual(out.strings.slice(0, 5), ['<dummy>', 'Agent', 'apiKey', '[redacted]', 'both "ways"']);
  assert.match(out.strings[5], /^ghp_\[redacted:github-token#[0-9a-f]{8}\]$/);
  assert.equal(out.strings[6], '[redacted]');
});

test('chunks cut anywhere give the same file, in both line layouts', () => {
  for (const separator of [',', '\n,']) {
    const text = Buffer.from(synthSnapshot({ ...parts, separator }), 'latin1');
    const whole = redactIn(text, text.length);
    for (let size = 1; size <= 7; size++) assert.equal(redactIn(text, size), whole, `chunks of ${size}`);
    for (let cut = 1; cut < text.length; cut += 13) assert.equal(redactIn(text, cut), whole, `cut at ${cut}`);
  }
});

test('clean keeps values in which nothing is found', () => {
  const text = Buffer.from(
    synthSnapshot({
      ...parts,
      strings: ['', 'Agent', 'apiKey', 'a plain sentence', 'x', token, `see ${token}`],
    }),
  );
  const out = JSON.parse(redactIn(text, 100, 'clean'));
  assert.equal(out.strings[3], 'a plain sentence');
  assert.equal(out.strings[6], '[redacted]');
});

test('a known value is no name', () => {
  const policy = createPolicy({ known: ['opens sesame'] });
  const text = synthSnapshot({ ...parts, edges: [[2, 3, 3]] });
  const out = JSON.parse(redactIn(Buffer.from(text, 'latin1'), 50, 'names', policy));
  assert.match(out.strings[3], /^\[redacted:known-value#/);
  assert.equal(policy.counts().get('known-value'), 1);
});

test('what is not laid out as V8 writes it is refused', () => {
  const good = synthSnapshot(parts);
  const bad: Record<string, string> = {
    'no meta': good.replace('"meta"', '"mete"'),
    'no nodes': good.replace('"nodes"', '"noses"').repeat(2),
    'unknown fields': good.replace('name_or_index', 'other'),
    'string among nodes': good.replace('"nodes":[', '"nodes":["x",'),
    'string in an unknown list': good.replace('[2,[]]', '["secret"]'),
    'text between lists': good.replace('"edges"', '"x":"secret","edges"'),
    'text behind the strings': good.replace(/\}\n$/, ',"x":1}'),
    'index out of the world': good.replace('"edges":[2,2', '"edges":[2,4000000000'),
    'cut in the strings': good.slice(0, -20),
    empty: '',
  };
  for (const [fault, text] of Object.entries(bad))
    assert.throws(() => redactIn(Buffer.from(text, 'latin1'), 64), { code: 'malformed-input' }, fault);
});

/** Plants a secret in every kind of place in a heap except in names, and writes a snapshot. */
const victim = `
  const secret = ['pLanted', 'SecretValue', process.argv[2]].join('');
  globalThis.kept = { password: secret, list: [secret + '-1', new Map([['k', secret]]), Buffer.from(secret)],
    cons: secret + ' and ' + secret, sliced: (secret + 'x'.repeat(100)).slice(1), closure: () => secret,
    regexp: new RegExp(secret), error: new Error(secret) };
  class AgentConversation { constructor() { this.messages = [secret]; } }
  globalThis.conversation = new AgentConversation();
  globalThis.privates = new WeakMap([[conversation, secret], [kept, conversation], [kept.list, secret + ') -> value (x @5']]);
  require('node:v8').writeHeapSnapshot(process.argv[1]);
`;

for (const node of nodesInTurn)
  test(`a real snapshot of ${node.name} keeps its graph and no planted value`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentdump-snapshot-'));
    try {
      const file = join(folder, 'real.heapsnapshot');
      execFileSync(node.path, ['-e', victim, file, '7Q8w9E']);
      const real = readFileSync(file);
      const out = redactIn(real, 65_536);
      assert.ok(real.includes('SecretValue7Q8w9E'));
      assert.ok(!out.includes('SecretValue7Q8w9E'));
      assert.ok(!findCanary(Buffer.from(out), 'pLantedSecretValue7Q8w9E'));
      const { strings, ...rest } = JSON.parse(out);
      const { strings: before, ...restBefore } = JSON.parse(real.toString('latin1'));
      assert.deepEqual(rest, restBefore);
      assert.equal(strings.length, before.length);
      for (const name of ['AgentConversation', 'messages', 'password', 'Object'])
        assert.ok(strings.includes(name), name);
      // V8 describes an entry of a WeakMap by the names of both ends, and the name of a string is its content.
      const entries = strings.filter((text: string) => / -> value \(.*in WeakMap /.test(text)).join('\n');
      assert.match(entries, /part of key \(AgentConversation @\d+\) -> value \(\[redacted\] @\d+\) pair/);
      assert.match(entries, /part of key \(Object @\d+\) -> value \(AgentConversation @\d+\) pair/);
      assert.equal(redactIn(real, 4_099), out);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

test('any strings as names and values: a valid snapshot with no planted secret, the same at every chunk size', () => {
  const odd = fc.constantFrom(
    '"',
    '\\',
    '\\"',
    '],"strings":["',
    '\n\u2028',
    '\ud83d\ude00',
    'nodes":[',
    '\0',
  );
  const string = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), odd);
  const around = fc.tuple(string, string);
  const size = fc.integer({ min: 1, max: 300 });
  fc.assert(
    fc.property(fc.array(string, { maxLength: 12 }), around, size, (names, [before, after], chunk) => {
      const planted = `${before}${token}${after}`;
      const strings = ['<dummy>', ...names, planted];
      const object = (_: string, i: number): number[] => [1, i + 1, 0];
      const text = synthSnapshot({
        strings,
        nodes: [...names.map(object), [2, strings.length - 1, 0]],
        edges: [],
      });
      const bytes = Buffer.from(text);
      for (const kind of ['names', 'clean'] as const) {
        const policy = createPolicy({ known: [token] });
        const whole = redactIn(bytes, bytes.length, kind, policy);
        assert.ok(!whole.includes(token.slice(4)), whole);
        const parsed = JSON.parse(Buffer.from(whole, 'latin1').toString()) as { strings: string[] };
        assert.equal(parsed.strings.length, strings.length);
        assert.equal(redactIn(bytes, chunk, kind, policy), whole);
      }
    }),
    { numRuns: fuzzRuns(150), seed: 8 },
  );
});
