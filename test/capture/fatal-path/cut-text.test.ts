/** Text that is cut before it is redacted loses the word at the cut, and nothing more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutCutWords } from '../../../src/capture/fatal-path/cut-text.ts';
import { startOf } from '../../../src/redaction/start-of.ts';

test('a text that fits stays; of a longer one the word at the cut goes', () => {
  assert.equal(startOf('short', 5), 'short');
  assert.equal(startOf('use token-abcdef now', 10), 'use ');
  assert.equal(startOf('{"a":"bcdefgh"}', 9), '{"a":"');
  assert.equal(startOf('one two three', 8), 'one two ');
});

test('a word without an end is cut where it must be', () => {
  const text = 'x'.repeat(100_000);
  assert.equal(startOf(text, 50_000).length, 50_000 - 8192);
});

test('a preview loses the words on both sides of its cut, a text of the host’s own nothing', () => {
  const start = 'the key is abc-';
  assert.equal(
    withoutCutWords(`${start}${'d'.repeat(60)}…${'e'.repeat(40)} and more`),
    'the key is … and more',
  );
  assert.equal(withoutCutWords('wait… what'), 'wait… what');
  assert.equal(withoutCutWords('a'.repeat(200)), 'a'.repeat(200));
});
