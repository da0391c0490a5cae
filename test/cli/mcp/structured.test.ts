/**
 * The structured answer of every tool, requested in plain JSON-RPC and validated with the schema that the tool itself
 * declares.
 */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Ajv, type ValidateFunction } from 'ajv';
import { boundData } from '../../../src/cli/mcp/bound-data.ts';
import { maxAnswerChars } from '../../../src/cli/mcp/envelope.ts';
import { sendBundle } from '../../../src/store/sending/send.ts';
import { newStore } from '../../store/new-store.ts';
import { writeDeath } from '../../store/synth-death.ts';
import { makeCore, noCores, nodes, victims } from '../../support/cores/core-victims.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { commonParts, synthParts, writeBundle } from '../../support/synth/synth-analysis-bundle.ts';
import { synthProgram } from '../../support/synth/synth-heapsnapshot.ts';

const bin = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-mcp-data-'));
const elsewhere = mkdtempSync(join(tmpdir(), 'agentdump-mcp-store-'));
const died = '20261120T030405.678Z-agent-uncaught-exception-00112233.agentdump';
const hung = '20261121T030405.678Z-agent-event-loop-hang-44556677.agentdump';
const leaked = '20261122T030405.678Z-agent-snapshot-8899aabb.agentdump';

const at = Date.parse('2026-11-21T03:04:05.000Z');
let seq = 0;
const event = (kind: string, afterMs: number, facts: object) => ({
  seq: ++seq,
  at: at + afterMs,
  kind,
  ...facts,
});
const events = {
  schema: 'agentdump.agent-events/1',
  at: at + 9000,
  evicted: 0,
  events: [
    event('run.start', 0, {
      run: 'r1',
      source: 'api',
      name: 'trip',
      ids: { thread_id: 'oslo-7' },
    }),
    event('step.start', 10, { id: 's1', run: 'r1', source: 'api', name: 'plan' }),
    event('message', 20, {
      message: 'm1',
      source: 'api',
      run: 'r1',
      role: 'user',
      parts: [{ type: 'text', content: 'How is Oslo? \u202e' }],
    }),
    event('state', 30, { run: 'r1', operations: [{ op: 'add', path: '/turns', value: 3 }] }),
    event('tool.start', 40, {
      id: 't1',
      run: 'r1',
      step: 's1',
      source: 'api',
      name: 'weather',
      arguments: { city: 'Oslo' },
    }),
    event('tool.end', 60, {
      id: 't1',
      status: 'failed',
      tookMs: 20,
      error: { type: 'Error', message: 'no station' },
    }),
    event('tool.start', 70, { id: 't2', run: 'r1', step: 's1', source: 'api', name: 'crawl' }),
  ],
};

const spin =
  'Error\n    at planNextStep (/srv/agent/src/plan.js:4:27)\n    at run (/srv/agent/src/agent.js:9:3)';
const trigger = commonParts()['trigger.json'] as object;
const hang = {
  'error.json': undefined,
  'trigger.json': {
    ...trigger,
    kind: 'stall',
    verdictKind: 'event-loop-hang',
    exitCode: undefined,
    exitStack: spin,
    stall: { silentMs: 5200, limitMs: 5000, where: 'javascript', cpuMs: 5100, laterStacks: [spin] },
  },
  'locals.json': {
    frames: [
      {
        functionName: 'planNextStep',
        url: '/srv/agent/src/plan.js',
        line: 4,
        column: 27,
        scopes: [{ type: 'local', variables: [{ name: 'step', value: '7' }] }],
      },
    ],
  },
};

function writeLeak(): void {
  const { snapshot, global } = synthProgram();
  const sessions = snapshot.node({ name: 'Array', size: 32 });
  snapshot.edge(global, sessions, 'sessions');
  for (let n = 0; n < 200; n++) snapshot.edge(sessions, snapshot.node({ name: 'Session', size: 50_000 }), n);
  const bundle = join(root, `${leaked}.partial`);
  mkdirSync(bundle, { mode: 0o700 });
  writeFileSync(join(bundle, 'trigger.json'), JSON.stringify({ ...trigger, kind: 'snapshot-call' }));
  const file = join(root, 'heap.gz');
  writeFileSync(file, gzipSync(snapshot.toBuffer()));
  copyFileSync(file, join(bundle, 'heap.heapsnapshot.gz'));
}

type Data = Record<string, unknown>;
interface Reply {
  result?: { tools?: Data[]; structuredContent?: Data; isError?: boolean; content?: { text: string }[] };
}

let server: ChildProcessByStdio<Writable, Readable, null>;
const waiting = new Map<number, (reply: Reply) => void>();
const schemas = new Map<string, { schema: Data; check: ValidateFunction }>();
let asked = 0;

function send(method: string, params: object): Promise<Reply> {
  const id = ++asked;
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  return new Promise((resolve) => waiting.set(id, resolve));
}

/**
 * Creates a store with two deaths of one fault and one of another. Returns its path, which is outside of the bundles' folder.
 */
async function fillStore(): Promise<string> {
  const place = join(elsewhere, 'store');
  const store = await newStore(place);
  for (const message of ['one', 'one', 'another'])
    assert.equal((await sendBundle(store, writeDeath(elsewhere, { message }))).outcome, 'stored');
  await store.close();
  return place;
}

before(async () => {
  writeBundle(join(root, died), synthParts({ 'agent-events.json': events }));
  writeBundle(join(root, hung), synthParts(hang), { verdictKind: 'event-loop-hang' });
  writeLeak();
  const place = await fillStore();
  server = spawn(process.execPath, [bin, 'mcp', '--dir', root, '--store', place], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  createInterface(server.stdout).on('line', (line) => {
    const reply = JSON.parse(line) as Reply & { id: number };
    waiting.get(reply.id)?.(reply);
  });
  await send('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  const { result } = await send('tools/list', {});
  for (const tool of result?.tools ?? []) {
    const schema = tool['outputSchema'] as Data;
    assert.ok(schema, `${tool['name']} declares no output`);
    const check = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema);
    schemas.set(String(tool['name']), { schema, check });
  }
});
after(async () => {
  server.stdin.end();
  await once(server, 'exit');
  for (const folder of [root, elsewhere]) rmSync(folder, { recursive: true, force: true });
});

async function ask(name: string, words: object = {}): Promise<Data> {
  const { result } = await send('tools/call', { name, arguments: words });
  assert.notEqual(result?.isError, true, result?.content?.[0]?.text);
  const data = result?.structuredContent;
  assert.ok(data, `${name} has no structured content`);
  const { check } = schemas.get(name) as { check: ValidateFunction };
  assert.ok(check(data), `${name}: ${JSON.stringify(check.errors?.slice(0, 5), undefined, 1)}`);
  return data;
}

const every: [tool: string, words: object][] = [
  ['list_bundles', {}],
  ['analyze', { bundle: died }],
  ['analyze', { bundle: hung }],
  ['stack', { bundle: died }],
  ['stack', { bundle: hung }],
  ['source', { bundle: died }],
  ['environment', { bundle: died }],
  ['gaps', { bundle: died }],
  ['diff', { before: died, after: hung }],
  ['agent_timeline', { bundle: died }],
  ['list_issues', {}],
  ['list_issues', { status: 'new', by: 'deaths' }],
  ['agent_where', { bundle: died, expression: 'state.turns > 2' }],
  ['agent_where', { bundle: died, expression: 'state.turns > 9' }],
  ['conversation', { bundle: died }],
  ['heap_suspects', { bundle: '8899aabb' }],
  ['heap_query', { bundle: '8899aabb', query: 'class = Session limit 3' }],
  ['heap_query', { bundle: '8899aabb', query: 'select class, count() from Session group by class' }],
  ['heap_objects', { bundle: '8899aabb', sort: 'count' }],
  ['heap_inspect', { bundle: '8899aabb', id: '@1' }],
  ['heap_paths', { bundle: '8899aabb', of: 'Session' }],
  ['heap_strings', { bundle: '8899aabb' }],
];

test('every tool declares its data, in closed objects, and gives it', async () => {
  assert.deepEqual(
    [...new Set([...every.map(([tool]) => tool), 'heap_retainers', 'issue_story'])].sort(),
    [...schemas.keys()].sort(),
  );
  for (const { schema } of schemas.values()) assert.equal(schema['additionalProperties'], false);
  for (const [tool, words] of every) await ask(tool, words);
});

test('the faults of the store: what is new, the worst, and the story of one', async () => {
  const { issues } = (await ask('list_issues', { by: 'deaths', limit: 1 })) as {
    issues: { id: string; count: number }[];
  };
  const [worst] = issues;
  assert.equal(worst?.count, 2);
  const story = await ask('issue_story', { id: worst.id.slice(0, 8), deaths: 1 });
  assert.deepEqual([story['count'], (story['deaths'] as object[]).length], [2, 1]);
  assert.deepEqual(await ask('list_issues', { status: 'resolved' }), { more: 0, issues: [] });
  const { result } = await send('tools/call', { name: 'issue_story', arguments: { id: 'ffffffff' } });
  assert.equal(result?.isError, true);
  assert.match(result?.content?.[0]?.text ?? '', /there is no issue ffffffff/);
});

test('of a hang: the function, file and line, the code there and its variables', async () => {
  const verdict = await ask('analyze', { bundle: hung });
  const place = verdict['place'] as {
    function: string;
    file: string;
    line: number;
    code: { text: string }[];
  };
  assert.deepEqual(
    [verdict['kind'], place.function, place.file, place.line],
    ['event-loop-hang', 'planNextStep', 'src/plan.js', 4],
  );
  assert.match(place.code.map(({ text }) => text).join('\n'), /step\.title/);
  const { threads } = (await ask('stack', { bundle: hung })) as unknown as {
    threads: { frames: { function: string; variables?: object[] }[] }[];
  };
  assert.deepEqual(threads[0]?.frames[0]?.variables, [{ name: 'step', value: '7' }]);
});

test('of a heap: the suspect with its path, its holders and the way from the roots', async () => {
  const { suspects } = (await ask('heap_suspects', { bundle: '8899aabb' })) as unknown as {
    suspects: { path?: string; node?: { id: number } }[];
  };
  const found = suspects.find(({ node }) => node !== undefined);
  assert.match(found?.path ?? '', /sessions/);
  const id = String(found?.node?.id);
  const held = await ask('heap_retainers', { bundle: '8899aabb', id });
  assert.ok((held['retainers'] as object[]).length > 0);
  const { path } = (await ask('heap_retainers', { bundle: '8899aabb', id, path: true })) as unknown as {
    path: { text: string; steps: object[] };
  };
  assert.match(path.text, /sessions/);
  assert.ok(path.steps.length > 1);
});

test('of a core: an object of a class by its address, and nothing outside of the folders', {
  skip: noCores || onlyWide,
}, async () => {
  const death = makeCore(nodes.at(-1)?.path ?? '', [join(victims, 'dead-heap.cjs')]);
  try {
    renameSync(death.core, join(root, 'core.4173'));
  } finally {
    death.remove();
  }
  const query = 'from Object where has .weakMap and has .token';
  const { nodes: found } = (await ask('heap_query', { core: 'core.4173', query })) as unknown as {
    nodes: { id: number }[];
  };
  const { value, gaps } = (await ask('heap_inspect', {
    core: 'core.4173',
    id: `@${found[0]?.id}`,
  })) as unknown as { value: { entries: { key: string; text: string }[] }; gaps: object[] };
  const texts = Object.fromEntries(value.entries.map(({ key, text }) => [key, text]));
  assert.equal(texts['octets'], 'Uint8Array(4) [ 0, 255, 1, 254 ]');
  assert.match(texts['token'] ?? '', /redacted/);
  assert.ok(gaps.length > 0);
  const { result } = await send('tools/call', { name: 'heap_objects', arguments: { core: '/etc/passwd' } });
  assert.equal(result?.isError, true);
  assert.match(
    result?.content?.[0]?.text ?? '',
    /no core \/etc\/passwd is within reach: there are core\.4173/,
  );
});

test('of an agent: its ids, what ended how, what was open, what was said', async () => {
  const { runs } = (await ask('agent_timeline', { bundle: died })) as unknown as {
    runs: { ids: object[]; notEnded: string[]; toolCalls: Data[] }[];
  };
  assert.deepEqual(runs[0]?.ids, [{ name: 'thread_id', value: 'oslo-7' }]);
  assert.match(runs[0]?.notEnded[0] ?? '', /^tool crawl \(t2\), running for/);
  assert.deepEqual(
    runs[0]?.toolCalls.map(({ name, status, error }) => [name, status, error !== undefined]),
    [
      ['weather', 'failed', true],
      ['crawl', 'running', false],
    ],
  );
  const { messages } = (await ask('conversation', { bundle: died })) as unknown as {
    messages: { content: string }[];
  };
  assert.match(messages[0]?.content ?? '', /How is Oslo\?.*\\u202e/);
});

test('data is as short as text: long texts are cut, and lists say what was left off', () => {
  const data = boundData({
    rows: Array.from({ length: 5000 }, (_, n) => `row ${n}`),
    long: 'x'.repeat(50_000),
    none: undefined,
  });
  assert.ok(JSON.stringify(data).length <= maxAnswerChars + 50);
  assert.equal((data['rows'] as string[]).length + Number(data['leftOff']), 5000);
  assert.equal('none' in data, false);
});
