/**
 * Passwords of letters only in configuration files, written down before the rule was read; and lines of programs, labels and
 * prose that look like them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';

/** `%` stands for the password. */
const settings = [
  'spring.datasource.password=%',
  'spring.datasource.password=%\nspring.datasource.driver=org.postgresql.Driver',
  'spring.datasource.hikari.password=%   # pool',
  'spring.redis.password: %',
  'spring:\n  datasource:\n    username: app\n    password: %',
  'spring:\n  datasource:\n    password: %  # production\n    username: app',
  'quarkus.datasource.password=%',
  'javax.net.ssl.keyStorePassword=%',
  'server.ssl.key-store-password = %',
  'server.ssl.key-store-password=% # keystore',
  '[database]\nhost = db1\npasswd = %\nport = 5432',
  '[database]\nhost = db1\n; who signs in\npassword = %   ; production\nport = 5432',
  'host=db1\npassword=%\nport=5432',
  'a=b\r\npassword=%\r\nc=d\r\n',
  'DB_PASSWORD=%',
  'DB_HOST=db\nexport DB_PASSWORD=%\n',
  '$ SPRING_DATASOURCE_PASSWORD=% java -jar app.jar',
  'java -Dldap.bind.password=% -jar app.jar',
  'java -jar app.jar --spring.datasource.password=% --server.port=1',
  '{spring.datasource.username=app, spring.datasource.password=%, spring.port=1}',
  '2026-11-02 12:00:01 DEBUG resolved app.admin.password=% from application.yml',
  '2026-11-02 12:00:01 DEBUG app.admin.password: %',
  'app.jwt.secret=%',
  'spring.redis.pass: %',
  JSON.stringify({ file: 'a.host=db\nspring.datasource.password=%\nb.port=1\n' }),
  JSON.stringify({ file: '[db]\nhost = db\npassword = %\nport = 1\n' }),
];
const passwords = [
  'sommerregenx',
  'qwmzkrtplxvb',
  'xkqzEfGhijkl',
  'tigerWindow',
  'adminWalrus',
  'walrus.kettle',
];

for (const setting of settings)
  test(`letters only in ${JSON.stringify(setting)}`, () => {
    for (const password of passwords) {
      const shown = redact(setting.replace('%', password));
      assert.ok(!shown.includes(password), shown);
      assert.equal(redact(shown), shown);
    }
  });

test('behind blanks at the end of a line, or a remark', () => {
  for (const line of [
    'password = sommerregen  \n',
    'password: sommerregen # pool',
    'database.password = brokenviolin ; db',
  ])
    assert.ok(!/sommerregen|brokenviolin/.test(redact(line)), redact(line));
});

test('a password that begins as a minified expression would', () => {
  for (const text of [
    'DB_PASSWORD=!1,Zq7vR2mX9',
    'DB_PASSWORD=!0:Zq7vR2mX9',
    'DB_PASSWORD=!0:a.Zq7vR2mX9',
    'db_password: !1,Zq7vR2mX9',
    'password: !1;Zq7vR2',
  ])
    assert.doesNotMatch(redact(text), /Zq7v/, text);
});

test('a password that is called as a variable would be stays hidden under a whole key', () => {
  for (const value of ['newAccount', 'mySecretPass', 'user_password'])
    assert.ok(!redact(`spring.datasource.password=${value}`).includes(value), value);
});

test('lines of programs, labels and prose stay', () => {
  for (const text of [
    'password = getPassword',
    'password = getPassword  # of the vault',
    'password = value  # as typed',
    'password = readPasswordFromConsole',
    'user = userName\npassword = userPassword\nlogin(user, password)',
    'connect(\n    user=user_name,\n    password=user_password\n)',
    'login({\n  password: userPassword\n})',
    '  password: string',
    '  password: string # as typed',
    '  password: PasswordField',
    '  password: SecretString',
    'fields.password: CharField',
    'password: z.string()',
    'name: string\npassword: SecretString\n',
    'login.password=Password',
    'login.password=Passwort',
    'login.password = Mot de passe',
    'login.password=Contraseña',
    'page.reset.password=Zurücksetzen',
    'login.label.password=Geheimwort',
    'error.password.missing=Bitte Passwort eingeben',
    'spring.datasource.password=$' + '{DB_PASSWORD}',
    'spring.datasource.password=$DB_PASSWORD # of the vault',
    'spring.datasource.password=',
    'spring.datasource.username=sommerregenx',
    'password.encoder=bcrypt',
    '# spring.datasource.password is required for the production profile',
    'The property spring.datasource.password = the password of the database user.',
    'The property spring.datasource.password: required',
    'this.form.password=userInput',
    'e.form.password=n.userInput,',
    'user.password = hashedPassword',
    'config.db.password = undefined',
    'form.controls.password = passwordControl',
    'props.password = inputValue;',
  ])
    assert.equal(redact(text), text);
});

test('passwords of proxies, and what a password is compared with', () => {
  const secret = ['Walnut', '-River', '-42'].join('');
  for (const text of [
    `basic_auth {\n\tbob ${secret}\n}`,
    `basicauth /admin/* {\n    admin ${secret}\n}`,
    `traefik.http.middlewares.a.basicauth.users=ops:${secret}`,
    `proxy_set_header Authorization "Bearer ${secret}";`,
    `header_up Authorization "Bearer ${secret}"`,
    `RequestHeader set Authorization "Bearer ${secret}"`,
    `user ops insecure-password ${secret}`,
    `smtp_sasl_password_maps = static:svc:${secret}`,
    `if (password.equals("${secret}")) return;`,
    `if (strcmp(user->pass, "${secret}") == 0) return;`,
    `hash_equals(token, '${secret}')`,
    `const key = '-----BEGIN PRIVATE KEY-----\\n${secret}${secret}';`,
    `page.fill('input[name="password"]', '${secret}')`,
  ])
    assert.ok(!redact(text).includes(secret), text);
  for (const text of [
    'basic_auth {\n\timport users\n}',
    'basic_auth is required for this route',
    'header_up Authorization {http.request.header.Authorization}',
    'proxy_set_header Authorization $http_authorization;',
    'smtp_sasl_password_maps = hash:/etc/postfix/sasl_passwd',
    'if (type.equals("password-field-1")) return;',
    'passwordHash: bcrypt',
    'verify(token: string, options?: JwtVerifyOptions): Promise\\<T\\>',
    'module.exports.ConnectionUpdateSecret = 655430;',
    'the hashed password (base64-encoded), if there is one',
    'privateKey: "-----BEGIN PRIVATE KEY-----<KEY>-----END PRIVATE KEY-----\\n"',
    "client.emit('token:error:renew', err);",
    "this.send(501, 'Error: syntax: AUTH XOAUTH2 token');",
    "'Error: syntax: AUTH CRAM-MD5'",
    '### GeneratedSecret : <code>Object</code>',
    "'Crypto-Key': 'p256ecdsa=' + publicKey",
    'type ReferrerPolicyToken = "no-referrer" | "same-origin" | "origin"',
    'new _aeadAes256CbcHmacAlgorithm.AeadAes256CbcHmac256Algorithm(new x());',
    'deriveKey = exports.AeadAes256CbcHmac256EncryptionKey = void 0;',
    '// ibPassword: 2-byte',
    "smtp_password: 'smtp_password_value',",
    'DEBUG=pw:webserver npx playwright test',
    'DEBUG="app:*,pw:browser*" npm test',
  ])
    assert.equal(redact(text), text);
});

test('the sign at the end of a quoted password goes with it', () => {
  assert.match(redact('export const PASSWORD = "walnut$$42!";'), /PASSWORD = "\[redacted:[^\]]*\]";$/);
});
