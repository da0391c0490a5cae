/** The SHA-256 for a process that can't have Node's is the same function, in whatever pieces its input comes. */
import assert from 'node:assert/strict';
import crypto, { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { PlainSha256, startSha256 } from '../../src/platform/sha256.ts';

test('the same digests as those of node:crypto', () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 128, 1000, 100_000]) {
    const bytes = randomBytes(length);
    const expected = createHash('sha256').update(bytes).digest('hex');
    assert.equal(new PlainSha256().update(bytes).digest('hex'), expected, `${length} bytes`);
    const inPieces = new PlainSha256();
    for (let at = 0; at < length; at += 37) inPieces.update(bytes.subarray(at, at + 37));
    const copy = inPieces.copy();
    assert.equal(inPieces.digest().toString('hex'), expected, `${length} bytes in pieces`);
    assert.equal(copy.digest('hex'), expected, `a copy of ${length} bytes`);
  }
  assert.equal(
    new PlainSha256().update('a line: ä€😀').digest('hex'),
    createHash('sha256').update('a line: ä€😀').digest('hex'),
  );
});

test('taken where the program has replaced createHash, until it has put it back', () => {
  assert.ok(!(startSha256() instanceof PlainSha256));
  const { createHash: original } = crypto;
  for (const stub of [
    () => undefined,
    () => {
      throw new Error('not to be called');
    },
    () => ({ update: () => ({ digest: () => 'abc' }) }),
  ])
    try {
      crypto.createHash = stub as never;
      assert.ok(startSha256() instanceof PlainSha256);
    } finally {
      crypto.createHash = original;
    }
  assert.ok(!(startSha256() instanceof PlainSha256));
});
