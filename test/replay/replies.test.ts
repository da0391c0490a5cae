/**
 * A recorded reply, encoded again in each wire format, whole and streamed, must be read as the original: by the readers that
 * the recording was made with.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import '../support/run/fuzz-runs.ts';
import type { ProviderFormat } from '../../src/agent/calls/model-call.ts';
import { ReplyBuilder } from '../../src/agent/calls/reply.ts';
import { EventStreamDecoder } from '../../src/agent/http/event-stream.ts';
import { anthropic } from '../../src/agent/providers/anthropic.ts';
import { bedrock } from '../../src/agent/providers/bedrock.ts';
import { cohere } from '../../src/agent/providers/cohere.ts';
import { gemini } from '../../src/agent/providers/gemini.ts';
import { ollama } from '../../src/agent/providers/ollama.ts';
import { openaiChat } from '../../src/agent/providers/openai-chat.ts';
import { openaiResponses } from '../../src/agent/providers/openai-responses.ts';
import { vercel } from '../../src/agent/providers/vercel.ts';
import { Answerer } from '../../src/replay/answers/answerer.ts';
import { startReplayServer } from '../../src/replay/answers/server.ts';
import { readToolCalls, requireTools } from '../../src/replay/recorded/recorded-tools.ts';
import { type Recording, recordingSchema } from '../../src/replay/recorded/recording.ts';
import { parseRecording } from '../../src/replay/recorded/recording-file.ts';
import type { RecordedReply } from '../../src/replay/replies/reply.ts';
import { findReplyFormat } from '../../src/replay/replies/table.ts';
import { isSameDeath } from '../../src/replay/same-death.ts';
import { startMockModelServer } from '../support/agents/mock-model-server.ts';

/** `lacks`: fields that the wire format can't represent. */
interface Format {
  name: string;
  format: ProviderFormat;
  path?: string;
  lacks?: ('id' | 'model' | 'error type')[];
}
const formats: Format[] = [
  { name: 'OpenAI chat', format: openaiChat },
  { name: 'OpenAI Responses', format: openaiResponses },
  { name: 'Anthropic', format: anthropic },
  { name: 'Gemini', format: gemini },
  { name: 'Cohere', format: cohere, path: '/v2/chat', lacks: ['model', 'error type'] },
  { name: "Vercel's AI Gateway", format: vercel },
  { name: 'Ollama', format: ollama, path: '/api/chat', lacks: ['id', 'error type'] },
  { name: 'Bedrock Converse', format: bedrock, path: '/model/m/converse', lacks: ['id', 'model'] },
  { name: 'Bedrock InvokeModel', format: bedrock, path: '/model/m/invoke-with-response-stream' },
];
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 });
const call = fc.record(
  {
    type: fc.constant('tool_call' as const),
    id: fc.stringMatching(/^call_[a-z0-9]{4}$/),
    name: fc.stringMatching(/^[a-z_]{1,12}$/),
    arguments: fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.oneof(text, fc.integer(), fc.boolean()), {
      noNullPrototype: true,
    }),
  },
  { noNullPrototype: true },
);
const parts = fc
  .tuple(
    fc.option(text, { nil: undefined }),
    fc.uniqueArray(call, { selector: ({ id }) => id, maxLength: 3 }),
  )
  .map(([said, calls]) => [
    ...(said === undefined ? [] : [{ type: 'text' as const, content: said }]),
    ...calls,
  ])
  .filter((all) => all.length > 0);

function replyOf(messages: RecordedReply['messages'], more: Partial<RecordedReply> = {}): RecordedReply {
  return {
    id: 'reply-1',
    model: 'a-model',
    messages,
    finishReason: undefined,
    usage: { input: 12, output: 34 },
    status: 200,
    error: undefined,
    headers: {},
    end: 'whole',
    ...more,
  };
}

/** All parts in order, whichever messages contain them. */
const partsOf = (reply: ReplyBuilder) => reply.messages().flatMap(({ message }) => message.parts);

for (const { name, format, path = '', lacks = [] } of formats)
  test(`${name}: whole and streamed, a reply is read as it was recorded`, () => {
    const make = findReplyFormat(format, { host: '', path, query: '' }) ?? assert.fail();
    fc.assert(
      fc.property(parts, (all) => {
        const reply = replyOf([all]);
        const whole = new ReplyBuilder();
        format.readReply(JSON.parse(JSON.stringify(make.whole(reply))), whole);
        const streamed = new ReplyBuilder();
        const { events, closing } = make.events(reply);
        for (const event of [...events, ...closing])
          format.readEvent(event.name, typeof event.data === 'string' ? undefined : event.data, streamed);
        for (const read of [whole, streamed]) {
          assert.deepEqual(partsOf(read), all);
          assert.equal(read.id, lacks.includes('id') ? undefined : 'reply-1');
          assert.equal(read.model, lacks.includes('model') ? undefined : 'a-model');
          assert.ok(read.done);
          assert.deepEqual([read.usage.input, read.usage.output], [12, 34]);
        }
      }),
    );
    const failed = new ReplyBuilder();
    const error = { type: 'overloaded', message: 'later' };
    format.readReply(make.error(replyOf([], { status: 429, error })), failed);
    assert.equal(failed.error?.message, error.message);
    if (!lacks.includes('error type')) assert.equal(failed.error?.type, error.type);
  });

test('a stream of Bedrock is framed as Amazon says, one of Ollama is lines of JSON', () => {
  const told = replyOf([[{ type: 'text', content: 'Snow. '.repeat(9) }]]);
  const made = findReplyFormat(bedrock, { host: '', path: '/model/m/converse-stream', query: '' });
  const { events, closing } = made?.events(told) ?? assert.fail();
  const frames = [...events, ...closing].map((event) => Buffer.from(made?.stream?.encode(event) ?? ''));
  for (const frame of frames) {
    assert.equal(frame.readUInt32BE(8), crc32(frame.subarray(0, 8)));
    assert.equal(frame.readUInt32BE(frame.length - 4), crc32(frame.subarray(0, -4)));
  }
  const read: { name: string | undefined; data: unknown }[] = [];
  new EventStreamDecoder().push(Buffer.concat(frames), ({ headers, payload }) => {
    assert.equal(headers[':message-type'], 'event');
    read.push({ name: headers[':event-type'], data: JSON.parse(payload) });
  });
  assert.deepEqual(read, [...events, ...closing]);
  const lines = findReplyFormat(ollama, { host: '', path: '/api/generate', query: '' }) ?? assert.fail();
  const text = lines
    .events(told)
    .events.map((event) => String(lines.stream?.encode(event)))
    .join('');
  const pieces = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).response);
  assert.equal(pieces.join(''), 'Snow. '.repeat(9));
});

const user = { role: 'user', parts: [{ type: 'text' as const, content: 'hello' }] };
function recordingOf(reply: Recording['calls'][number]['reply'], hosts: string[] = []): Recording {
  return {
    schema: recordingSchema,
    bundle: 'b',
    verdictKind: 'uncaught-exception',
    title: 'a death',
    signature: { id: 's', version: 1, parts: [] },
    argv: [],
    nodeVersion: '',
    startedAtMs: 0,
    environment: {},
    withheld: [],
    gaps: [],
    hosts,
    messages: { m1: user },
    calls: [{ id: 'c1', provider: 'openai', model: 'a-model', place: [], list: ['m1'], unknown: 0, reply }],
    http: [],
    tools: {},
  };
}

interface Got {
  status: number;
  body: string;
  isWhole: boolean;
}

/** Sends one request to a replay server through its socket. */
async function ask(
  t: TestContext,
  recording: Recording,
  wish: { body: object; host?: string; path?: string; live?: boolean },
): Promise<Got | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-sockets-'));
  const sockets = { http: join(folder, 'a'), https: join(folder, 'b'), unknown: join(folder, 'c') };
  const server = await startReplayServer(sockets, new Answerer(recording, false), {
    onReply: async () => {},
    onGiven: () => {},
    onUnanswered: () => (wish.live ? 'live' : 'close'),
    onUnknownServer: () => {},
  });
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return new Promise((resolve) => {
    const headers = { host: wish.host ?? 'api.openai.com', 'content-type': 'application/json' };
    const sent = request(
      { socketPath: sockets.http, path: wish.path ?? '/v1/chat/completions', method: 'POST', headers },
      (got) => {
        let body = '';
        got.on('data', (chunk) => {
          body += chunk;
        });
        got.on('close', () => resolve({ status: got.statusCode ?? 0, body, isWhole: got.complete }));
        got.on('error', () => {});
      },
    );
    sent.on('error', () => resolve(undefined));
    sent.end(JSON.stringify({ model: 'a-model', ...wish.body }));
  });
}

const asked = { messages: [{ role: 'user', content: 'hello' }] };
const said = [{ type: 'text' as const, content: 'Snow. '.repeat(20) }];

test('the server gives whole replies, streams, errors, and ends that were cut', async (t) => {
  const whole = await ask(t, recordingOf(replyOf([said])), { body: asked });
  assert.equal(JSON.parse(whole?.body ?? '').choices[0].message.content, said[0]?.content);
  const stream = await ask(t, recordingOf(replyOf([said])), { body: { ...asked, stream: true } });
  assert.match(stream?.body ?? '', /^data: .*\n\ndata: [\s\S]*data: \[DONE\]\n\n$/);
  assert.ok(stream?.isWhole);
  const cut = await ask(t, recordingOf(replyOf([said], { end: 'cut' })), {
    body: { ...asked, stream: true },
  });
  assert.deepEqual([cut?.status, cut?.isWhole, cut?.body.includes('[DONE]')], [200, false, false]);
  const half = await ask(t, recordingOf(replyOf([said], { end: 'cut' })), { body: asked });
  assert.equal(half?.isWhole, false);
  const limited = replyOf([], {
    status: 429,
    error: { message: 'slow down' },
    headers: { 'retry-after': '7' },
  });
  const error = await ask(t, recordingOf(limited), { body: asked });
  assert.deepEqual([error?.status, JSON.parse(error?.body ?? '').error.message], [429, 'slow down']);
  assert.equal(await ask(t, recordingOf(replyOf([], { status: 0, end: 'cut' })), { body: asked }), undefined);
});

test('an answer of another server ends as it was recorded', async (t) => {
  const text = JSON.stringify({ model: 'a-model', of: 'tea' });
  const call = { id: 'h1', method: 'POST', host: 'prices.test', path: '/prices' };
  const body = { text, bytes: text.length };
  for (const end of ['whole', 'cut'] as const) {
    const answer = { status: 200, headers: { 'content-type': 'text/plain' }, text: 'half of', end };
    const recording = { ...recordingOf({ refused: '' }), calls: [], http: [{ ...call, body, answer }] };
    const got = await ask(t, recording, { host: call.host, path: call.path, body: { of: 'tea' } });
    assert.deepEqual(got, { status: 200, body: 'half of', isWhole: end === 'whole' });
  }
});

test('what the record has no answer to is closed, or sent on to where it was meant for', async (t) => {
  const other = { messages: [{ role: 'user', content: 'something else' }] };
  assert.equal(await ask(t, recordingOf(replyOf([said])), { body: other }), undefined);
  assert.equal(await ask(t, recordingOf({ refused: 'it was cut' }), { body: asked }), undefined);
  const live = await startMockModelServer(() => ({ text: 'It is raining.' }));
  t.after(() => live.close());
  const host = new URL(live.url).host;
  const got = await ask(t, recordingOf(replyOf([said])), { body: other, host, live: true });
  assert.equal(JSON.parse(got?.body ?? '').choices[0].message.content, 'It is raining.');
  assert.equal(live.calls.length, 1);
});

test('a secret of then and a secret of now are the same request', () => {
  const recording = recordingOf(replyOf([said]));
  recording.messages['m1'] = {
    role: 'user',
    parts: [{ type: 'text', content: 'my key is sk-proj-[redacted:openai-key#0a1b2c3d]' }],
  };
  const answerer = new Answerer(recording, false);
  const target = { host: 'api.openai.com', port: undefined, path: '/v1/chat/completions', query: '' };
  const key = `sk-proj-${'Ab1'.repeat(16)}T3BlbkFJ${'Cd2'.repeat(16)}`;
  const body = { model: 'a-model', messages: [{ role: 'user', content: `my key is ${key}` }] };
  const asked = { method: 'POST', target, body: Buffer.from(JSON.stringify(body)), encoding: undefined };
  const first = answerer.answer(asked);
  assert.equal(first.kind, 'reply', JSON.stringify(first));
  assert.equal(answerer.answer(asked).kind, 'past');
});

test('tools: results in their order, errors, and why one can not be answered', () => {
  const start = (seq: number, id: string, name: string, source = 'api') =>
    ({ seq, at: seq, kind: 'tool.start', id, name, source }) as const;
  const end = (seq: number, id: string, more: object) =>
    ({ seq, at: seq, kind: 'tool.end', id, status: 'finished', tookMs: 1, ...more }) as const;
  const tools = readToolCalls([
    start(1, 't1', 'add'),
    end(2, 't1', { result: 3 }),
    start(3, 't2', 'add'),
    end(4, 't2', { error: { type: 'RangeError', message: 'no' } }),
    start(5, 't3', 'add'),
    start(6, 't4', 'look', 'mastra'),
    start(7, 't5', 'tell'),
    end(8, 't5', { result: 'key [redacted:api-key#01234567]' }),
    start(9, 't6', 'tell'),
  ]);
  const error = { type: 'RangeError', message: 'no' };
  assert.deepEqual(requireTools(tools, ['add']), { add: [{ result: 3 }, { error }] });
  assert.throws(() => requireTools(tools, ['look']), {
    code: 'usage',
    message: /called by mastra: only calls of agent\.tool/,
  });
  assert.throws(() => requireTools(tools, ['tell']), { message: /held a secret/ });
  assert.throws(() => requireTools(tools, ['toString']), { message: /no call of tool toString/ });
});

test('a death whose bundle was cut short by its deadline is known by what it has', () => {
  const signatureOf = (...words: string[]) => ({ id: words.join(), version: 1, parts: words });
  const whole = signatureOf(
    'kind:uncaught-exception',
    'error:TypeError',
    'message:x',
    'frame:a@a.js',
    'frame:b@b.js',
  );
  const short = signatureOf('kind:uncaught-exception', 'error:TypeError', 'message:x', 'frame:a@a.js');
  const without = signatureOf('kind:uncaught-exception', 'error:TypeError', 'message:x');
  const other = signatureOf('kind:uncaught-exception', 'error:TypeError', 'message:x', 'frame:c@c.js');
  const otherError = signatureOf('kind:uncaught-exception', 'error:RangeError', 'message:x', 'frame:a@a.js');
  assert.ok(isSameDeath(short, whole) && isSameDeath(whole, without) && isSameDeath(whole, whole));
  assert.ok(!isSameDeath(other, whole) && !isSameDeath(otherError, whole) && !isSameDeath(short, otherError));
  const exits = [
    signatureOf('kind:exit', 'exit:1'),
    signatureOf('kind:exit', 'exit:1', 'frame:a@a.js'),
  ] as const;
  assert.ok(!isSameDeath(...exits), 'without an error there is too little to go by');
});

test('a file that is no recording is a clear error', () => {
  assert.throws(() => parseRecording('{', 'x.json'), {
    code: 'malformed-input',
    message: /x\.json is no JSON/,
  });
  assert.throws(() => parseRecording('{}', 'x.json'), { code: 'malformed-input' });
  assert.throws(() => parseRecording('null', 'x.json'), { code: 'malformed-input' });
  assert.throws(() => parseRecording('{"schema":"agentdump.recording/9"}', 'x.json'), {
    code: 'unsupported-version',
  });
  const recording = recordingOf(replyOf([said]));
  assert.deepEqual(
    parseRecording(JSON.stringify(recording), 'x.json'),
    JSON.parse(JSON.stringify(recording)),
  );
});
