/**
 * The seeded corpus: targets for recall and for look-alikes, JSON stays JSON, and a stream in random chunks gives the result
 * of the whole text.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRedactor, redact } from '../../../src/redaction/index.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { type CorpusClass, makeCorpus } from '../../support/secrets/secret-corpus.ts';
import { scoreCorpus } from '../../support/secrets/secret-score.ts';

const items = makeCorpus(11);
const least: Record<CorpusClass, number> = {
  plain: 0.99,
  context: 0.99,
  encoded: 0.97,
  cut: 0.97,
  'context-only': 0.97,
  known: 0.9,
  'look-alike': 0.99,
};

for (const [name, { right, total, wrong }] of scoreCorpus(items, (text, known) => redact(text, { known })))
  test(`${name}: at least ${least[name] * 100} % of ${total}`, () => {
    assert.ok(
      right / total >= least[name],
      wrong.map(({ item, output }) => `${item.label}: ${output}`).join('\n'),
    );
  });

test('JSON stays JSON', () => {
  let seen = 0;
  for (const { text, known } of items) {
    if (!isJson(text)) continue;
    seen += 1;
    assert.ok(isJson(redact(text, known ? { known } : {})), `${text} → ${redact(text)}`);
  }
  assert.ok(seen > 100);
});

test('JSON of any shape stays JSON, with any known value', () => {
  const names = fc.constantFrom(
    'password',
    'token',
    'a',
    'api_key',
    'cookie',
    'name',
    'value',
    'authorization',
    '\\"',
  );
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom(
      '12345678',
      'Bearer a1b2c3d4e5f6g7h8i9',
      'a\\',
      '"',
      '\n',
      'x\u0000y',
      '\ud83d\ude00',
      'postgres://u:p@h',
    ),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.array(fc.tuple(names, tie('tree')), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)),
      tie('tree').map((inner) => JSON.stringify(inner)),
    ),
  }));
  const known = fc.array(fc.oneof(fc.string({ minLength: 4, maxLength: 9 }), fc.nat().map(String)), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(tree, known, fc.constantFrom(0, 2), (value, values, indent) => {
      const text = JSON.stringify(value, null, indent);
      const out = redact(text, { known: values });
      assert.ok(isJson(out), `${text} → ${out}`);
    }),
    { numRuns: fuzzRuns(600), seed: 5 },
  );
});

test('a stream in chunks of any sizes gives what the whole gives', () => {
  const texts = fc.array(fc.constantFrom(...items.map((item) => item.text)), { minLength: 1, maxLength: 20 });
  const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 });
  fc.assert(
    fc.property(texts, sizes, (pieces, chunkSizes) => {
      const text = pieces.join('\n');
      const redactor = createRedactor();
      let out = '';
      for (let i = 0, n = 0; i < text.length; n++) {
        const size = chunkSizes[n % chunkSizes.length]!;
        out += redactor.write(text.slice(i, i + size));
        i += size;
      }
      assert.equal(out + redactor.end(), redact(text));
    }),
    { numRuns: fuzzRuns(100), seed: 5 },
  );
});

test('a long stream gives what the whole gives, cut anywhere', { skip: onlyWide }, () => {
  const text = Array.from({ length: 12 }, () => items.map((item) => item.text).join(' ')).join('');
  assert.ok(text.length > 1_000_000);
  const whole = redact(text);
  for (const size of [1013, 65_536, 400_000]) {
    const redactor = createRedactor();
    let out = '';
    for (let i = 0; i < text.length; i += size) out += redactor.write(text.slice(i, i + size));
    assert.ok(out + redactor.end() === whole, `chunks of ${size}`);
  }
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
