/** The public functions: what is removed, what stays, JSON stays JSON, and a stream gives the result of the whole text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor, redact } from '../../src/redaction/index.ts';

/** Secrets are assembled here, so that no file contains one. */
const letters = 'aB3dE5gH7jK9mN2pQ4sT6vW8xY1zC0fLrUoI';
const token = (length: number, from = 0): string =>
  Array.from({ length }, (_, i) => letters[(from + i * 7) % letters.length]).join('');
const hex = (length: number): string =>
  Array.from({ length }, (_, i) => ((i * 7 + 3) % 16).toString(16)).join('');

function assertGone(text: string, secret: string): string {
  const out = redact(text);
  assert.ok(!out.includes(secret), `${text} → ${out}`);
  assert.match(out, /\[redacted:[a-z0-9-]+#[0-9a-f]{8}\]/);
  return out;
}

test('a shape goes, its public start and the text around stay', () => {
  const out = assertGone(`push with ghp_${token(36)} failed`, token(36));
  assert.match(out, /^push with ghp_\[redacted:github-token#[0-9a-f]{8}\] failed$/);
});

test('equal secrets get equal tags, different ones different tags', () => {
  const [first, second, third] = [
    ...redact(`ghp_${token(36)} ghp_${token(36)} ghp_${token(36, 5)}`).matchAll(/#\w+/g),
  ];
  assert.equal(first![0], second![0]);
  assert.notEqual(first![0], third![0]);
});

test('a name withholds its value in every form of writing', () => {
  const secret = 'hunter2!x';
  const forms = [
    `{"password":"${secret}"}`,
    `{ password: '${secret}' }`,
    `password: ${secret}\n`,
    `DB_PASSWORD=${secret}\n`,
    `export DB_PASSWORD="${secret}"`,
    `--db-password ${secret} --port 80`,
    `--db-password=${secret}`,
    `?user=bob&password=${secret}&x=1`,
    `<password>${secret}</password>`,
    `dbPassword = \`${secret}\``,
    `{"name":"DB_PASSWORD","value":"${secret}"}`,
    `- name: DB_PASSWORD\n  value: ${secret}`,
    `Server=db;Password=${secret};Database=x`,
    `{"body":"{\\"password\\":\\"${secret}\\"}"}`,
    `X-Db-Password: ${secret}\r\n`,
    `level=info msg=login password=${secret} user=bob`,
    `postgres://bob:${secret}@db/x`,
    `curl -u bob:${secret} https://example.com`,
    `password%3D${secret}%26user%3Dbob`,
  ];
  for (const form of forms) assertGone(form, secret);
});

test('a numeric secret in JSON becomes a string', () => {
  const out = redact('{"pin":12345678,"a":[{"password": 4711}],"n":"{\\"otp\\":123456}"}');
  const value = JSON.parse(out);
  assert.match(value.pin, /^\[redacted:pin#/);
  assert.match(value.a[0].password, /^\[redacted:password#/);
  assert.match(JSON.parse(value.n).otp, /^\[redacted:one-time-code#/);
  const known = JSON.parse(redact('{"a":[1,987654321],"b":"987654321"}', { known: ['987654321'] }));
  assert.match(known.a[1], /^\[redacted:known-value#/);
});

test('secrets behind escapes are found, and the escapes stay whole', () => {
  for (const before of ['\n', '\t', '"', '\u001b[32m', 'é', '\\']) {
    const text = JSON.stringify({ log: `${before}ghp_${token(36)}${before}` });
    const out = assertGone(text, token(36));
    assert.equal(JSON.parse(out).log.startsWith(before), true);
  }
});

test('a private key goes whole, cut at either end, and with escaped line breaks; public ones stay', () => {
  const body = [token(64), token(64, 3), token(20, 9)].join('\n');
  const whole = ['-----BEGIN RSA PRIVATE', ` KEY-----\n${body}\n-----END RSA PRIVATE`, ' KEY-----'].join('');
  for (const text of [whole, JSON.stringify(whole), whole.slice(0, 120), whole.slice(60)])
    for (const line of [token(64, 3).slice(0, 20), token(20, 9)])
      if (text.includes(line)) assertGone(text, line);
  const open = whole.replaceAll('RSA PRIVATE', 'PUBLIC');
  assert.equal(redact(open), open);
});

test('what only looks like a secret stays', () => {
  const stays = [
    '123e4567-e89b-42d3-a456-426614174000',
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    `commit ${hex(40)}`,
    `sha256:${hex(64)}`,
    '"max_tokens": 4096, "token_count": 17',
    'password: req.body.password,',
    'const token = await getToken(user);',
    'Authorization: Bearer $' + '{TOKEN}',
    'api_key: <your-api-key>',
    'apiKey: process.env.OPENAI_API_KEY',
    '"password": "Your password must have 8 characters"',
    'AGENTDUMP_TOKEN=$TOKEN',
    `data:image/png;base64,${token(400)}`,
    'at Object.<anonymous> (/app/node_modules/jsonwebtoken/sign.js:12:34)',
    'http://localhost:3000/@vite/client',
    'git@github.com:owner/repo.git',
  ];
  for (const text of stays) assert.equal(redact(text), text);
});

test('redacting twice changes nothing more', () => {
  const once = redact(`{"apiKey":"sk-ant-${token(60)}","password":"x1y2z3","url":"https://a:b1c2d3@h/"}`);
  assert.equal(redact(once), once);
});

test('known values go in every encoding', () => {
  const known = ['correct/horse "7" & more'];
  const forms = [
    known[0]!,
    JSON.stringify(known[0]),
    encodeURIComponent(known[0]!),
    Buffer.from(known[0]!).toString('base64'),
    Buffer.from(`ab${known[0]}cd`).toString('base64url'),
    Buffer.from(known[0]!).toString('hex'),
  ];
  for (const form of forms)
    assert.match(redact(`x ${form} y`, { known }), /^x .{0,4}\[redacted:.*\].{0,4} y$/);
});

test('the stream’s output is the whole text’s, at every chunk size', () => {
  const parts = [
    `{"password":"hunter2!","t":"ghp_${token(36)}"}\n`,
    `-----BEGIN PRIVATE${' '}KEY-----\n${token(64)}\n${token(30)}\n-----END PRIVATE${' '}KEY-----\n`,
    `postgres://u:${token(12)}@h/d ${'plain words and more '.repeat(20)}\n`,
  ];
  const text = parts.join('').repeat(3);
  const whole = redact(text);
  for (const size of [1, 2, 3, 5, 7, 64, 1000])
    assert.equal(inChunks(text, size), whole, `chunks of ${size}`);
});

test('stretches of a long text are cut by content, and values longer than a stretch go whole', () => {
  const long = `x ${'word '.repeat(30_000)}password="${token(36).repeat(8000)}" ${'y '.repeat(70_000)}ghp_${token(36)}`;
  const whole = redact(long);
  assert.ok(!whole.includes(token(36)));
  assert.ok(whole.length < 300_000);
  for (const size of [999, 65_536, 131_071, 200_000])
    assert.equal(inChunks(long, size), whole, `chunks of ${size}`);
});

function inChunks(text: string, size: number): string {
  const redactor = createRedactor();
  let out = '';
  for (let i = 0; i < text.length; i += size) out += redactor.write(text.slice(i, i + size));
  return out + redactor.end();
}
