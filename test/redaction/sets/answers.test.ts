/** Secrets in answers, clients' notes and files of logins, and what resembles them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';

/** Texts with the secrets between `‹` and `›`: they go, and everything else stays. */
function withholds(texts: string[]): void {
  for (const marked of texts) {
    const shown = redact(marked.replace(/[‹›]/g, ''));
    const kept = marked.replace(/‹[^›]*›/g, '[redacted]');
    assert.equal(shown.replace(/\[redacted:[a-z-]+#[0-9a-f]{8}\]/g, '[redacted]'), kept);
  }
}

function keeps(texts: string[]): void {
  for (const text of texts) assert.equal(redact(text), text);
}

const digest = '4b6078752fa6a4ac2448ba530d84a22cd21207a5';

test('a password that answers a question', () => {
  withholds([
    "kim: what's the wifi password?\nsam: it's ‹Blaubeermuffin›\n",
    'A: password for the vault?\nB: try ‹sunflower›\n',
    'Kennwort vom Drucker: ‹mausefalle›\nLG\n',
    'senha do banco: ‹girassol›\n',
  ]);
  keeps([
    "kim: what's the wifi password?\nsam: it's complicated\n",
    "kim: did you change the password?\nsam: it's unchanged\n",
    'Kennwort vom Drucker: falsch\n',
    'password for the vault: required\n',
  ]);
});

test('a password that was changed to a value', () => {
  withholds([
    'Ich hab dein Passwort auf ‹Gipfelkreuz!› zurückgesetzt.\n',
    'Passwort auf ‹Sommer2024› geändert\n',
    'He cambiado la contraseña a «‹luna_llena5›», avísame\n',
    '我把密码改成了 ‹hongbao888›\n',
    '密码已重置为 ‹hongbao888›\n',
    '비밀번호는 ‹haebaragi7› 입니다\n',
  ]);
  keeps([
    'Passwort auf web01 geändert\n',
    'Bitte das Passwort auf dem Server ändern\n',
    'contraseña en producción cambiada\n',
    '비밀번호는 base64 로 저장\n',
    '密码是 base64 编码\n',
  ]);
});

test('logins in lines of their own, and pairs in sentences', () => {
  withholds([
    'machine api.host.dev\n  login ops@corp.dev\n  password ‹zitronenfalter›\n',
    'machine gerrit.dev login kim password ‹sunflower›\n',
    'You can log in as root / ‹dragonfly-9› until Friday\n',
    'connect with the credentials admin/‹mandarine› please\n',
    'te paso la clave: ‹cafeconleche›\n',
    'hibernate.connection.password ‹tannenzapfen›\n',
    'a001 LOGIN kim@corp.dev ‹kornblume7›\r\n',
    'imap login kim@corp.dev "‹sternschnuppe›"\n',
  ]);
  keeps([
    'log in as admin/user\n',
    'sign in with Google / GitHub\n',
    'credentials read/write\n',
    'credentials admin/editor roles\n',
    'hibernate.connection.password property\n',
    'imap login failed again\n',
    '12 login pages sunflower\n',
    'the clave: cafeconleche\n',
    'user list\npassword field\n',
  ]);
});

test('what clients and tools note', () => {
  withholds([
    `sonar-scanner -Dsonar.login=‹${digest}›\n`,
    `unknown command 'AUTH', with args beginning with: '‹d8746462dbc9ef92f28222b40c55f098›'\n`,
    "ioredis:redis write command[10.0.0.1:6379]: 0 -> auth([ '‹wal-nuss›' ])\n",
    'secret_id             ‹c2d37c6d-ff16-573c-c94a-422fa53fe8d1›\n',
    'key: app-live-‹cb97a903580259c377428acb053f3575›\n'.replace('app-live-‹', '‹app-live-'),
    'Authorization: Bearer ‹admin-secret›\n',
  ]);
  keeps([
    `git checkout -Dlogin=${digest}\n`,
    "router.use(auth(['editor', 'owner']))\n",
    "unknown command 'GET', with args beginning with: 'session-list'\n",
    'role_id   c2d37c6d-ff16-573c-c94a-422fa53fe8d1\n',
    'key: npm-cache-cb97a903580259c377428acb053f3575\n',
    'Authorization: Bearer access-token\n',
    'gpg: key 3AA5C34371567BD2: public key imported\n',
  ]);
});

test('passwords that look like references or masks', () => {
  withholds(['password: ‹rivers_secret›\n', 'password: ‹hunter****›\n']);
  keeps([
    'password: db_secret\n',
    'password: client_secret\n',
    'password: ****\n',
    'password: your****\n',
    'token: sk-live-****\n',
    'const a = { password: rivers_secret };\nreturn a;\nlet b = a.password;\n',
  ]);
});

test('tokens of a grammar, and not those that grant access', () => {
  keeps([
    'f(["comma-token","[-token","]-token","(-token",")-token","{-token"])',
    '| Token | Type |\n|---|---|\n| `UINT16_BE` | integer |\n| `Float80_LE`* | float |\n',
    'const token = /d{1,4}|M{1,4}/;',
    'mask.replace(token, $0 => f[$0](date, combinedI18nSettings))',
    'switch(t.type){case"String":case"Token":o=e.value2;break}',
    'get(t){return t===this.tokenIndex?this.tokenStart:t>0?t<this.tokenCount?this.offset[t-1]:0:1}',
    'Prism.languages.tap={fail:/not ok[^#{\\n\\r]*/,pass:/ok[^#{\\n\\r]*/,pragma:/pragma [+-]/}',
    'export interface M {\n  key: PropertyKey$1;\n  value: Function$1;\n  kind: string;\n}',
    "const token = '<!--' + uid;",
    "  idToken: 'eyJhbGciOiJS...',\n",
    "const AUTHORIZATION_CODE_CHALLENGE_METHOD = 'S256';",
    "`mode: { pin: '2026-07-28' }`",
    'ipv6.parse("c359:f57c:21e5:39eb:1187:e501:f936:b4521")',
    'const versionKey = "@babel/plugin-class-features/version";',
    'const SESSION_TOKEN_QUERY_PARAM = "X-Amz-S3session-Token";',
  ]);
  withholds([
    '| Token | User |\n|---|---|\n| ‹Fx8kQz0WpXvB3nMrT7yU› | kim |\n',
    '| Password | User |\n|---|---|\n| ‹TIGER16_BE› | kim |\n',
    '["x-token","‹Fx8kQz0WpXvB3nMr›"]',
    '["token","‹Zk3Jd9token›"]',
    'token: "‹!@#$%^&*()_-›"\n',
    'password: ‹/d{1x9Q›\n',
    "token: '‹Fx8kQz0WpXvB3nMrT7yU›'",
    'password: ‹t>0?k9Q!›\n',
    "password: '‹<!--›'\n",
    "idToken: '‹eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI4In0...›'\n".replace('‹eyJ', 'eyJ‹'),
    'const looseKey = "‹acme/Qz0WpXvB3nMrY4kL9›";',
    "pin: '‹20260728›'\n",
    'db1:5432:app:e501:‹b4521a›\n',
  ]);
});

test('the start of a key within encoded data', () => {
  const data = 'AbEAA7QBC9dQ'.repeat(14);
  const body = `EAA${'oBUA7ACMUkQ9AACJEgAAixQAAE0VAADUEQ'.repeat(4)}`;
  keeps([`"${data}/${body}/AAA"`]);
  withholds([`https://graph.facebook.com/v1/EAA‹${body.slice(3)}›`]);
  // A long path, and a start that no such data contains.
  for (const path of ['segment/'.repeat(30), `${'x'.repeat(200)}/`])
    withholds([
      `GET /${path}AKIA‹Z7QK3XN5WDTRM2LP› HTTP/1.1`,
      `https://host/${path}ghp_‹16C7e42F292c6912E7710c838347Ae178B4a›?x=1`,
    ]);
  withholds([`/${data}/ghp_‹16C7e42F292c6912E7710c838347Ae178B4a›`]);
});
