/** Passwords of several words, and what a sentence tells in other languages; and texts that look like them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';

/** `«…»` marks the secret. */
const told = [
  "const secret = process.env.SESSION_SECRET || '«violet harbour engine»';",
  'jwtSecret: process.env.JWT_SECRET ?? "«seven violet harbours»", port: 1',
  'PASSWORD = os.environ.get("FTP_PASSWORD", "«lighthouse keeper»")',
  "'PASSWORD': os.getenv('DB_PASSWORD', '«post office box 9»')",
  "define('DB_PASSWORD', '«yarn&needle»');",
  "export BORG_PASSPHRASE='«a violet harbour phrase»'",
  'the password is "«pancake tuesday»".',
  'The code they texted me is «776255», hurry',
  'die PIN von meiner Karte ist «4711», hol bitte 50 Euro',
  'le pin est «4711»',
  'Zugangsdaten: Benutzer mmeier / PW: «kaffeetasse3»',
  'legacy:{SHA}«Cmzl5uObjxY4G9rBU+MVMWDJwU8=»',
  'name,email,password,role\nTom,tom@host.example,«hazelTree»,user',
  'vault kv put secret/app db=«greenhouse»',
  'MANAGEMENT: CMD \'password "Auth" "«Kerze!und!Docht»"\'',
  'git config url."https://«63db728ec7dba2088daca90e180e0c549150591b»:x-oauth-basic@github.com/".insteadOf a',
  `square EAAA«8xbPpjtEB4zCV1fvtsdY8lPWMGssUsXzVVb-Qzz45oLEVkN8vLw16rVJ8lMo»`,
  `SAMLResponse=«${Buffer.from('<samlp:Response ID="_8e8dc5f6" Version="2.0">').toString('base64')}»&RelayState=%2F`,
];

for (const marked of told)
  test(`withheld: ${marked.slice(0, 60)}`, () => {
    const secret = /«([^»]*)»/.exec(marked)![1]!;
    const shown = redact(marked.replace(/[«»]/g, ''));
    assert.ok(!shown.includes(secret), shown);
  });

const kept = [
  "const x = process.env.DB_PASSWORD || 'not set in environment';",
  "const x = process.env.DB_PASSWORD ?? 'no password given';",
  'password = os.getenv("DB_PASSWORD", "missing")',
  'the password is "not correct".',
  '.input--password:focus+.password__toggle{color:#3b82f6}',
  '.a--password:not(.b):hover{color:red}',
  ':root{--token-color-keyword:#d73a49;--token-spacing-lg:1.5rem}',
  'let token = std::env::var("API_TOKEN").expect("API_TOKEN must be set");',
  '<input v-model="form.password" :type="visible ? \'text\' : \'password\'" />',
  "'no-secrets/no-secrets': ['error', { tolerance: 4.5 }],",
  'curl -u user:password https://api.example.com/v1/me',
  'Authorization: Bearer <token>\nWWW-Authenticate: Basic realm="Restricted"',
  'RECAPTCHA_SITE_KEY=6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI',
  'secret_backend = vault',
  'der PIN ist 4-stellig',
  'the code they texted me never arrived',
];

for (const text of kept) test(`kept: ${text.slice(0, 60)}`, () => assert.equal(redact(text), text));
