/** Events that are read into the one before have the values that JSON.parse gives, whatever stands in them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventParser } from '../../src/agent/http/repeated-event.ts';

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
