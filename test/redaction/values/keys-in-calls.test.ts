/** Keys and passwords that a call, a format or a command takes in a known place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';
import { keeps, withholds } from '../../support/secrets/marked-texts.ts';

test('a key in the place where a function takes it goes, also when it is made of words or turned into bytes', () => {
  withholds([
    "const token = jwt.sign({ sub: user.id }, '‹cupcake59›', { expiresIn: '1h' });",
    'token = jwt.encode({"id": 1, "role": "x"}, "‹tulipCupcake5›", algorithm="HS256")',
    'sig = hmac.new(b"‹OpalRaven2021›", body, hashlib.sha256).hexdigest()',
    'mac := hmac.New(sha256.New, []byte("‹EmberTulip827!›"))',
    "OpenSSL::HMAC.hexdigest('SHA256', '‹cedar-mustang12›', data)",
    "hash_hmac('sha256', $data, '‹OceanHazel790!›')",
    "crypto.createHmac('sha256', Buffer.from('‹quartzPumpkin9›'))",
    'new HMACSHA256(Encoding.UTF8.GetBytes("‹SableViolet149!›"))',
    'app.use(cookieParser("‹firebird06›"));',
    "await jwtVerify(token, '‹Delta2320!geg8›')",
    "new Sequelize('shop', 'app', '‹raven_116_tulip56›', { dialect: 'mysql' })",
  ]);
});

test('what a program passes in such a place, and the text that is signed, stay', () => {
  keeps([
    "jwt.sign(payload, process.env.JWT_SECRET, { algorithm: 'HS256' })",
    "jwt.verify(token, publicKey, { algorithms: ['RS256'] })",
    "jwt.sign({ sub: 'kim@acme.io' }, 'secret')",
    "jwt.sign(payload, 'your-256-bit-secret')",
    "crypto.createHmac('sha256', secret).update('hello world 2024').digest('hex')",
    "hmac.new(key, b'the text', 'sha256')",
    "encoder.encode('summer2024')",
  ]);
});

test('what a format puts behind a sensitive name goes', () => {
  withholds([
    'conn := fmt.Sprintf("host=%s user=%s password=%s", "db1", "app", "‹HjmdVgwF#Jhb0RRQ›")',
    'log.info("password: {}", "‹GOYCpcERW3BJcSJl›");',
    '"user=%s password=%s" % ("app", "‹Pearl8993!fvdj›")',
    "printf 'password=%s\\n' '‹MhkwHzG3#MhbM1dj›'",
  ]);
  keeps(['log.info("password: {}", masked);', 'fmt.Sprintf("user=%s password=%s", user, password)']);
});

test('a parameter that a command stores as a secret, and a password typed into a field, go', () => {
  withholds([
    "aws ssm put-parameter --name /prod/db --type SecureString --value '‹TrP5lpZo#4mfeBrK›'",
    'aws ssm put-parameter --name "/prod/db" --value "‹Sable2020x›" --type "SecureString" --overwrite',
    "az keyvault secret set --vault-name kv --name db --value '‹letmein19›'",
    'consul kv put app/db/password ‹Pumpkin77›',
    "cy.get('[data-test=pw]').type('‹cedar-qwertz›')",
    'cy.get(\'[name="password"]\').type("‹tulip-trustme›")',
    'try logging in with test@acme.io / ‹kIDHTLEygV9MKRfZ›',
  ]);
  keeps([
    'aws ssm put-parameter --name /prod/region --type String --value eu-central-1',
    'consul kv put app/db/password_policy strict',
    'sign in with Google / GitHub',
    'logging in with your account / email',
  ]);
});

test('names of passwords and keys in more languages', () => {
  withholds([
    'parolă: ‹EmberEmber334!›',
    'лозинка: ‹hazelKing88›',
    'slaptažodis: ‹cupcake06›',
    'pasahitza: ‹KarmaWillow398!›',
    'nenosiri: ‹oceanStar88›',
    'Zugangsschlüssel=‹UwRpjjUrWRZD14ra7nAmU5g1›',
    'åtkomstnyckel=‹vr8eyI7pubvmyeh9DeqDHdiw›',
    'klucz_api=‹ZECrM74FVqx8O2Q1NSrqTxmK›',
    'kata sandi: ‹Umber2020›',
    "jeton d'accès : ‹iPmEr1oLiWFzUrmsAjV0srhU6FgvHsaY›",
    'login_challenge=‹ed9d50bcf117e5eddc53857fe894b7bf›',
  ]);
  keeps([
    'code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256',
    'captcha_challenge=visual',
    'Schlüssel: Nummer',
    'our password manager is 1Password',
    'userId: auth0|65f1c0a7e4b0a1b2c3d4e5f6',
    "secret: getSecret('prod/db'),",
    '"pass": "ARIA атрибут допустим",',
    'token: "variable-2"',
    "['--color-token-attribute', '--color-token-builtin2']",
    'const { fetch } = x509_credential_options_1.prepareX509ClientClone(options);',
  ]);
});

test('what is a stand-in, a program, an account or a sentence in another place goes below a name of a password', () => {
  withholds([
    'DB_PASSWORD=‹keepass2024›',
    'POSTGRES_PASSWORD: ‹vaultwarden›',
    'the password is ‹keepass2024›',
    'DB_PASSWORD=‹will-not-surrender›',
    'DB_PASSWORD=‹must-not-forget-blue-horse-battery›',
    'DB_PASSWORD=‹do-not-share-apple-tree-lamp›',
    '"auth0": "‹Xk29kfa83Zq81mNbvcX›"',
    'auth0=‹Xk29kfa83Zq81mNbvcX›',
    'auth0|‹Xk29kfa83Zq81mNbvcX›',
    '"token": "‹tiger-7›"',
    'run --password "‹--S3cr3t!x9Q›"',
    '"pass": "‹синий кит плывёт›"',
    '"pass": "‹мой кит›"',
    '"pass": "‹こんにちは 世界の人›"',
    'password = loadFromString("‹winter›")',
    'client.createHmac("sha256",\r\n\t"‹Zk29kfa83Zq81mNbvcX1›")',
    '| auth0 | ‹Xk29kfa83Zq81mNbvcX› |',
  ]);
  keeps([
    'token: "should-not-matter-at-all"',
    '"password": "does-not-exist"',
    '"tests pass: %d, fail: %d", "suite-one", "suite-two"',
    '"pass": "Атрибут «scope» использован правильно",',
  ]);
});

test('what is before a found argument is looked at too', () => {
  for (const text of [
    'log("password=%s api_key=Zk29kfa83!Zq81", "S3cr3t!x9Q")',
    'aws ssm put-parameter --token Zk29kfa83!Zq81 --type SecureString --value S3cr3t!x9Q',
    'az keyvault secret set --password Zk29kfa83!Zq81 --value S3cr3t!x9Q',
    'log("password=%s token=%s", "S3cr3t!x9Q", "Zk29kfa83!Zq81")',
    'log("password: {}", f(token="Zk29kfa83!Zq81"), "x")',
    "login({ name: 'x', password: 'S3cr3t!x9Q' }, 'Xk29!kfa83')",
    "jwt.sign({ sub: user.id, password: 'S3cr3t!x9Q' }, 'cupcake59')",
    'setToken("Xk29!kfa83Zq81", { password: "S3cr3t!x9Q" }, "Zk29kfa83!Zq81")',
  ])
    assert.doesNotMatch(redact(text), /S3cr3t!x9Q|Xk29!kfa83|cupcake59|Zk29kfa83!Zq81/);
  withholds([
    "jwt.sign({ sub: user.id, role: 'admin' }, '‹cupcake59›')",
    "login([user, '‹S3cr3t!x9Q›'])",
    'login({:bob, "‹S3cr3t!x9Q›"})',
  ]);
});
