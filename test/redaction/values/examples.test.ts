/** What tests and documentation write in a secret's place is kept in a program, and withheld where it may be in use. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a shell's default
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';

const program = (line: string): string =>
  `import { connect } from 'db';\nexport function open() {\n  return connect({\n    ${line},\n  });\n}\n`;

test('examples in a program stay, and the same values in JSON and in settings go', () => {
  for (const value of ['secret123', 'hard!to-guess_secret', 'supersecret', 'root', '12345']) {
    const text = program(`password: '${value}'`);
    assert.equal(redact(text), text, value);
    assert.match(redact(`{"password": "${value}"}`), /\[redacted:/, value);
    // An unquoted word of less than five letters is no password anywhere.
    if (value.length > 4) assert.match(redact(`DB_PASSWORD=${value}\n`), /\[redacted:/, value);
  }
});

test('passwords that people use go in a program too', () => {
  for (const value of [
    'password1',
    'password123456',
    'Password123456',
    'Pass@123456',
    'Secret1234567890',
    'P@ssw0rd',
    'Secret2024!',
    'sunflower',
    'bender2',
    'letmein',
  ])
    assert.match(redact(program(`password: '${value}'`)), /\[redacted:/, value);
});

test('a word is no token that somebody issued, but may be a key that somebody chose', () => {
  for (const name of ['token', 'accessToken', 'apiKey', 'openaiApiKey', 'client_key'])
    for (const value of ['tobi', 'test-saved']) {
      const text = program(`${name}: '${value}'`);
      assert.equal(redact(text), text);
    }
  for (const [name, value] of [
    ['encryptionKey', 'purple-elephant'],
    ['masterKey', 'sunflower'],
    ['signingKey', 'sunflower'],
    ['adminApiKey', 'sunflower'],
    ['adminToken', 'sesame-street'],
    ['authToken', 'sesame-street'],
  ] as const)
    assert.match(redact(program(`${name}: '${value}'`)), /\[redacted:/, name);
});

test('what only resembles an example goes', () => {
  const texts = [
    'DATABASE_URL=postgres://app:supersecret@db.acme.com/app',
    '{"url":"postgres://app:mypassword@db.acme.com/app"}',
    'ENCRYPTION_KEY=0123456789abcdef0123456789abcdef',
    '{"token":"__Hk39fk39fjskdlfj39fj"}',
    '{"jwtSecret":"CORRECT_HORSE_BATTERY"}',
    '{"cvv":"123"}',
    '{"password":"correctHorse(42)"}',
    '{"apiSecret":"sunFlower($99)"}',
    program("password: 'correctHorse(42)'"),
    'authorization: "Bearer Sunflower"',
    "isOpen ? 'password: hunter2xyz9' : ''",
    'https://raw.acme.com/private/logo.svg?token=AB3DK7QZMWDu',
    program("username: 'kx82-Trombone', password: 'kx82-Trombone'"),
  ];
  assert.deepEqual(
    texts.filter((text) => redact(text) === text),
    [],
  );
});

test('sequences, elided keys, values of the standards, types and badges stay', () => {
  const texts = [
    'clientSecret: "1234567890abcdef12341234567890abcdef1234"',
    'privateKey: "-----BEGIN PRIVATE KEY-----\\n..."',
    '{"access_token":"2YotnFZFEjr1zCsicMWpAA"}',
    'exports.ER_PASSWORD_NO_MATCH = 1133;',
    '  auth: neo4j_driver_core_1.auth,',
    'createToken("GTE0", "^\\\\s*>=\\\\s*0$")',
    'https://codecov.io/gh/acme/app/branch/main/graph/badge.svg?token=QZMWDu35ds',
    'const header = "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0";',
    'read -s -p "Password: " PASS',
    'POSTGRES_PASSWORD=${PG_PASSWORD:?missing}',
  ];
  assert.deepEqual(
    texts.filter((text) => redact(text) !== text),
    [],
  );
});

test('what follows an elided header, or a whole token, goes', () => {
  const payload = Buffer.from('{"sub":"bob","admin":true}').toString('base64url');
  assert.match(redact(`eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0.${payload}`), /\[redacted:/);
  assert.match(redact('token: "99f81kQz0WpXvB3nMrT7yU"'), /\[redacted:/);
});

test('an address whose slashes are escaped has a password too, and a regular expression has none', () => {
  for (const text of [
    'postgres:\\/\\/app:q7Rk2mZpLx@db.acme.com:5432\\/app',
    '{"url":"amqps:\\/\\/app:q7Rk2mZpLx@mq.acme.com\\/v1","n":1}',
    '{"log":"{\\"url\\":\\"redis:\\\\\\/\\\\\\/:q7Rk2mZpLx@cache:6379\\"}"}',
  ]) {
    const clean = redact(text);
    assert.doesNotMatch(clean, /q7Rk2mZpLx/, text);
    if (text.startsWith('{')) JSON.parse(clean);
  }
  for (const text of [
    '{"url":"https:\\/\\/acme.com\\/a:b@c"}',
    'const parts = /^(https?):\\/\\/([^:]+):([^@]+)@(.*)$/.exec(url);',
    'if (/^git:\\/\\/.+:.+@host/.test(url)) open(url);',
  ])
    assert.equal(redact(text), text);
});
