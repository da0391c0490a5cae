/** Names that programs use and that resemble names of secrets; and keys that follow another word and its separator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolicy } from '../../../src/redaction/policy.ts';

const policy = createPolicy();

const programs = [
  "const a = 'mailto:addr1@an.example,addr2@an.example';",
  '"mailto:us%C3%A9r@xn--99zt52a.example.org?subject=Test"',
  'return { public: round1Public, secret: round1Secret };',
  '  progressToken: ProgressTokenSchema$1',
  '  * token         = 1*tchar',
  '  secretKey: _size,',
  'const SUBSCRIPTION_ID_META_KEY = "io.modelcontextprotocol/subscriptionId";',
  "'completion_tokens_p50' | 'prompt_tokens_p50' | 'tokens_p99'",
  'export const MATHML_TOKEN_ELEMENTS = /^m(i|n|o|s|text|space)$/;',
  'interface Token<TKind extends TokenSyntaxKind = TokenSyntaxKind> extends NodeBase {',
  'run 20230914T223155647Z1b64098b-4ab7-43f6-afee-992304f198d8.20230914T223155649Z809ed3a2-0172-4f4d-8a02-a64e9b7a0f8a',
  ' * region_tag:firestore_v1beta1_generated_Firestore_GetDocument_async',
  '    this.password = arg2;',
  " * { authorization: 'Bearer <access_token_value>' }",
  '(r.streamToken=t.bytes===String?i.base64.encode(e.streamToken,0,e.streamToken.length):e.streamToken)',
  '  tokenRatio: +obj.tokenRatio.toFixed(3),',
  '"id_token": "HEADER.PAYLOAD.SIGNATURE",',
  'createDeployKey: ["POST /repos/{owner}/{repo}/keys"],',
  'listOrgSecrets: ["GET /orgs/{org}/actions/secrets"],',
  ' *     SessionToken: "STRING_VALUE", // required',
  '    tokenOutput: CreateOAuth2TokenResponseBody',
  '#diff-34588ad868ebcb232660aba7ee6a99d1e02f4bc93f73497d2688c3f074e60fffR45',
  `IGVzdHJvZ2Vu ${'LS0t'.repeat(10)} IHN1bGZ1cg==`,
  '    passphrase?: PassphraseInfo;',
  '    keyInfo.passphrase = opts.passphrase;',
  'async function yo({userIDs:e=[],passphrase:t,type:r,curve:i})',
  "throw Error('Incorrect key passphrase: '+e.message);throw e}}else{const e=1;",
  'resetPasswordTemplate: { $ref: "#/components/schemas/GoogleV1ResetPasswordResponse" },',
  '"passphrase": "Passphrase des privaten Schlüssels (optional)", "ca": "CA-Zertifikat"',
  '"bearerToken": "トークン", "basicauth": "Usar autenticación"',
  'ERR_CONN_CREATE_MISSING_PASSWORD = 404005,',
  'EventType["SecretRequest"] = "m.secret.request";',
  'USER_PWD_MFA_AUTHENTICATOR = "USERNAME_PASSWORD_MFA"',
  "password = '<wsse:Password Type=' + kind",
  'normPrivateKeyToScalar:t=>Ut(f,t),v6Keys:6===this.keyPacket.version',
  'c.setRsaPrivateKey=c.rsa.setPrivateKey=function(e,t)',
  "<path fill='#a' d='M96%20183.4A63.7%2063.7%200%200%201%2072.6%20160L17.2%2064'/>",
  "const MESSAGE_AUTH_KEYS = ['type', 'user', 'pass', 'accessToken', 'refreshToken'];",
  'this.$rules={start:[{token:"comment.doc.tag",regex:"@"},{token:["storage.type","paren.lparen"]}]}',
  '-----BEGIN PRIVATE KEY-----\n<private key contents here at 64 characters per row>\n-----END PRIVATE KEY-----',
  "headers: { 'X-Admin-Token': 'server-secret' }",
  'a.cookie=function(i,a,l){if(void 0!==a){l=i}}',
  'type Token = XOAuth2Token;',
];

test('names, types, grammars and addresses of programs stay', () => {
  for (const line of programs) assert.equal(policy.text(line), line);
});

/** In two pieces, because scanners of this file would take them for keys. */
const drawn = ['5tQ9dZelgCg', 'lJ6sdnoOC'].join('');
const hex = ['0f3a9c1b2d4e5f60', '718293a4b5c6d7e8'].join('');

test('a key that has a word of its own is known behind the sign of another', () => {
  for (const line of [
    `load_LTAI${drawn}`,
    `/srv/checkout-dapi${hex}/index.js`,
    `at call_AKCp${drawn} (x.js:1:1)`,
  ])
    assert.ok(!policy.text(line).includes(line.includes('dapi') ? hex : drawn), policy.text(line));
});

test('what looks like those names and is a secret goes', () => {
  for (const [before, secret, after] of [
    ['secret: ', 'TopSecr3t9x', ''],
    ['token: ', ['xK9mQ2v', 'L8pRt'].join(''), ''],
    ['bot:', ['Xk9mQ', '2vL8'].join(''), '@irc.example.org'],
    ['| db_password | ', ['Xk9mQ', '2vL8'].join(''), ' |'],
  ] as const)
    assert.ok(!policy.text(before + secret + after).includes(secret), before + secret);
});

test('beside them, what a person or a machine has put there goes', () => {
  for (const [before, secret, after] of [
    ['passphrase: ', 'amber window nine', '\n'],
    ["const o = { passphrase: '", 'geheime Wolke', "' };"],
    ['const dbPassword = "', 'frostTiger', '";'],
    ['secret: "', 'abc123', '"'],
    ["secretToken: '", '中-geheim-4711', "' }"],
    ['INFO login with password = ', 'tigerWindow', ' for bo'],
    ['{ user: bo, password: ', 'tiger_window', ' }'],
    [
      'const client = new Client();\nclient.run(() => {});\nclient.token = "',
      ['xK9mQ2v', 'L8pRt'].join(''),
      '";',
    ],
    ['DB_PASSWORD=', 'user.tiger', '\nDB_HOST=db\n'],
    ['The admin password is **', 'Ocean2022', '** until it is changed.'],
    ['ERR_TOKEN = "', ['xK9mQ2v', 'L8pRtW3zB'].join(''), '"'],
    ['k=-----BEGIN%20PRIVATE%20KEY-----%0A', `${drawn}%2B${hex}`, '%0A-----END%20PRIVATE%20KEY-----'],
  ] as const)
    assert.ok(!policy.text(before + secret + after).includes(secret), before + secret);
});
