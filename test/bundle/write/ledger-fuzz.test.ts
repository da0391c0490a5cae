/** The verifier on ledgers that were torn and changed: it never crashes, and never proves what was not written. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { verifyLedger } from '../../../src/bundle/finished/verify-ledger.ts';
import { appendBundle } from '../../../src/bundle/write/ledger.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

const root = mkdtempSync(join(tmpdir(), 'agentdump-ledger-fuzz-'));
after(() => rmSync(root, { recursive: true }));

const manifests = Array.from({ length: 6 }, (_, i) => String(i).repeat(64));
let head = '';
for (const [i, manifest] of manifests.entries())
  head = appendBundle(root, { bundle: `${i}`.padStart(16, '0'), manifest });
const written = readFileSync(join(root, 'ledger'));

const change = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(written.length - 1), bit: fc.nat(7) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(written.length - 1), bytes: fc.nat(200) }),
  fc.record({ kind: fc.constant('insert' as const), at: fc.nat(written.length), text: fc.string() }),
  fc.record({
    kind: fc.constant('copy' as const),
    at: fc.nat(written.length),
    from: fc.nat(written.length - 1),
    bytes: fc.nat(400),
  }),
);
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

function apply(bytes: Buffer, one: Change): Buffer {
  const before = bytes.subarray(0, one.at);
  const rest = bytes.subarray(one.at);
  switch (one.kind) {
    case 'flip': {
      const copy = Buffer.from(bytes);
      if (one.at < copy.length) copy[one.at] = (copy[one.at] ?? 0) ^ (1 << one.bit);
      return copy;
    }
    case 'cut':
      return Buffer.concat([before, rest.subarray(one.bytes)]);
    case 'insert':
      return Buffer.concat([before, Buffer.from(one.text), rest]);
    case 'copy':
      return Buffer.concat([before, bytes.subarray(one.from, one.from + one.bytes), rest]);
  }
}

test('changed at random: with an anchor, only what was written is proven', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const bytes = changes.reduce(apply, written);
      try {
        const found = verifyLedger(bytes, { anchor: head });
        const isThere = bytes.subarray(0, written.length).equals(written);
        if (found.anchored > 0) assert.ok(isThere, 'an anchor of other bytes');
        if (found.verdict === 'verified') assert.ok(isThere);
        for (const { bundle, manifest } of found.verdict === 'tampered' ? [] : found.bundles)
          assert.equal(manifest, manifests[Number(bundle)]);
      } catch (error) {
        assert.ok(error instanceof AgentdumpError, String(error));
      }
    }),
    { numRuns: fuzzRuns(3000) },
  );
});

test('bytes of any kind are judged or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
      const { verdict, bundles } = verifyLedger(Buffer.from(bytes));
      assert.deepEqual([verdict, bundles], ['tampered', []]);
    }),
    { numRuns: fuzzRuns(500) },
  );
});
