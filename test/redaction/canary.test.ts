/** The independent search for a canary: it finds every encoding and fragment, and a redacted text contains none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCanary, redact } from '../../src/redaction/index.ts';

const canary = ['cAnary', '9kQ2', 'mX7r', 'T4vB', '1zPs'].join('');
const each = (code: (c: number) => string): string => [...canary].map((c) => code(c.charCodeAt(0))).join('');

const encodings: Record<string, string | Buffer> = {
  plain: `a ${canary} b`,
  'first half': canary.slice(0, 14),
  'last half': canary.slice(-14),
  reversed: [...canary].reverse().join(''),
  'base64 at offset 0': Buffer.from(canary).toString('base64'),
  'base64 at offset 1': Buffer.from(`x${canary}yz`).toString('base64'),
  'base64url at offset 2': Buffer.from(`xx${canary}`).toString('base64url'),
  'base64 behind letters': `abc${Buffer.from(canary).toString('base64')}`,
  'upper-case hex': Buffer.from(canary).toString('hex').toUpperCase(),
  'printed buffer': `<Buffer ${Buffer.from(canary).toString('hex').replace(/../g, '$& ').trim()}>`,
  percent: each((c) => `%${c.toString(16)}`),
  'unicode escapes': each((c) => `\\u00${c.toString(16)}`),
  'nested unicode escapes': each((c) => `\\\\u00${c.toString(16)}`),
  'XML entities': each((c) => `&#${c};`),
  'UTF-16': Buffer.from(canary, 'utf16le'),
};

/** Redaction knows the first of them; the others are only looked for. */
const encodedTwice: Record<string, string> = {
  percent: each((c) => `%25${c.toString(16)}`),
  'unicode escapes in percent': each((c) => `%5Cu00${c.toString(16)}`),
  'percent in unicode escapes': each((c) => `\\u0025${c.toString(16)}`),
  'percent in XML entities': each((c) => `&#37;${c.toString(16)}`),
  'XML entities in HTML': each((c) => `&amp;#${c};`),
};

for (const [name, text] of Object.entries(encodings))
  test(`a canary is seen: ${name}`, () => {
    assert.ok(
      findCanary(Buffer.concat([Buffer.from('before '), Buffer.from(text), Buffer.from(' after')]), canary),
    );
  });

for (const [name, text] of Object.entries(encodedTwice))
  test(`a canary is seen, encoded twice: ${name}`, () => {
    assert.ok(findCanary(Buffer.from(`before ${text} after`), canary));
  });

test('no canary, no find', () => {
  assert.ok(!findCanary(Buffer.from('nothing to see here: cAnary, 9kQ2, mX7r'), canary));
  assert.ok(!findCanary(new Uint8Array(), canary));
});

test('a redacted text holds no canary, however it was encoded', () => {
  for (const [name, text] of Object.entries(encodings))
    if (typeof text === 'string' && !/half|reversed/.test(name))
      assert.ok(!findCanary(Buffer.from(redact(`before ${text} after`, { known: [canary] })), canary), name);
});
