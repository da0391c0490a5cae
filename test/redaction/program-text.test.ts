/** Source code keeps its positions, whatever is removed from it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolicy } from '../../src/redaction/policy.ts';

const secret = `sk-ant-api03-${'a1B2c3D4e5F6g7H8'.repeat(5)}`;
const known = 'correct horse battery staple';

test('a secret goes, every other character stays at its line and column', () => {
  const policy = createPolicy({ known: [known] });
  const source = [
    `const client = new Client({ apiKey: '${secret}' });`,
    `const password = "hunter2-hunter2";`,
    `const phrase = \`${known}\`; const after = 1;`,
  ].join('\n');
  const clean = policy.code(source);
  assert.equal(clean.length, source.length);
  for (const hidden of [secret, 'hunter2-hunter2', known]) assert.ok(!clean.includes(hidden), hidden);
  assert.equal(clean.indexOf('const after'), source.indexOf('const after'));
  assert.deepEqual(
    clean.split('\n').map((line) => line.length),
    source.split('\n').map((line) => line.length),
  );
});

test('names of code that smell are code', () => {
  const source =
    'switch (token.kind) { case E.token: return { tokenKind: E.format, secretCount: n, password: passwordOf(user) }; }';
  assert.equal(createPolicy().code(source), source);
});

test('a key over several lines keeps its line breaks', () => {
  const lines = [
    '-----BEGIN PRIVATE KEY-----',
    'MIIEvQIBADANBgkqhkiG9w0B'.repeat(2),
    'AQEFAASCBKcwggSjAgEAAoIB'.repeat(2),
    '-----END PRIVATE KEY-----',
  ];
  const source = `const key = \`${lines.join('\n')}\`;\nlater();`;
  const clean = createPolicy().code(source);
  assert.equal(clean.split('\n').length, source.split('\n').length);
  assert.equal(clean.length, source.length);
  assert.doesNotMatch(clean, /MIIEvQ/);
  assert.match(clean, /later\(\);$/);
});

test('a value of any length keeps its length, wherever a line of the source is cut to be read', () => {
  const long = 'xSeqMOljXCNZpl0'.repeat(4000);
  const forms = [`pw=${long}}`, `password = "${long}";`, `"password":"${long}"`, `/* token: ${long} */`];
  for (const form of forms)
    for (const before of [0, 50_000, 100_000, 131_000, 140_000]) {
      const source = `${'a'.repeat(before)} ${form}\nlater();`;
      const clean = createPolicy().code(source);
      assert.equal(clean.length, source.length, form.slice(0, 20));
      assert.ok(clean.endsWith('\nlater();'));
      assert.equal(clean.includes(long), form.startsWith('pw='), form.slice(0, 20));
    }
});

test('a secret within a literal, whatever stands between it and the quote', () => {
  const policy = createPolicy();
  for (const [line, secret] of [
    ["const headers = { Authorization: 'Bearer kJ83hd92KqpL0s7dGw1x' };", 'kJ83hd92KqpL0s7dGw1x'],
    ['const conn = "Server=db;Uid=sa;password=trombone77xx;";', 'trombone77xx'],
    ['const link = `https://api.internal/v1?page=2&api_key=kJ83hd92KqpL0s7dGw1x`;', 'kJ83hd92KqpL0s7dGw1x'],
    ["log('it\\'s', 'password: trombone77xx');", 'trombone77xx'],
    ['/* token: kJ83hd92KqpL0s7dGw1x */ call();', 'kJ83hd92KqpL0s7dGw1x'],
    ['  // password=trombone77xx', 'trombone77xx'],
  ] as const) {
    const clean = policy.code(line);
    assert.ok(!clean.includes(secret), clean);
    assert.equal(clean.length, line.length);
  }
  for (const line of ["if (kind === 'x') password = entered2 ? a1 : b2;", "f('a', 'b'); token = t1k2e3n4;"])
    assert.equal(policy.code(line), line);
});

test('a setting within a literal is no expression, however much program is around it', () => {
  const source = [
    "class Client { #a = 1; constructor() { this.name = 'c'; } use() { return this.#a; } }",
    'const store = new WeakMap(); store.set(client, 1);',
    "const settings = 'Server=db;user=sa;password=trombone77xx;';",
    'const next = { token: parser.next, password: user.password };',
  ].join('\n');
  const clean = createPolicy().code(source);
  assert.doesNotMatch(clean, /trombone/);
  assert.equal(clean.replace(/\*+/, 'trombone77xx'), source);
});
