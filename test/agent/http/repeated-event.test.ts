/** Events that are read into the one before have the values that JSON.parse gives, whatever stands in them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventParser } from '../../../src/agent/http/repeated-event.ts';
import { defaultEventLimit, SseDecoder } from '../../../src/agent/http/sse.ts';

const path = ['choices', 0, 'delta', 'content'];
const chunk = (content: unknown, more: object = {}): string =>
  JSON.stringify({
    id: 'c1',
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    ...more,
  });

function parseAll(texts: readonly string[]): unknown[] {
  const parser = new EventParser(path);
  return texts.map((text) => structuredClone(parser.parse(text)));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const unusual: readonly string[] = [
  chunk('a'),
  chunk('m'),
  chunk(''),
  chunk('"'),
  chunk('\\'),
  chunk('","content":"x'),
  chunk('line\n\u0000\u2028 \ud800 é 𝄞'),
  chunk('a text that is longer than what V8 copies when it is cut out of another'),
  chunk('ends with \\"'),
  chunk('content'),
  chunk(null),
  chunk(7),
  chunk({ text: 'b' }),
  chunk([{ type: 'text', text: 'c' }]),
  chunk('d', { usage: { total_tokens: 3 } }),
  chunk('d', { choices: [] }),
  chunk('d', { choices: [{ delta: 'content' }] }),
  chunk('e').replace('"e"', '"\\u0065"'),
  chunk('f').replace('"f"', '"f","content":"g"'),
  chunk('h').replace('"h"', '"h\u0001"'),
  chunk('i').replace('"i"', ' "i" '),
  chunk('j').replace('"j"', '"j\\"'),
  chunk('k').slice(0, -1),
  'null',
  '[1]',
  'no JSON',
  '',
];

test('each event after each other', () => {
  for (const first of unusual)
    for (const second of unusual) {
      const texts = [first, chunk('before'), second, chunk('after'), first, second];
      assert.deepEqual(parseAll(texts), texts.map(parsed));
    }
});

test('a plain stream is read into one object', () => {
  const parser = new EventParser(path);
  const values = ['one', 'two', 'three "quoted"', 'four'].map((word) => parser.parse(chunk(word)));
  assert.equal(new Set(values.slice(1)).size, 1);
});

test('without a place for the text, each event is an object of its own', () => {
  const parser = new EventParser(undefined);
  assert.notEqual(parser.parse(chunk('one')), parser.parse(chunk('two')));
});

test('events with a random text each are soon only parsed', () => {
  const parser = new EventParser(path);
  const random = (at: number): string => chunk('word', { obfuscation: `r${at}` });
  for (let at = 0; at < 10; at++) assert.deepEqual(parser.parse(random(at)), parsed(random(at)));
  // Nothing was learned from the last of them.
  assert.notEqual(parser.parse(random(9)), parser.parse(random(9)));
});

/** The pieces of text of a stream that is read in chunks of `size`, and how often an event or a run of them was read. */
function piecesOf(stream: string, size: number): { pieces: string; reads: number; events: number } {
  const parser = new EventParser(path);
  const pieces: unknown[] = [];
  let reads = 0;
  let events = 0;
  const keep = (value: unknown, count: number): void => {
    const choice = (value as { choices?: { delta?: { content?: unknown } }[] } | undefined)?.choices?.[0];
    pieces.push(choice?.delta?.content);
    reads++;
    events += count;
  };
  const decoder = new SseDecoder(defaultEventLimit, (text, start) => {
    const run = parser.readRun(text, start);
    if (run) keep(run.value, run.count);
    return run?.end ?? start;
  });
  const hear = ({ event, data }: { event: string | undefined; data: string }): void =>
    keep(parser.parse(data, event), 1);
  const bytes = Buffer.from(stream);
  for (let at = 0; at < bytes.length; at += size) decoder.push(bytes.subarray(at, at + size), hear);
  decoder.end(hear);
  // What stands beside texts, is kept apart.
  return {
    pieces: pieces.map((one) => (typeof one === 'string' ? one : `<${one}>`)).join(''),
    reads,
    events,
  };
}

const eventOf = (data: string, name?: string): string => `${name ? `event: ${name}\n` : ''}data: ${data}\n\n`;

test('events that stand one after the other are read together, and unusual ones between them as they are', () => {
  for (const second of unusual.filter((text) => text !== '')) {
    const texts = [chunk('one '), chunk('two '), second, chunk('three '), chunk('four '), second];
    const stream = texts.map((text) => eventOf(text)).join('');
    const expected = texts.map((text) => piecesOf(eventOf(text), 1e6).pieces).join('');
    for (const size of [1, 50, 177, 1e6]) {
      const { pieces, events } = piecesOf(stream, size);
      assert.equal(pieces, expected, `${second} in chunks of ${size}`);
      assert.equal(events, texts.length);
    }
  }
});

test('a thousand words in one chunk are two reads', () => {
  const words = Array.from({ length: 1000 }, (_, at) => `wörd ${at} `);
  const { pieces, reads, events } = piecesOf(
    words.map((word) => eventOf(chunk(word), 'delta')).join(''),
    1e6,
  );
  assert.equal(pieces, words.join(''));
  assert.deepEqual([reads, events], [2, 1000]);
});

test('an event of another name, a comment or another line end is no part of a run', () => {
  const stream = [
    eventOf(chunk('a'), 'delta'),
    eventOf(chunk('b'), 'delta'),
    eventOf(chunk('c'), 'other'),
    eventOf(chunk('d')),
    ': a comment\n\n',
    eventOf(chunk('e'), 'delta').replaceAll('\n', '\r\n'),
    eventOf(chunk('f'), 'delta'),
    `event: delta\n${eventOf(chunk('g'))}`,
  ].join('');
  for (const size of [1, 100, 1e6]) {
    const { pieces, events } = piecesOf(stream, size);
    assert.deepEqual([pieces, events], ['abcdefg', 7], `chunks of ${size}`);
  }
});

test('lines that end with CR, or with LF and CR, are the same events, in one pass', () => {
  const event = `data: ${chunk('one ')}\n\n`;
  for (const end of ['\r', '\r\n', '\n']) {
    const blank = end === '\n' ? '\n\r' : end + end;
    const stream = event + `data: ${chunk('two ')}${blank}`.repeat(80_000);
    const { user } = process.cpuUsage();
    const { pieces, events } = piecesOf(stream, stream.length);
    const seconds = (process.cpuUsage().user - user) / 1e6;
    assert.equal(events, 80_001, JSON.stringify(end));
    assert.equal(pieces, `one ${'two '.repeat(80_000)}`);
    // Some 0.1 s. A search for the blank line from each event took 10 s.
    assert.ok(seconds < 4, `${seconds} s`);
  }
});
