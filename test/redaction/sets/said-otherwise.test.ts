/** Secrets whose form differs from the usual one by an escape, an operator, a language or the order of fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';

/** Texts with the secret between `‹` and `›`: it goes, and everything else stays. */
function withholds(texts: string[]): void {
  for (const marked of texts) {
    const shown = redact(marked.replace(/[‹›]/g, ''));
    const [before = '', rest = ''] = marked.split('‹');
    const behind = rest.slice(rest.indexOf('›') + 1);
    const hidden = shown.slice(before.length, shown.length - behind.length);
    assert.ok(shown.startsWith(before) && shown.endsWith(behind), shown);
    assert.match(hidden, /^\[redacted:[a-z-]+#[0-9a-f]{8}\]$/, shown);
  }
}

test('shapes with slashes, in JSON that escapes them', () =>
  withholds([
    String.raw`{"t":"1\/\/0‹gFx8kQz0WpXvB3nMrT7yUiOpAsDfGhJkLz›"}`,
    String.raw`{"u":"https:\/\/hooks.slack.com\/‹services\/T0AB12CD3\/B0EF45GH6\/g6eycQx0BSXP51cQbLuHDqkk›"}`,
    String.raw`{"u":"https:\/\/discord.com\/api\/webhooks\/‹1122334455667788\/Fx8kQz0WpXvB3nMrT7yUiOpA›","n":1}`,
  ]));

test('assignments that only set what is missing', () =>
  withholds([
    "password ||= '‹Sommer!1987x›'",
    "password &&= '‹Sommer!1987x›'",
    'apiKey ??= "‹Fx8kQz0WpXvB3nMr›"',
  ]));

test('a user and a password before a host without a scheme or a dot', () => {
  withholds(['crm:‹Sommer1987x›@db/crm', 'redis at default:‹Sommer1987x›@cache:6379']);
  withholds(['[smtp.corp.io]:587 mailer:‹sunflower›', '[smtp.corp.io]:587 me@corp.io:‹Sommer!1987x›\n']);
  for (const text of [
    'docker:27.0-alpine3@sha256:0a1b2c3d',
    '=-0:M#4&P>2*O!<OCP+T5Oc@PX&a',
    'npm:string-width4x@latest',
    '[::1]:587 is in use',
  ])
    assert.equal(redact(text), text);
});

test('words of other languages, with words between them and the sign', () =>
  withholds([
    'hasło do bazy: ‹lrnm-EZxpMI-c52y›',
    'lösenordet är ‹zH5Q1ZTZx0Z8GC59›',
    'la clave del wifi es ‹delta-starlight›',
    'le mot de passe du wifi c’est ‹5vwp-wzrYLd-8g5g›, ne le partage pas',
    'parola este ‹zH5Q1ZTZx0›',
    '데이터베이스 비밀번호는 ‹ob39fYW1#GQx4KhM› 입니다',
  ]));

test('numbers that a name or a sentence says to be secret', () => {
  withholds(['SSN: ‹538-83-4687›', 'my ssn is ‹538-83-4687›, ok?', 'Social Security number ‹538-83-4687›']);
  withholds(['otp for +49 151 5550 1234 is ‹621265› (valid 5 min)', 'use pin ‹151531› to open the door']);
  for (const text of ['order 538-83-4687', 'pin 4 to ground', 'security: 3 of 12'])
    assert.equal(redact(text), text);
});

test('values that a field beside them, or a method, says to be secret', () => {
  withholds([
    '"grafana": {"value": "‹FAa5wsDizxz4MxYE›", "type": "string", "sensitive": true}',
    '"grafana": {"sensitive": true, "value": "‹FAa5wsDizxz4MxYE›"}',
    '{"method":"login","params":["kim","‹Birch8886!yavb›"]}',
    "UPDATE o SET option_value='‹QMMYkSWOdx8uTlEGkPuAZHvRuC2S0Rpl›' WHERE option_name='mailgun_api_key';",
    "SELECT pgp_sym_encrypt('hello', '‹ivory_666_delta94›');",
    'Setting environment variable CODECOV_TOKEN to ‹009e521c-a40f-48ab-ab34-4f2b95b2d426›',
  ]);
  for (const text of [
    '"a": {"value": "eu-west-1", "sensitive": false}',
    '{"method":"add","params":["a1b2","c3d4"]}',
  ])
    assert.equal(redact(text), text);
});

test('a comment before a value is not the value', () => {
  const text = 'const $ZodJWT = /*@__PURE__*/ core.$constructor("$ZodJWT", (inst, def) => {';
  assert.equal(redact(text), text);
});

/** Long enough that the kernel walks over it. */
const others = 'The service starts, reads its configuration and listens.\n'.repeat(200);

test('an error that names the value before what was wrong', () =>
  withholds(
    [
      'dial: password=‹hunter2Blue77:› access denied',
      'DB_PASSWORD=‹hunter2Blue77:› command not found',
      'password: ‹bluewhale:› wrong',
    ].flatMap((text) => [text, others + text]),
  ));

test('a user and a password before a host, without a scheme', () =>
  withholds(
    [
      'Connected as admin:‹S3cret77xyz›@db.internal.',
      'dial admin:‹S3cret77xyz›@db.internal.:5432',
      'dial admin:‹S3cret77xyz›@a.b.c.d.e.f.g.h',
      'dial admin:‹S3cret77xyz›@main.example.com:5432',
      'dial root:‹S3cret77xyz›@beta.example.com',
      'dial _svc:‹S3cret77xyz›@db.internal',
      'dial npm:‹S3cret77xyz›@registry.example.com',
      'dial admin:‹S3cret77xyz›@db',
      'dial admin:‹hunter22›@db:5432',
      'dial admin:‹hunter22›@localhost',
      'OTP "‹8f3a-11bc-77de-90aa›"',
    ].flatMap((text) => [text, others + text]),
  ));

test('what only looks like them stays', () => {
  for (const text of [
    'secret: name: db, key: password',
    'docker:27.0-alpine@sha256:9f86d081',
    'npm:string-width4@latest',
    'client:alice2024@REALM',
    'To:alice2024x@corp',
    'rust:toolchain1.75@nightly',
    'PIN 4000 for output',
    'use pin 1234 to 5678 as outputs',
  ])
    for (const whole of [text, others + text]) assert.equal(redact(whole), whole);
});
