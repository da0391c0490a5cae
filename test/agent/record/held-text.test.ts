import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HeldText } from '../../../src/agent/record/held-text.ts';
import '../../support/run/fuzz-runs.ts';

const secret = 'sk-abcdefgh12345678';
const clean = (text: string) =>
  text
    .replace(/sk-[a-z0-9]{8,}/g, '[redacted]')
    .replace(/password: \S+/g, 'password: [redacted]')
    .replace(/-----BEGIN KEY-----[\s\S]*?-----END KEY-----/g, '[redacted]');

test('a secret that is cut anywhere never comes out, and the rest does', () => {
  const text = `Use ${secret} as the key. It is yours, ok?`;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 12 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      const held = new HeldText(clean);
      let out = '';
      for (let i = 1; i < at.length; i++) out += held.push(text.slice(at[i - 1], at[i]));
      assert.equal(out + held.end(), 'Use [redacted] as the key. It is yours, ok?');
    }),
  );
});

test('a word before the piece still counts', () => {
  const held = new HeldText(clean);
  assert.equal(held.push('my password: '), 'my password: ');
  assert.equal(held.push('hunter2 \n'), '[redacted] \n');
});

test('a PEM block waits for its end', () => {
  const held = new HeldText(clean);
  assert.equal(held.push('key:\n-----BEGIN KEY-----\nMIIB'), 'key:\n');
  assert.equal(held.push('\nabcd\n'), '');
  assert.equal(held.push('-----END KEY-----\ndone \n'), '[redacted]\ndone \n');
});

test('at the end a half secret becomes an ellipsis, a word stays', () => {
  const half = new HeldText(clean);
  assert.equal(half.push('the key sk-abc123') + half.end(), 'the key …');
  const word = new HeldText(clean);
  assert.equal(word.push('unfinished') + word.end(), 'unfinished');
});

test('text without spaces is not held for ever', () => {
  const held = new HeldText(clean);
  assert.equal(held.push('x'.repeat(2000)).length, 2000);
  assert.equal(held.push('日本語の文章'), '日本語の文章');
});
