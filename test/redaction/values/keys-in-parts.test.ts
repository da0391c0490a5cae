/** Keys whose parts mean nothing alone: JSON Web Keys, printed bytes, parameter stores, defaults of variables. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { createPolicy, redact } from '../../../src/redaction/index.ts';

const pairs = {
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EC: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  Ed25519: () => generateKeyPairSync('ed25519', {}),
};
const privateFields = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi']);

for (const [name, make] of Object.entries(pairs))
  test(`JSON Web Key, ${name}: every private number goes, every public one stays`, () => {
    const policy = createPolicy();
    const { privateKey, publicKey } = make();
    for (const key of [privateKey, publicKey]) {
      const jwk = key.export({ format: 'jwk' }) as Record<string, string>;
      const copied = (policy.value({ keys: [jwk] }) as { keys: Record<string, string>[] }).keys[0] ?? {};
      const texts = [
        redact(JSON.stringify(jwk)),
        redact(JSON.stringify([jwk], undefined, 2)),
        redact(inspect(jwk)),
      ];
      for (const [field, value] of Object.entries(jwk)) {
        assert.equal(copied[field] === value, !privateFields.has(field), `${field} of a value`);
        for (const text of texts)
          assert.equal(text.includes(value), !privateFields.has(field), `${field} in ${text}`);
      }
    }
  });

test('the start of a key within a drawn number is no key; behind a name it is', () => {
  const drawn = 'qL8xV2mZ7Kd_9cTfRw3YpN5hJ1sB6uGaE4oXiC0kM-tQzWvPySrHnDlFjUe';
  const body = ['aB3dE5fG7hJ9', 'kL2mN4pQ6rS8tU'].join('');
  for (const start of ['hf_', 'sk-', 'r8_']) {
    const text = JSON.stringify({ kty: 'RSA', n: `${drawn}_${start}${body}-${drawn}`, e: 'AQAB' });
    assert.equal(redact(text), text, start);
    assert.ok(!redact(`/srv/checkout-${start}${body}/index.js`).includes(body), start);
    assert.ok(!redact(`load_${start}${body}`).includes(body), start);
  }
});

test('public keys stay, whatever their characters look like', () => {
  // A short lower-case word, a connector and a long rest: tokens of unknown issuers look like this.
  const x = 'ab3_Kx9dQ2mZ7vN4pW8sT1uY6cR5eH0gJfLiOaBnMkE';
  const y = 'xf_EgMQ0NQ8B6zINVS-QTjRkVU6z2f-yoA_Ib4n4jeg';
  const key = { kty: 'EC', crv: 'P-256', x, y };
  assert.equal(redact(JSON.stringify(key)), JSON.stringify(key));
  assert.deepEqual(createPolicy().value(key), key);
  assert.notEqual(createPolicy().value(y), y, 'alone it may be a token');
});

const token = ['gh', 'p_', 'a1B2c3D4e5F6'.repeat(3)].join('');
test('bytes of a key as JSON and util.inspect write them', () => {
  const bytes = Buffer.from(token);
  for (const indent of [undefined, 2]) {
    const text = redact(JSON.stringify({ key: 1, body: bytes }, undefined, indent));
    assert.match(JSON.parse(text).body.data, /^\[redacted:github/);
  }
  for (const value of [bytes, new Uint8Array(bytes), new Uint8Array(bytes).buffer]) {
    const text = redact(inspect({ body: value }, { maxArrayLength: 200 }));
    assert.match(text, /\[redacted:github/);
    assert.doesNotMatch(text, /61,? {1,2}31|97, {1,2}49/);
  }
  const numbers = JSON.stringify({ data: [103, 104, 112, 95, 1, 2, 3, 200, 201, 255, 0, 0] });
  assert.equal(redact(numbers), numbers);
});

test('stores of parameters, and what stands in for a variable', () => {
  for (const text of [
    '{"Name":"/prod/db/password","Type":"SecureString","Value":"trombone77xx"}',
    '{"OutputKey":"DbPassword","OutputValue":"trombone77xx"}',
    "const password = process.env.DB_PASSWORD ?? 'trombone77xx';",
    "const key = process.env.DB_PASSWORD || 'trombone77xx';",
    "k = DB_PASSWORD || 'trombone77xx';",
  ])
    assert.doesNotMatch(redact(text), /trombone/);
  const harmless = "const level = process.env.LOG_LEVEL || 'info77xx';";
  assert.equal(redact(harmless), harmless);
});
