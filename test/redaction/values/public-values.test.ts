/**
 * What is public though it stands where a secret does, and what is code there; beside each, what looks the same and must go. In
 * short texts and in long ones, over which another walk goes.
 */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of programs
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';

const filler = 'The quick brown fox jumps over the lazy dog.\n'.repeat(200);
const inLong = (text: string): string => redact(`${filler}${text}\n${filler}`);

/** `stays` is as it was; of `goes`, the value in brackets is withheld. */
function check(stays: string[], goes: [before: string, value: string, behind?: string][]): void {
  for (const text of stays) {
    assert.equal(redact(text), text);
    assert.equal(inLong(text), `${filler}${text}\n${filler}`);
  }
  for (const [before, value, behind = ''] of goes)
    for (const out of [redact(before + value + behind), inLong(before + value + behind)])
      assert.ok(out.includes('[redacted:') && !out.includes(value), out);
}

/** Of an elliptic curve (P-256). */
const publicKey = `MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE${'7vR2mX9kLabQ'.repeat(7)}Zk==`;

test('keys that their issuers call public', () => {
  check(
    [
      'const mockPEMKey = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA8Z1oLQbaYkakUSIYRvjmOoeXMDFFjynGP2";',
      'public key: age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg',
      'POSTHOG_KEY=phc_3ERWCs3MgUYuov35EOXifF8XQxpu5dtgoLF8Cmntwa8',
      'https://67467ed57c35951e38d073871acea925@o450412.ingest.sentry.io/4505123',
      'https://67467ed57c35951e38d073871acea925@o450412.ingest.de.sentry.io/4505123',
      'const pkTest = "pk_test_Y2xlcmsuaW5zcGlyZWQucHVtYS03NC5sY2wuZGV2JA";',
      `SIGNING_KEY="${publicKey}"`,
      `SIGNING_KEY="${publicKey.slice(0, 90)}"`,
    ],
    [
      // A pair: the private key is behind the public one.
      ['SIGNING_KEYS="', `${publicKey}:MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7vR2mX9kLa`, '"'],
      ['SIGNING_KEYS="', `MCowBQYDK2Vw${'Zk39sQxT7bW2mYc5RdLp8VnA'.repeat(4)}`, '"'],
      [
        'AGE_KEYS=',
        'age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg:Zk39sQxT7bW2mYc5RdLp8VnA',
      ],
      ['const signKey = "', 'MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDyfK3mPq81LsVb7Tz2Wd', '";'],
      ['key: AGE-SECRET-KEY-1', 'QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGP4Z'],
      ['POSTHOG_KEY=phx_', '3ERWCs3MgUYuov35EOXifF8XQxpu5dtgoLF8Cmntwa8'],
      ['https://', '67467ed57c35951e38d073871acea925', '@git.corp.io/a.git'],
      ['const key = "live_', 'dHar4XY7LxsDOtmnkVtjNVWXLSlXsM', '";'],
    ],
  );
});

test('ids of keys, features and things', () => {
  check(
    [
      '{"tokenLifetime":"PT1H","refreshTokenLifetime":"P30D"}',
      'gpg: key 0x4F25E3B6A1C2D3E4: public key "Kim" imported',
      'bucket key prefix: uploads/2026/02/e40e6fc4-f9c6-49d3-ac37-b237527938fe/',
      'betas: `token-counting-2024-11-01`, `token-efficient-tools-2025-02-19`, `extended-cache-ttl-2025-04-11`',
      'const kid = "ins_2GIoQhbUpy0hX7B2cVkuTMinXoD";',
    ],
    [
      ['key 0x', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
      ['const k = "acme_key_', '2GIoQhbUpy0hX7B2cVkuTMinXoD', '";'],
      ['the bucket key is ', 'Zk3/9sQxT7/bW2mYc5RdLp8VnA1uHfJ'],
    ],
  );
});

test('why a code was not sent is no code', () => {
  check(
    ['Error: Failed to send OTP: 4004', 'could not deliver OTP: 503'],
    [
      ['your OTP: ', '4004'],
      ['could not reach the phone, its OTP: ', '400412'],
      ['POST /verify failed otp=', '4821'],
      ['triggered otp=', '4821'],
    ],
  );
});

test('types, templates and calls', () => {
  check(
    [
      'mutation Login($email: String!, $password: String!) { login(email: $email, password: $password) { token } }',
      "const defaultStorageKey = `sb-${baseUrl.hostname.split('.')[0]}-auth-token`;",
      'notify(n===`recovery`?`PASSWORD_RECOVERY`:`SIGNED_IN`,r.session)',
      'n?this._token=!0:this.accessToken&&(this._token=!1),this.accessToken=e?.accessToken??null;let t={};',
      'const canUseXOAuth2 = !!this._auth.oauth2 || this.has(1);',
      "this._sendCommand('AUTH XOAUTH2 ' + this._auth.oauth2.build(token));",
      "document.cookie = 'escaped=%u5317'",
      'e.g. "my-auth" -> "myAuth", "123schema" -> "_123schema".',
      "t.equal(uri, 'http://attacker.example%2F@trusted.example/')",
      "t.equal(uri, 'x:/resource?key=value%23still-query#first%23still-fragment')",
      'url.replace(/\\bclient_secret=\\w+/g, "client_secret=[REDACTED]").replace(/token=\\S+/g, "")',
      'request({ headers: { authorization: "token 0000000000000000000000000000000000000001" } })',
      'deleteActionsCacheByKey: [\n  "DELETE /repos/{owner}/{repo}/actions/caches{?key,ref}"\n],',
      'const VALID_VENDOR_KEY = `[a-z0-9]${VALID_KEY_CHAR_RANGE}{0,240}@[a-z]${VALID_KEY_CHAR_RANGE}{0,13}`;',
      '/x?key=summer%2Fred-shoes%2Flarge',
      'const text = `the password: `; const note = () => use({ password: `cannotHaveAPort(urlRecord)` });',
      "res.set({ Accept: 'text/plain', 'X-API-Key': 'tobi' });\nconst a = () => 1;",
    ],
    [
      ['const key = `', 'sb-Zk39sQxT7bW2mYc5RdLp8VnA', '`;'],
      ['password: ', 'Str1ng!x'],
      ['password=', '\\w+Kx93ksLq2'],
      ['ENCRYPTION_KEY=', '0000000000000000000000000000a1b2'],
      ['headers: { authorization: "token ', '000000000000000000000000000000000000a1b2', '" }'],
      ['GET /v1?key=', 'aB3%2Bc4D%2Fe5F%2Bg6H%2Fi7J%2Bk8Lm9N%3D'],
      ['/x?key=', 'pa%24%24Zq7v%21R2mX9'],
      ["document.cookie = 'sid=", '8f3kd92mz0q1', "'"],
      ["const db = { user: 'app', password: '", 'tobi', "' };\nconst a = () => 1;"],
      ["get('http://", 'Zk39sQxT7bW2mYc5RdLp8VnA', "@git.corp.io/')"],
    ],
  );
});

test('example words behind a scheme, in a program alone', () => {
  const program = (header: string) => `await request({ headers: { authorization: ${header} } });\n`;
  check(
    [
      program("'token secret123'"),
      program('`Bearer abc123`'),
      "const octokit = new Octokit({ auth: 'mypersonalaccesstoken123' });",
    ],
    [
      ["await request({ headers: { authorization: 'Bearer ", 'trombone77', "' } });"],
      ["await request({ headers: { authorization: 'Bearer ", 'password1', "' } });"],
      ['authorization: Bearer ', 'secret123'],
      ['{"authorization":"Bearer ', 'secret123', '"}'],
    ],
  );
});

test('permissions and events, named after what they are for', () => {
  check(
    [
      "type Scope = 'widgets:api-keys:manage' | 'api_keys:write';",
      'scopes: ["user:password:update", "secrets.token:read"]',
    ],
    [
      ["log('api-key:", 'trombone77', "');"],
      ["log('password:", 'trombone', "');"],
      ['password:', 'Rotate-1987!', '\n'],
    ],
  );
});

test('lists of users and words beside a login', () => {
  check(
    [
      '"abc" "def"\n"ghi" "jkl"',
      '"name" "description"',
      'rocommunity public 10.0.0.0/8',
      'user kim, pw: required',
      // Two quoted words in a line are not always a user and a password.
      ...[
        '"host" "db01.internal"',
        '"image" "node:20-alpine"',
        '"exec" "python3.11"',
        '"build" "release-2024.05"',
        '"id" "user-12345"',
        '"commit" "4f25e3b6a1c2d3e4"',
        '"PATH" "$HOME/bin1"',
      ],
      '"name" "a"\n"commit" "4f25e3b6a1c2d3e4"\n"id" "user-12345"',
      'suite id 12 pass: partial',
      'suite user 12 pass: partial',
      'The GPIO pin number is 1234',
      'the output pin is 1234',
      'pin to version is 2024',
      'pin for the build: 20240501',
      'the pin of the release is 20240501',
    ],
    [
      ['; users\n"app" "', 'Delta2234!cu6u', '"\n'],
      ['"app" "', 'Delta2234!cu6u', '" ""\n'],
      ['"stats" "md5f2829095667c50c35d188f67c1f27b29"\n"app" "', 'Delta2234!cu6u', '"\n'],
      ['"app" "', 'Delta2234!cu6u', '"\n"stats" "md5f2829095667c50c35d188f67c1f27b29"\n'],
      ['pgbouncer userlist:\n"a" "b"\n"app" "', 'Delta2234!cu6u', '"'],
      ['"app" "', 'SCRAM-SHA-256$4096:c2FsdHNhbHQ=$Zk39sQxT7bW2mYc5RdLp8VnA1uHfJ=:Zk39sQxT7bW2=', '"\n'],
      ['"stats" "', 'md5f2829095667c50c35d188f67c1f27b29', '" ""\n'],
      ['rocommunity ', 'p5AvIWruEYzr', ' 10.0.0.0/8'],
      ['login kim, pw: ', 'grove-hunter'],
      ['id: kim pass: ', 'grove-hunter'],
      ['your id 4711, pass: ', 'grove-hunter'],
      ['PIN for the alarm: ', '5662', '#'],
      ['the root password of the NAS is ', 'sunflower'],
      ['the pin code of the card is ', '3643'],
      ['the pin to the garage is ', '3643'],
      ['my pin number is ', '3643'],
      ['> what was the db password again?\n> ', 'l4EB3cHH#7YE3rNW'],
      ['Backup codes:\n2515 ', '1997', '\n4719 7874\n'],
    ],
  );
});

test('checksums of secrets, keys of caches, signatures and addresses of nodes', () => {
  const digest = '494a824d50f7ec7b234ff2187d37d5325bf5caae911ddef2b3a4ef060091598d';
  check(
    [
      `annotations:\n  checksum/secret: ${digest}\n`,
      `cache key: linux-npm-${digest}\n`,
      `signature: '0x${digest}${digest}1c'`,
      `'enrtree://AKA3AM6LPBYEUDMVNU3BSVQJ5AD45Y7YPOHJLEF6W26QOE4VTUDPE@all.mainnet.ethdisco.net'`,
      `enode://${digest}${digest}@10.3.58.6:30303`,
      'const publicKeyToken = "b77a5c561934e089";',
      'gpg --export-secret-keys --armor f21324f62c996c3e > key.asc',
      'secrets: inherit\n',
      'auth:\n  passwordFrom: vault\n',
      'Cookie: _ga=GA1.2.1287614412.1767225600; __cfduid=d4f5e6b78f8424d9f1d84c0275ee91e0a1496755994',
      '[azure_credential]: https://learn.microsoft.com/api/@azure/identity/azurecredential?view=latest',
    ],
    [
      ['kind: Secret\nstringData:\n  app/secret: ', digest, '\n'],
      ['my key: ', `5f${digest.slice(2, 40)}Zq`, '\n'],
      ["signature_secret: '", `0x${digest}`, "'"],
      ['https://', `Zq7vR2mX9kLabQ${digest.slice(0, 20)}`, '@git.acme.io/a.git'],
      ['const publicToken2 = {}; const accessKeyToken = "', 'b77a5c56Zq934e0Q', '";'],
      ['the gpg secret is ', 'f21324f62c996c3eZq', '\n'],
      ['Cookie: _ga=GA1.2.1287614412.1767225600; sid=', 'd4f5e6b78f8424d9f1d84c0275ee91e0', '\n'],
      ['credential: https://', 'kim:Tiger-482!x', '@git.acme.io/a.git\n'],
    ],
  );
});

test('code within a string is code, and examples in comments', () => {
  check(
    [
      JSON.stringify({
        body: 'this.auth = {\n  token: options.oauth.access_token,\n  pass: options.password,\n};',
      }),
      'return text.replace(PATTERN, `-----BEGIN PRIVATE KEY-----\\nXXXX\\n-----END PRIVATE KEY-----`);',
      "const pem = `-----BEGIN PRIVATE KEY-----\\n${key.toString('base64')}\\n-----END PRIVATE KEY-----`;",
      "  fallbackSecret = outputHash.toString('hex')\n",
      "const app = build({ secret: 'averylongphrasebiggerthanthirtytwochars' });\n",
      "const app = build({ secret: 'top_secret aaaaaaaaaaaaaaaaaaaaaaaaa' });\n",
      'let clientSecret = "<<PAYPAL-CLIENT-SECRET>>";',
      'SECRET=LONG_RANDOM_VALUE\n',
      '/**\n *   AccessKeyId: "AKIAIOSFODNN7EXAMPLE",\n */\n',
      ' *   SecretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY",\n',
    ],
    [
      ['{"body":"token: ', 'Tiger-Window482!x', ',\\nuser: kim"}'],
      ['const app = build({ secret: "', 'averylongsunflower', '" });\n'],
      ['AccessKeyId: "AKIA', 'IOSFODNN7EXAMPLE', '"\n'],
      [' * AccessKeyId: "AKIA', 'IOSFODNN7QZMPLE2', '"\n'],
    ],
  );
});

test('names in a library of ciphers, calls through an import, and bundled code', () => {
  check(
    [
      'k.byteLength === binding.crypto_secretstream_xchacha20poly1305_KEYBYTES,',
      '"opslimit must be at least \'crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_MIN\'"',
      'const base = (0, hubDocumentBlockV2025R0_1.serializeHubDocumentBlockV2025R0)(val);',
      'timeStampToken:"1.2.840.113549.1.9.16.2.14",signingCertificate:"1.2.840.113549.1.9.16.2.12"',
      'n&&(r+="&token_access_type=".concat(n)),a&&(r+="&scope=".concat(a.join(" ")))',
      'requireIdToken:null==n?void 0:n.idTokenExpected',
      't.REFERRER_PATH_STORAGE_KEY="referrerPath",t.MIN_VERIFIER_LENGTH=43',
      'var key = ec.keyFromSecret("693e3c...");',
      'parseAccessTokenResult(result: AccessOAuth2TokenResult): IParsedOAuth2TokenResult;',
    ],
    [
      ['acme_live_', 'xT7mK29qLw8vRb3nZc5pYd4s', '\n'],
      ['client_secret=', 'null-Zk39sQxT7b', '\n'],
      ['POSTGRES_PASSWORD=', 'postgres', '\n'],
      ['const a = { secret: "', '.9xTq7mK29qLw8', '" }'],
      ['const auth = { password: ("', 'Tiger-482!x', '") };'],
    ],
  );
});

test('types, files, versions, templates and masks', () => {
  check(
    [
      'export type SecretDependencyType = "conversation_initiation_webhook";',
      "export type AlgKey = 'ecc_x962_raw' | 'ecc_x962_der' | 'rsa_2048_raw';",
      'const p12 = fs.readFileSync("test/credentials/support/certIssuerKeyPassphrase.p12");',
      '"pg-pool":"^3.5.2","pg-types":"^2.1.0",pgpass:"1.x"}',
      'this._storageKey = `lf_${config.publicKey}_langfuse`;',
      'appcheck set --key-id ABCD1234EF --private-key @AuthKey.p8',
      "const db = connect({ token: 'dapi***' });",
      'Set the `Authorization: token DEEPGRAM_API_KEY` header.',
    ],
    [
      ['const kindSecret = "', 'conversation_x962_Zk39sQ', '";'],
      ['deploy --password ', '@Tiger-482x', '\n'],
      ['const key = { apiKey: `lf_${region}_', 'xT7mK29qLw8vRb3nZc5p', '` };'],
      ['password: "', 'Tiger**', '"\n'],
      ['Authorization: token ', 'DEEPGRAM5API8KEY2x', '\n'],
    ],
  );
});
