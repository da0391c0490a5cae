/**
 * Secrets that look like what is kept: references, types, examples, masks, code, names of things. Each was kept once, or is a
 * variant of one that was. In short texts and in long ones, over which another walk goes.
 */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of settings
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';

const filler = 'The quick brown fox jumps over the lazy dog.\n'.repeat(200);

/** `%` stands for the secret. */
function goes(secret: string, ...texts: string[]): void {
  for (const text of texts) {
    const whole = text.replace('%', secret);
    for (const out of [redact(whole), redact(`${filler}${whole}\n${filler}`)])
      assert.ok(out.includes('[redacted:') && !out.includes(secret), out.replaceAll(filler, ''));
  }
}

function stay(...texts: string[]): void {
  for (const text of texts) {
    assert.equal(redact(text), text);
    assert.equal(redact(`${filler}${text}\n${filler}`), `${filler}${text}\n${filler}`);
  }
}

test('a password that begins like the mention of a file', () => {
  goes('@Welcome2024.prod', 'DB_PASSWORD=%', 'password: "%"', 'db.password=%');
  goes('@Tiger2.cat9', 'DB_PASSWORD=%', '{"password":"%"}');
  goes('@S3cret/pa55.word', 'password: "%"', 'DB_PASSWORD=%');
  goes('@S3cret/pa55.key', 'password: "%"');
  goes('@Zx81kq.Pw93', 'api_key=%');
  stay('deploy --private-key @keys/AuthKey.p8', 'privateKey: "@keys/AuthKey.pem"');
});

test('behind the word `type` in prose', () => {
  goes('S3cr3tP4ssQ9', 'login with type password="%"', 'type password="%"', 'login with type Password="%"');
  goes('Zx81kqPw93mNvB72LqT5', 'auth type token="%"', 'credentials of type secret="%"');
  stay(
    'type SecretKind = "webhook_2048_raw";',
    "declare type TokenKind = 'jwt_v2_raw' | 'api-key';",
    'import a from "b";\nexport type SecretDependencyType = "conversation_initiation_webhook";',
  );
});

test('fields of a log with bars between them', () => {
  goes(
    'Hunter2x9Qv',
    '"password": "%" | "user": "bob"',
    'password="%" | "user"="bob"',
    'password: "%" | "bob"',
    "user: 'bob' | password: '%' | 'x'",
  );
  goes('sunflower', '"password": "%" | "user": "bob"', 'password: "%" | "bob"');
  goes('Zx81kqPw93mNvB72', 'token="%" | "x"');
  stay('export interface Options {\n  authToken?: "no-token" | "same-origin";\n}\n');
});

test('comments with more than an example key of an issuer', () => {
  goes(
    'Zk9EXAMPLEq2vT',
    '* DATABASE_URL=postgres://app:%@db.corp.com/x',
    '// DATABASE_URL=postgres://app:%@db.corp.com/x',
  );
  goes('hunter2EXAMPLEx9Q', ' * password: %', '// password: %', ' * @example password: "%"');
  goes('ghp_EXAMPLE9aB3dE5fG7hI9jK1lM3nO5pQ7rS9t', '// token: %', ' * token: %');
  goes('AKIAIOSFODNN7EXAMPLE', '* the key is %', '- the key is %');
  const head = 'eyJhbGciOiJIUzI1NiJ9';
  const rest = 'dQw4w9WgXcQ7s8kLmN2pR5tV8xZ1bC4eF6hJ9kM0nP3';
  const admin = `${head}.eyJzdWIiOiIxMjM0NTY3ODkwIiwicm9sZSI6ImFkbWluIn0.${rest}`;
  goes(admin, '* Authorization: Bearer %', ' * Authorization: Bearer %', '// token: %');
  stay(
    ' *   AccessKeyId: "AKIAIOSFODNN7EXAMPLE",',
    `// const token = '${head}.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.${rest}'`,
  );
});

test('`from` in a name says where a password is kept, unless it is one', () => {
  goes('Tr0ub4dor3x', 'password_from: %', 'passwordFrom=%', 'DB_PASSWORD_FROM=%', '{"password_from":"%"}');
  goes('Zx81kqPw93mNvB72LqT5', 'secret_from: %', 'The secret from vault: %');
  stay(
    'passwordFrom: vault',
    'tokensFrom: 123',
    'passwordFrom:\n  secretKeyRef:\n    name: db-auth\n    key: password\n',
  );
});

test('letters before a mask', () => {
  goes('hunter***', 'DB_PASSWORD=%', 'password: "%"', 'token: "%"');
  stay('token: "dapi***"', 'api_key: sk-***', 'token: ghp_***', 'password: ***');
});

test('a parenthesis in a setting, and behind a key in a sentence', () => {
  goes('k9:(vTq8!zRw', 'DB_PASSWORD=%', 'spring.datasource.password=%', 'a=b\npassword=%\nc=d\n');
  goes(
    'aB3dE5fG7hI9jK1lM3nQ',
    'the api key is %(expires soon)',
    'the api key is %(expired)',
    'the api key is % (expires soon)',
    'our token is %(do not share)',
  );
  stay('the key is in getSharedPointOnEd25519(publicKey, x)', 'a secret of getSharedPointOnEd25519()');
});

test('letters beside what a template inserts', () => {
  goes('correcthorsebattery', 'SECRET=${A}%', 'APP_SECRET=%${B}', 'secret: "${A}%"');
  goes('KqWzXvJbNmPlKjHgFd', 'token: "%{{x}}"', 'API_TOKEN=%${SUFFIX}', "const token = '{{x}}%';");
  goes('abcdefKJHGlkjhgf', 'TOKEN=%${SUFFIX}');
  stay('this._storageKey = `lf_${config.publicKey}_langfuse`;', 'token: "sb-{{host}}-auth-token"');
});

test('words that end like those of an owner', () => {
  goes('lakers-secret', 'Authorization: Bearer %', '{"authorization":"Bearer %"}');
  goes('princess-password', 'const password = "%"', 'const password = "%";\nrun(() => 1);\n');
  goes('tigers_secret', 'const password = "%"', 'DB_PASSWORD="%"');
  stay("const a = { password: 'johns_password' };\nrun(() => 1);\n");
});

test('what is no checksum, no constant and no name of a place', () => {
  goes('Hunter2x9Q', 'hash/password: %', 'sha256/password=%');
  goes('Zx81kqPw93mNvB72LqT5', 'checksum/secret: %', 'digest/token: "%"');
  goes('PROD_LIVE_VALUE', 'secret: %', 'secret: "%"');
  goes('inherit', 'PASSWORD=%', 'DB_PASSWORD=%');
  goes('jane.doe@corp.com', 'Cookie: ajs_user_id=%', 'Cookie: theme=dark; ajs_user_id=%; a=b');
  stay('secrets: inherit', 'secret: LONG_RANDOM_VALUE', 'Cookie: ajs_anonymous_id=4f25e3b6-a1c2-d3e4');
});
