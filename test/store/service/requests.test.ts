/** Requests of any form, and what asks for the health: each has an answer that says what is wrong, and the store is spared. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOf } from '../../../src/store/service/health.ts';
import { serviceUnderTest } from './under-test.ts';

const tested = serviceUnderTest();
const { ask, tokens } = tested;

const values = [null, true, 0, -1, 1e308, '', '\0', '\ud800', [], [[]], [null], {}, { length: 1 }];

/** Bodies that are right but for the type of one field. */
function wrongForms(right: Record<string, unknown>): string[] {
  return Object.entries(right).flatMap(([field, value]) =>
    values
      .filter((wrong) => typeof wrong !== typeof value || wrong === '\0')
      .map((wrong) => JSON.stringify({ ...right, [field]: wrong })),
  );
}

test('JSON of another form than asked is refused with what is wrong', async () => {
  const name = { name: 'x' };
  const offer = {
    sha256: 'a'.repeat(64),
    bytes: 10,
    bundle: 'b'.repeat(16),
    digest: 'c'.repeat(64),
    ...name,
  };
  const start = {
    log: 'd'.repeat(16),
    day: '2026-11-28',
    program: 'shop',
    host: 'web-1',
    count: 1,
  };
  const plain = [...values.map((value) => JSON.stringify(value)), '', '{', '[[[['];
  const cases = [
    ['/v1/offers', tokens.send, [...plain, ...wrongForms(offer)]],
    [
      '/v1/starts',
      tokens.send,
      [
        ...plain,
        ...wrongForms({ starts: [start] }),
        ...wrongForms(start).map((one) => `{"starts":[${one}]}`),
      ],
    ],
    [
      '/v1/issues/0123',
      tokens.manage,
      [
        ...plain,
        ...wrongForms({ action: 'merge', others: ['ffff'] }),
        ...wrongForms({ action: 'resolve', release: '1.0.0' }),
      ],
    ],
  ] as const;
  for (const [path, token, bodies] of cases)
    for (const body of bodies) {
      const response = await ask(path, token, { method: 'POST', body });
      const { error } = (await response.json()) as { error?: { message: string } };
      assert.equal(response.status, 400, `${path} ${body}: ${error?.message}`);
      assert.match(error?.message ?? '', / is not /, body);
    }
  assert.deepEqual(tested.notes, []);
});

test('addresses of any form are answered, and none as a fault of the service', async () => {
  const words = [
    '%00',
    '%ff',
    '%ud800',
    '..%2f..',
    '%',
    "x' or true --",
    'a'.repeat(5_000),
    '',
    '/',
    '?deaths=x',
  ];
  for (const word of words)
    for (const path of ['/v1/issues/', '/v1/bundles/', '/v1/uploads/', '/v1/']) {
      const { status } = await ask(`${path}${word}`, tokens.read);
      assert.ok(status >= 400 && status < 500, `${path}${word}: ${status}`);
    }
  assert.deepEqual(tested.notes, []);
});

test('the health costs the database one query a second, however many ask for it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let asked = 0;
  const query = async () => {
    asked++;
    if (asked === 2) throw new Error('away');
    return [];
  };
  const check = healthOf({ ...tested.store.index, query });
  await Promise.all(Array.from({ length: 20 }, check));
  await check();
  assert.equal(asked, 1);
  t.mock.timers.tick(1_000);
  await assert.rejects(check, /away/);
  await assert.rejects(check, /away/);
  t.mock.timers.tick(1_000);
  await check();
  assert.equal(asked, 3);
});
