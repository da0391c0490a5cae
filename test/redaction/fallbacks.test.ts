/**
 * The default of an unset variable is as secret as a value under the variable's own name, whatever its first letters look
 * like.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolicy } from '../../src/redaction/policy.ts';

const policy = createPolicy();
// In two pieces, so that no scanner takes them for real keys.
const keys = ['x2YDZelgCglJ6s', 'sha3kQ9dZelgCglJ', 'md5WqZelgCglJ6sd'].map((start) => `${start}dnoOCP0HnM`);

test('a key that begins as an algorithm does', () => {
  for (const key of keys)
    for (const [before, after] of [
      ["const a = process.env.UPLOAD_TOKEN || '", "';"],
      ["const a = process.env.UPLOAD_TOKEN ?? '", "';"],
      ['| UPLOAD_TOKEN | ', ' |'],
    ] as const) {
      const line = before + key + after;
      assert.ok(!policy.text(line).includes(key), line);
    }
});

test('an algorithm stays', () => {
  for (const word of ['x25519', 'aes-256-gcm', 'sha256WithRSAEncryption', 'ecdsa-sha2-nistp256', 'base64url'])
    for (const line of [`const a = process.env.SIGNING_KEY || '${word}';`, `| TOKEN_KEY | ${word} |`])
      assert.equal(policy.text(line), line);
});
