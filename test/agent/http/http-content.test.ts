/** Requests that are not model calls, with their content: bodies in pieces, bounded and redacted, and the events of each. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import '../../support/run/fuzz-runs.ts';
import type { ExchangeStart } from '../../../src/agent/http/exchange.ts';
import { BodyReader, bodyLimitBytes } from '../../../src/agent/http/http-body.ts';
import { openExchange } from '../../../src/agent/http/open-exchange.ts';
import { AgentRecorder } from '../../../src/agent/record/recorder.ts';
import { EventSink } from '../../../src/agent/record/sink.ts';
import type { AgentEvent } from '../../../src/journal/layout/agent.ts';
import { createPolicy } from '../../../src/redaction/policy.ts';

const same = (text: string) => text;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function read(
  bytes: Uint8Array,
  { encoding = undefined as string | undefined, step = bytes.length || 1 } = {},
) {
  const reader = new BodyReader(encoding);
  for (let at = 0; at < bytes.length; at += step) reader.push(bytes.subarray(at, at + step));
  reader.end();
  return reader.read(same);
}

test('a body is read in chunks of 1 to 7 bytes, plain and encoded', () => {
  const text = '{"place":"Tromsø","snow":"❄"}';
  for (let step = 1; step <= 7; step++) {
    const bytes = Buffer.byteLength(text);
    assert.deepEqual(read(Buffer.from(text), { step }), { bytes, text });
    assert.deepEqual(read(gzipSync(text), { step, encoding: 'gzip' }), { bytes, text });
  }
  assert.equal(read(Buffer.alloc(0)), undefined);
});

test('of what is no text, and of what is too long, size and hash are kept', () => {
  for (const bytes of [Buffer.from([0x89, 0x50, 0xff]), Buffer.from('a\0b')])
    assert.deepEqual(read(bytes), { bytes: bytes.length, sha256: sha256(bytes), gap: 'binary' });
  const long = Buffer.from('ø'.repeat(bodyLimitBytes));
  for (const step of [long.length, 9999]) {
    const { text = '', ...rest } = read(long, { step }) ?? assert.fail('nothing');
    assert.deepEqual(rest, { bytes: long.length, sha256: sha256(long), gap: 'cut' });
    assert.match(text, /^ø+$/);
    assert.ok(Math.abs(Buffer.byteLength(text) - bodyLimitBytes) <= 8192);
  }
});

test('an encoding that is unknown or broken is named', () => {
  const broken = gzipSync('hello').fill(0xff, 2);
  for (const [bytes, encoding] of [
    [broken, 'gzip'],
    [Buffer.from('hello'), 'rot13'],
  ] as const)
    assert.deepEqual(read(bytes, { encoding }), { bytes: 0, sha256: sha256(bytes), gap: 'encoding' });
});

test('a cut goes through no secret', () => {
  const policy = createPolicy();
  const secret = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
  for (const shift of [1, 20, 39]) {
    const reader = new BodyReader(undefined);
    reader.push(
      `${'x '.repeat((bodyLimitBytes - 40) / 2)}${' '.repeat(shift)}${secret} ${'y '.repeat(20_000)}`,
    );
    const { text = '' } = reader.read((one) => policy.text(one)) ?? {};
    assert.ok(text.length > bodyLimitBytes / 2);
    for (let from = 4; from + 12 <= secret.length; from++)
      assert.ok(!text.includes(secret.slice(from, from + 12)), `a part of it is kept, shift ${shift}`);
  }
});

test('any bytes are read without a failure, and never more than there were', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
      fc.constantFrom(undefined, 'gzip', 'deflate', 'br', 'identity', 'x'),
      (chunks, encoding) => {
        const reader = new BodyReader(encoding);
        for (const chunk of chunks) reader.push(chunk);
        reader.end();
        const body = reader.read(same);
        const whole = Buffer.concat(chunks);
        if (body?.text !== undefined && !encoding) assert.deepEqual(Buffer.from(body.text), whole);
        if (body?.sha256) assert.equal(body.sha256, sha256(whole));
      },
    ),
  );
});

function recording(http: 'content' | 'metadata') {
  const sink = new EventSink({ policy: createPolicy() });
  const recorder = new AgentRecorder(sink, { model: 'content', http }, 0);
  const open = (more: Partial<ExchangeStart> = {}) =>
    openExchange(recorder, { ...start, ...more }) ?? assert.fail('not recorded');
  const events = (): AgentEvent[] => {
    recorder.flush();
    return JSON.parse(sink.renderPart()).events;
  };
  return { open, events };
}

const start: ExchangeStart = {
  source: 'undici',
  method: 'POST',
  host: 'api.example.com',
  port: 8080,
  path: '/v1/places',
  query: 'units=metric&api_key=hunter2hunter2hunter2',
  header: () => undefined,
};
const headers = (more: Record<string, string>) => (name: string) => more[name];
const kinds = (events: AgentEvent[]) => events.map(({ kind }) => kind);

test('a request that is written late has the times at which it began and ended', () => {
  const { open, events } = recording('metadata');
  const ended = open();
  open();
  ended.responseHead(500, headers({}));
  ended.end();
  const afterwards = Date.now();
  while (Date.now() < afterwards + 5);
  const [end, begin] = events();
  assert.deepEqual(kinds([end, begin] as AgentEvent[]), ['http.end', 'http.start']);
  for (const event of [end, begin]) assert.ok((event?.at ?? Infinity) <= afterwards, event?.kind);
});

test('a request is recorded as it is sent and as it is answered, without its secrets', () => {
  const { open, events } = recording('content');
  const exchange = open();
  exchange.requestChunk('{"password":"hunter2hunter2",');
  exchange.requestChunk('"city":"Oslo"}');
  exchange.requestSent();
  exchange.responseHead(200, headers({ 'content-type': 'application/json', 'set-cookie': 'id=1' }));
  exchange.responseChunk(Buffer.from('{"id":7}'));
  exchange.end();
  exchange.fail(new Error('late'));
  const [begin, end, ...more] = events();
  assert.equal(more.length, 0);
  const { asked, host } = begin as Extract<AgentEvent, { kind: 'http.start' }>;
  assert.equal(host, 'api.example.com:8080');
  assert.match(asked?.path ?? '', /^\/v1\/places\?units=metric&api_key=\[redacted:/);
  assert.match(asked?.body?.text ?? '', /^\{"password":"\[redacted:[^"]+","city":"Oslo"\}$/);
  assert.deepEqual((end as Extract<AgentEvent, { kind: 'http.end' }>).answered, {
    headers: { 'content-type': 'application/json' },
    body: { bytes: 8, text: '{"id":7}' },
  });
});

test('a death tells what has come, once for all that came', () => {
  const { open, events } = recording('content');
  const exchange = open();
  assert.deepEqual(kinds(events()), ['http.start']);
  exchange.responseHead(200, () => undefined);
  exchange.responseChunk(Buffer.from('{"id"'));
  assert.deepEqual(kinds(events()), ['http.start', 'http.answer']);
  const answer = events().at(-1) as Extract<AgentEvent, { kind: 'http.answer' }>;
  assert.equal(answer.answered.body?.text, '{"id"');
  exchange.responseChunk(Buffer.from(':7}'));
  assert.deepEqual(kinds(events()), ['http.start', 'http.answer', 'http.answer']);
  exchange.fail(new Error('reset'));
  const end = events().at(-1) as Extract<AgentEvent, { kind: 'http.end' }>;
  assert.deepEqual([end.status, end.answered?.body?.text], ['cut', '{"id":7}']);
});

test('a connection that failed is a request without an answer', () => {
  const { open, events } = recording('content');
  open().fail(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const [, end] = events() as [AgentEvent, Extract<AgentEvent, { kind: 'http.end' }>];
  assert.deepEqual([end.status, end.answered, end.error?.code], ['failed', undefined, 'ECONNREFUSED']);
});

test('a call to an MCP server is recorded as both, so that a replay has its answer', () => {
  const { open, events } = recording('content');
  const accept = headers({ accept: 'application/json, text/event-stream' });
  const exchange = open({ header: accept });
  exchange.requestChunk(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
  exchange.requestSent();
  exchange.responseHead(200, headers({ 'content-type': 'application/json', 'mcp-session-id': 's1' }));
  exchange.responseChunk(Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}'));
  exchange.end();
  const said = kinds(events());
  for (const kind of ['mcp.message', 'http.start', 'http.end'] as const) assert.ok(said.includes(kind), kind);
});

test('a call to an MCP server ends with an HTTP error, and when the client gives it up', () => {
  const { open, events } = recording('metadata');
  const accept = headers({ accept: 'application/json, text/event-stream' });
  const send = (message: object) => {
    const exchange = open({ header: accept });
    exchange.requestChunk(JSON.stringify({ jsonrpc: '2.0', ...message }));
    exchange.requestSent();
    return exchange;
  };
  const answer = (exchange: ReturnType<typeof open>, id: number) => {
    exchange.responseHead(200, headers({ 'content-type': 'application/json' }));
    exchange.responseChunk(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })));
    exchange.end();
  };
  const search = { method: 'tools/call', params: { name: 'search', arguments: {} } };
  const ends = () =>
    events().flatMap((event) =>
      event.kind === 'tool.end' ? [[event.status, event.error?.code ?? event.error?.message]] : [],
    );
  send({ id: 1, ...search }).responseHead(502, headers({}));
  assert.deepEqual(ends(), [['failed', 502]]);
  const late = send({ id: 2, ...search });
  const params = { requestId: 2, reason: 'Request timed out' };
  send({ method: 'notifications/cancelled', params }).responseHead(202, headers({}));
  answer(late, 2);
  assert.deepEqual(ends().slice(1), [['failed', 'Request timed out']], 'a late answer is not a second end');
  send({ id: 3, ...search });
  send({ method: 'notifications/cancelled', params: { requestId: 3, reason: 'AbortError: stop' } });
  answer(send({ id: 4, ...search }), 4);
  const last = [
    ['aborted', 'AbortError: stop'],
    ['finished', undefined],
  ];
  assert.deepEqual(ends().slice(2), last);
});

test('what looked like a model call and is none has its body too', () => {
  const { open, events } = recording('content');
  const exchange = open({ path: '/v1/chat/completions' });
  exchange.requestChunk('{"nothing":"of a model"}');
  exchange.requestSent();
  const [begin] = events() as [Extract<AgentEvent, { kind: 'http.start' }>];
  assert.equal(begin.asked?.body?.text, '{"nothing":"of a model"}');
});

test('by default there is nothing of the content', () => {
  const { open, events } = recording('metadata');
  const exchange = open();
  exchange.requestChunk('{"city":"Oslo"}');
  exchange.requestSent();
  exchange.responseHead(200, () => undefined);
  exchange.responseChunk(Buffer.from('{"id":7}'));
  exchange.end();
  assert.doesNotMatch(JSON.stringify(events()), /Oslo|places|asked|answered/);
});
