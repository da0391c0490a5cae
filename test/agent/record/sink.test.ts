import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventSink } from '../../../src/agent/record/sink.ts';

const secret = 'sk-abcdefgh12345678';
const text = (value: string) => value.replaceAll(secret, '[redacted]');
const policy = { text, value: (value: unknown) => JSON.parse(text(JSON.stringify(value))) };

function makeSink(options: { ringBytes?: number; textLimitChars?: number } = {}) {
  const lines: string[] = [];
  const sink = new EventSink({
    policy,
    journal: {
      append: (_kind, payload) => lines.push(payload),
      appendBuffered: (_kind, payload) => lines.push(payload),
      flush() {},
    },
    ...options,
  });
  return { sink, lines, events: () => JSON.parse(sink.renderPart()).events };
}

test('an event is cleaned, numbered, and the same in journal and part', () => {
  const { sink, lines, events } = makeSink();
  assert.equal(sink.record('note', { run: 'r1' }, { text: `key ${secret}` }), 1);
  assert.equal(sink.record('note', {}, { text: 'x' }), 2);
  const [first] = events();
  assert.deepEqual([first.seq, first.kind, first.run, first.text], [1, 'note', 'r1', 'key [redacted]']);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    events(),
  );
});

test('the name of a test is cleaned like a text', () => {
  const { sink, events } = makeSink();
  for (const test of [`logs in with ${secret}`, `logs in with ${secret}`, 'logs out'])
    sink.record('http.start', { http: 'h1', method: 'GET', test });
  sink.record('http.start', { http: 'h2', method: 'GET', request: 'q1' });
  assert.deepEqual(
    events().map((event: { test?: string }) => event.test),
    ['logs in with [redacted]', 'logs in with [redacted]', 'logs out', undefined],
  );
});

test('names of attributes are kept, their texts cleaned', () => {
  const { sink, events } = makeSink();
  const attributes = { 'gen_ai.usage.input_tokens': 5, 'gen_ai.response.id': secret, list: [secret] };
  sink.record('model.headers', { call: 'c1', afterMs: 1 }, { attributes });
  assert.deepEqual(events()[0].attributes, {
    'gen_ai.usage.input_tokens': 5,
    'gen_ai.response.id': '[redacted]',
    list: ['[redacted]'],
  });
});

test('a long text keeps start, end, length and hash, and a secret on the cut is whole or gone', () => {
  for (let shift = 0; shift < 40; shift += 3) {
    const { sink, events } = makeSink({ textLimitChars: 20_000 });
    const long = `${'a '.repeat(7500 - shift)}${secret}${' b'.repeat(40_000)}${secret} end`;
    sink.record('note', {}, { text: long });
    const kept = events()[0].text as string;
    assert.ok(kept.length < 21_000);
    assert.match(kept, new RegExp(`\\[cut: ${long.length} characters in all, sha256 [0-9a-f]{16}\\]`));
    assert.ok(kept.endsWith('[redacted] end'));
    assert.ok(!kept.includes('sk-'), kept.slice(14_900, 15_200));
  }
});

test('values of every kind become plain, and nothing of the host is called', () => {
  const { sink, events } = makeSink();
  const circular: Record<string, unknown> = { name: 'x' };
  circular['self'] = circular;
  const value = {
    circular,
    big: 12n,
    when: new Date(0),
    error: new RangeError('no'),
    map: new Map([['a', 1]]),
    set: new Set([1]),
    bytes: new Uint8Array(3),
    fn() {},
    get boom() {
      throw new Error('called');
    },
    toJSON() {
      throw new Error('called');
    },
    nan: Number.NaN,
    nothing: undefined,
    proxy: new Proxy({}, { ownKeys: () => assert.fail('trapped') }),
  };
  sink.record('note', {}, { text: 'x', data: value });
  assert.equal(sink.failure, undefined);
  assert.deepEqual(events()[0].data, {
    circular: { name: 'x', self: '[circular]' },
    big: '12n',
    when: '1970-01-01T00:00:00.000Z',
    error: { name: 'RangeError', message: 'no' },
    map: { '[Map]': [['a', 1]] },
    set: { '[Set]': [1] },
    bytes: '[3 bytes]',
    fn: '[function]',
    boom: '[getter]',
    toJSON: '[function]',
    nan: 'NaN',
    proxy: '[unreadable]',
  });
});

test('a value of any size stays within bounds', () => {
  const { sink, lines } = makeSink();
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  sink.record('note', {}, { text: 'x', data: deep });
  sink.record('note', {}, { text: 'x', data: Array.from({ length: 1_000_000 }, (_, i) => `item ${i}`) });
  sink.record(
    'note',
    {},
    { text: 'x', data: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [i, 'y'.repeat(60_000)])) },
  );
  assert.equal(lines.length, 3);
  for (const line of lines) assert.ok(line.length < 3 * 1024 * 1024, `${line.length}`);
});

test('a flood stays within the ring; first events and open starts survive it', () => {
  const { sink, events } = makeSink({ ringBytes: 64 * 1024 });
  sink.record('run.start', { run: 'r1', source: 'api' }, { name: 'main' });
  for (let i = 0; i < 100; i++) sink.record('note', {}, { text: `early ${i} ${'x'.repeat(100)}` });
  sink.record('tool.start', { id: 't1', source: 'api' }, { name: 'open' });
  sink.record('tool.start', { id: 't2', source: 'api' }, { name: 'closed' });
  for (let i = 0; i < 5000; i++) {
    if (i === 4000) sink.record('tool.end', { id: 't2', status: 'finished', tookMs: 1 });
    sink.record('note', {}, { text: `late ${i} ${'x'.repeat(100)}` });
  }
  const part = JSON.parse(sink.renderPart());
  assert.ok(sink.renderPart().length < 80 * 1024);
  const names = events().map((event: { name?: string }) => event.name);
  assert.ok(names.includes('main') && names.includes('open') && !names.includes('closed'));
  const seqs = events().map((event: { seq: number }) => event.seq);
  assert.deepEqual(
    seqs,
    seqs.toSorted((a: number, b: number) => a - b),
  );
  assert.equal(part.evicted + seqs.length, seqs.at(-1));
});

test('what is kept is what was recorded, in any script and of any length', () => {
  const { sink, lines, events } = makeSink({ ringBytes: 32 * 1024 });
  for (let i = 0; i < 400; i++) sink.record('note', {}, { text: `${'é𝄞漢'.repeat((i * 7) % 90)} ${i}` });
  sink.record('note', {}, { text: `the last, longer than all that is kept ${'漢'.repeat(40_000)}` });
  const recorded = new Set(lines);
  const kept = events().map((event: object) => JSON.stringify(event));
  assert.ok(kept.length > 10 && kept.length < 400 && kept.every((line: string) => recorded.has(line)));
  assert.equal(kept[0], lines[0]);
  assert.equal(kept.at(-1), lines.at(-1));
  assert.equal(JSON.parse(sink.renderPart()).evicted + kept.length, lines.length);
});

test('a failing journal or policy never reaches the caller', () => {
  const sink = new EventSink({
    policy,
    journal: {
      append() {
        throw new Error('disk full');
      },
      appendBuffered: () => 0,
      flush() {},
    },
  });
  assert.equal(sink.record('note', {}, { text: 'x' }), 0);
  assert.match(sink.failure ?? '', /disk full/);
  assert.equal(JSON.parse(sink.renderPart()).events.length, 1);
});
