/**
 * The same decision in every rendering: what is withheld in a text is withheld in a field of JSON, in a literal of a program, in
 * memory, in the strings of a heap snapshot, and in the object that a text of JSON is of.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolicy } from '../../../src/redaction/index.ts';

/** `«…»` marks the secret. */
const texts = [
  'set -e\nopenssl enc -aes-256-cbc -pbkdf2 -in a -out b -k «cinnamonToast»\ntrue',
  `openssl enc -aes-256-cbc -K «${'9f3ac1d27be04586'.repeat(4)}» -iv 00000000000000000000000000000000 -in a`,
  'cd /srv\nzip -P «postbox» a.zip b\n',
  "select 1\nsqlcmd -S sql1 -U sa -P «Yuk0n.River» -Q 'select 1'",
  'x\nredis-cli -h cache-1 -a «tangerineDust» ping\n',
  'x\ncurl -usvc:«pumpernickel» https://host/a\n',
  'x\nnet use Z: \\\\\\\\fs1\\\\data /user:eva «Turmuhr19»\n',
  'host = mail\npassword = """«#mailer;Route66»"""\nport = 25',
  'kind: Secret\nmetadata:\n  name: app\ndata:\n  user: YXBw\n  db: «lOmB2+sj4l8C7DwkECtLk69z»\ntype: Opaque\n',
  'db-1.int.lan:5432:dw:etl:«hedgerow\\:wren»\n',
  'x\nuse 482911 to continue\nuse «482913» to confirm your login code\n',
];

const policy = () => createPolicy();
const renderings: Record<string, (text: string) => string> = {
  text: (text) => policy().text(text),
  'a field of JSON': (text) => JSON.parse(policy().text(JSON.stringify({ body: text }))).body,
  'a value': (text) => (policy().value({ body: text }) as { body: string }).body,
  memory: (text) => policy().masked(text),
};

for (const marked of texts) {
  const secret = /«([^»]*)»/.exec(marked)![1]!;
  const text = marked.replace(/[«»]/g, '');
  for (const [name, render] of Object.entries(renderings))
    test(`${name}: ${JSON.stringify(marked.slice(0, 60))}`, () => {
      const shown = render(text);
      assert.ok(!shown.includes(secret), shown);
      assert.ok(shown.length > secret.length, shown);
    });
}

test('a setting in a long literal of a program', () => {
  const secret = 'q8Zr2LxV0bNw7KtYf4HsJ1mPc9DgEa3U';
  const lines = Array.from({ length: 30 }, (_, i) => `option_${i} = value of it`);
  const text = [...lines, `here MISTRAL_API_KEY=${secret}`, 'end'].join('\n');
  const code = `export const sample = ${JSON.stringify(text)};\nlet tokens = exports.kind;\n`;
  const shown = policy().code(code);
  assert.equal(shown.length, code.length);
  assert.ok(!shown.includes(secret), shown);
  // An escape in a regular expression opens no literal.
  const split = 'const a = b.split(/\\n/).token = E.format(tokenOfKind);';
  assert.equal(policy().code(split), split);
});

/** Fields that say what another field contains. */
const objects: [object, string][] = [
  [{ OutputKey: 'AdminPassword', OutputValue: 'mulberry9' }, 'mulberry9'],
  [{ ParameterKey: 'MasterUserPassword', ParameterValue: 'nightjar' }, 'nightjar'],
  [
    { name: 'browser_type', arguments: { selector: 'input[type=password]', text: 'kitchen sink 4' } },
    'kitchen sink 4',
  ],
  [
    {
      mode: 'managed',
      type: 'random_password',
      instances: [
        { attributes: { bcrypt_hash: '$2a$10$x', id: 'none', length: 20, result: 'x9!Lk#2vTq{Rw8]Zm4$p' } },
      ],
    },
    'x9!Lk#2vTq{Rw8]Zm4$p',
  ],
  [{ value: 'turnip-lantern', sensitive: true }, 'turnip-lantern'],
  [{ value: 'turnip-lantern', name: 'DB_PASSWORD' }, 'turnip-lantern'],
];

for (const [object, secret] of objects)
  test(`an object like its text: ${JSON.stringify(object).slice(0, 60)}`, () => {
    const text = JSON.stringify(object);
    assert.ok(!policy().text(text).includes(secret), 'as a text');
    const copy = JSON.stringify(policy().value([object]));
    assert.ok(!copy.includes(secret), copy);
  });

test('an object without such a field, and what its neighbours are called, stay', () => {
  const object = {
    type: 'text',
    text: 'Reset the password of the test user.',
    items: [{ name: 'colour', value: 'green' }],
    selector: '#name',
    id: 'call_1',
  };
  assert.deepEqual(policy().value(object), object);
});
