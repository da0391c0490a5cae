/** One process's policy: environment, argument lists, structured values, known values, home folder, counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { types } from 'node:util';
import { createPolicy } from '../../src/redaction/index.ts';
import { NameBook } from '../../src/redaction/names/name-book.ts';
import { Detector } from '../../src/redaction/scan/detector.ts';
import { KnownValues } from '../../src/redaction/values/known-values.ts';

/** Secrets are assembled here, so that no file contains one. */
const planted = ['Zq7', 'vR2', 'mX9', 'kL4'].join('');
const mark = /^\[redacted:[a-z0-9-]+#[0-9a-f]{8}\]$/;

test('an environment keeps what is harmless and withholds by name, by shape and by look', () => {
  const policy = createPolicy();
  const shown = policy.environment({
    PATH: '/usr/bin:/bin',
    NODE_ENV: 'production',
    STRIPE_SECRET: planted,
    Api_Token: planted,
    DATABASE_URL: `postgres://app:${planted}@db/app`,
    SOMETHING: `${planted}${planted}`,
    MAX_TOKENS: '4096',
    SSH_AUTH_SOCK: '/tmp/ssh-1/agent.2',
    EMPTY_TOKEN: '',
  });
  assert.deepEqual(shown['PATH'], { value: '/usr/bin:/bin' });
  assert.deepEqual(shown['NODE_ENV'], { value: 'production' });
  assert.deepEqual(shown['STRIPE_SECRET'], { withheld: 'secret' });
  assert.deepEqual(shown['Api_Token'], { withheld: 'token' });
  assert.deepEqual(shown['SOMETHING'], { withheld: 'random-value' });
  assert.deepEqual(shown['MAX_TOKENS'], { value: '4096' });
  assert.deepEqual(shown['SSH_AUTH_SOCK'], { value: '/tmp/ssh-1/agent.2' });
  assert.deepEqual(shown['EMPTY_TOKEN'], { value: '' });
  assert.match(
    JSON.stringify(shown['DATABASE_URL']),
    /postgres:\/\/app:\[redacted:url-password#[0-9a-f]{8}\]@db\/app/,
  );
});

test('the host may allow and deny names', () => {
  const policy = createPolicy({ allow: ['build-token'], deny: ['Favourite'] });
  const shown = policy.environment({ BUILD_TOKEN: 'blue-42-green', FAVOURITE: 'tea with milk' });
  assert.deepEqual(shown['BUILD_TOKEN'], { value: 'blue-42-green' });
  assert.deepEqual(shown['FAVOURITE'], { withheld: 'denied-name' });
  assert.equal(policy.text('BUILD_TOKEN=blue-42-green'), 'BUILD_TOKEN=blue-42-green');
});

test('argument lists lose the values of telling flags only', () => {
  const policy = createPolicy();
  const [node, script, flag, value, assigned, port, eighty, url] = policy.argv([
    '/usr/bin/node',
    'app.js',
    '--api-key',
    planted,
    `--token=${planted}`,
    '--port',
    '8080',
    `https://bot:${planted}@example.com/x`,
  ]);
  assert.deepEqual(
    [node, script, flag, port, eighty],
    ['/usr/bin/node', 'app.js', '--api-key', '--port', '8080'],
  );
  assert.match(value!, mark);
  assert.match(assigned!, /^--token=\[redacted:token#[0-9a-f]{8}\]$/);
  assert.match(url!, /^https:\/\/bot:\[redacted:url-password#[0-9a-f]{8}\]@example\.com\/x$/);
});

test('structured values become JSON: names are context, cycles and throwing getters survive', () => {
  const policy = createPolicy();
  const value: Record<string, unknown> = {
    user: 'bob',
    password: planted,
    nested: { apiKey: planted, count: 3, big: 12n, when: new Date(0) },
    list: ['--token', planted, 'x'],
    pairs: [{ name: 'DB_PASSWORD', value: planted }],
    headers: new Map([['authorization', `Bearer ${planted}${planted}`]]),
    get broken(): string {
      throw new Error('no');
    },
    error: Object.assign(new Error(`login with password=${planted} failed`), { code: 'E1' }),
    bytes: Buffer.from(planted),
    nothing: undefined,
    fn: function named() {},
  };
  value['self'] = value;
  const text = JSON.stringify(policy.value(value));
  assert.ok(!text.includes(planted), text);
  const copy = JSON.parse(text);
  assert.equal(copy.user, 'bob');
  assert.match(copy.password, mark);
  assert.match(copy.nested.apiKey, mark);
  assert.equal(copy.nested.count, 3);
  assert.equal(copy.nested.big, '12');
  assert.equal(copy.nested.when, '1970-01-01T00:00:00.000Z');
  assert.equal(copy.self, '[circular]');
  assert.equal(copy.broken, '[getter threw]');
  assert.equal(copy.error.code, 'E1');
  assert.match(copy.error.message, /^login with password=\[redacted:password#[0-9a-f]{8}\] failed$/);
  assert.equal(copy.bytes, '[Buffer of 12 bytes]');
  assert.equal(copy.fn, '[function named]');
});

test('values of a program that must not notice are copied without running its code', () => {
  const fail = (): never => assert.fail('was run');
  class Failure extends Error {
    override get name(): string {
      return fail();
    }
  }
  const copy = createPolicy({ isProxy: types.isProxy }).value({
    plain: 'kept',
    get field(): string {
      return fail();
    },
    proxy: new Proxy({}, { ownKeys: fail, getPrototypeOf: fail, get: fail }),
    text: Object.assign(new String('boxed'), { valueOf: fail }),
    url: Object.defineProperty(new URL('https://example.com/x'), 'href', { get: fail }),
    error: new Failure('with a getter'),
    aborted: new DOMException('it was aborted', 'AbortError'),
  }) as Record<string, Record<string, string>>;
  const { error, aborted, ...others } = copy;
  assert.deepEqual(others, {
    plain: 'kept',
    field: '[getter]',
    proxy: '[proxy]',
    text: 'boxed',
    url: '[URL]',
  });
  assert.deepEqual([error?.['name'], error?.['message']], ['[getter]', 'with a getter']);
  // Node's own getters, which are not the program's.
  assert.deepEqual([aborted?.['name'], aborted?.['message']], ['AbortError', 'it was aborted']);
  assert.match(aborted?.['stack'] ?? '', /^AbortError: it was aborted\n/);
});

test('structured values are bounded in depth, entries and length', () => {
  const policy = createPolicy();
  let deep: unknown = 'end';
  for (let i = 0; i < 100_000; i++) deep = { deep };
  assert.match(JSON.stringify(policy.value(deep)), /deeper levels left out/);
  const wide = policy.value(
    Array.from({ length: 5000 }, (_, i) => i),
    { maxEntries: 100 },
  ) as unknown[];
  assert.equal(wide.length, 101);
  const cut = (text: string): unknown => policy.value(text, { maxStringChars: 10 });
  assert.equal(cut('x '.repeat(250)), 'x x x x x … [490 more characters]');
  // Half a word could be half a credential.
  assert.equal(cut('x'.repeat(500)), '… [500 more characters]');
});

test('a name that could change the copy’s prototype is a plain name', () => {
  const copy = createPolicy().value(JSON.parse('{"__proto__": {"polluted": true}}')) as Record<
    string,
    unknown
  >;
  assert.equal(copy['polluted'], undefined);
  assert.equal(JSON.stringify(copy), '{"__proto__":{"polluted":true}}');
});

test('values of telling variables are known everywhere, in every encoding, and at run time too', () => {
  const policy = createPolicy({ environment: { SERVICE_PASSWORD: `${planted}/"&` } });
  const value = `${planted}/"&`;
  const forms = [
    value,
    JSON.stringify(value),
    encodeURIComponent(value),
    Buffer.from(value).toString('hex'),
    ...[0, 1, 2].map((n) => Buffer.from(`${'x'.repeat(n)}${value} and more`).toString('base64')),
    `${planted}/&quot;&amp;`,
  ];
  for (const form of forms) assert.match(policy.text(`before ${form} after`), /\[redacted:[a-z-]+#/, form);
  assert.equal(policy.text('say plugh-plugh-1 now'), 'say plugh-plugh-1 now');
  assert.ok(policy.addKnown('plugh-plugh-1'));
  assert.match(policy.text('say plugh-plugh-1 now'), /^say \[redacted:known-value#[0-9a-f]{8}\] now$/);
  assert.ok(!policy.addKnown('abc'));
});

test('counts say how often each rule withheld something, and never a value', () => {
  const policy = createPolicy();
  policy.text(`password=${planted} password=${planted}`);
  assert.deepEqual([...policy.counts()], [['password', 2]]);
  policy.resetCounts();
  assert.equal(policy.counts().size, 0);
});

test('the user’s name leaves paths below the home folder', () => {
  const policy = createPolicy({ home: '/home/alice' });
  assert.equal(policy.text('at f (file:///home/alice/app/x.js:1:2)'), 'at f (file:///home/~/app/x.js:1:2)');
  assert.equal(policy.text('/home/alicent/x'), '/home/alicent/x');
  assert.equal(createPolicy({ home: '/root' }).text('/root/x'), '/root/x');
});

test('the host’s own patterns count', () => {
  const policy = createPolicy({ patterns: [/ACME-\d{4}/] });
  assert.match(
    policy.text('a ACME-1234 b ACME-12 c'),
    /^a \[redacted:host-pattern#[0-9a-f]{8}\] b ACME-12 c$/,
  );
});

test('a command line whose command tells which argument is a password', () => {
  const word = ['q7', 'Rx', '93', 'kd'].join('');
  for (const argv of [
    ['mysql', '-u', 'root', `-p${word}`, 'app'],
    ['curl', '-s', '-u', `bob:${word}`, 'https://a.example'],
    ['sshpass', '-p', word, 'ssh', 'host'],
    ['unzip', '-P', word, 'a.zip'],
  ]) {
    const out = createPolicy().argv(argv);
    assert.equal(out.length, argv.length);
    assert.ok(!out.join(' ').includes(word), out.join(' '));
    assert.equal(out[0], argv[0]);
  }
});

test('a text that is redacted while another one is: neither spoils the other', () => {
  const options = { names: new NameBook(), known: new KnownValues(), patterns: [], context: true };
  const detector = new Detector(options);
  const text = `api_key: ${planted}`;
  const find = (): unknown =>
    detector.withPage(text, (own, page) => {
      const units = page.units.slice();
      const inner = detector.withPage(`token: "${planted}"`, (other, otherPage) => {
        assert.notEqual(other, own);
        return other.find(otherPage, 0, otherPage.length).findings[0];
      });
      assert.equal(inner?.start, 8);
      assert.deepEqual(page.units.slice(), units);
      return own.find(page, 0, page.length).findings.map(({ start, end, rule }) => ({ start, end, rule }));
    });
  const cut = new Error('a deadline');
  assert.deepEqual(find(), [{ start: 9, end: text.length, rule: 'api-key' }]);
  assert.throws(() =>
    detector.withPage(text, () => {
      throw cut;
    }),
  );
  assert.deepEqual(find(), [{ start: 9, end: text.length, rule: 'api-key' }]);
});

test('what is withheld once is withheld everywhere, in every encoding, also before the place that shows what it is', () => {
  const policy = createPolicy({ learns: true });
  const password = ['Sommer', 'regen-', '1987'].join('');
  const both = policy.text(`cannot connect with ${password}; the password is ${password}`);
  assert.ok(!both.includes(password), both);
  const source = `if (given === '${password}') open();`;
  const clean = policy.code(source);
  assert.ok(!clean.includes(password) && clean.length === source.length, clean);
  const hex = Buffer.from(password).toString('hex');
  assert.ok(!policy.text(`sent ${hex}`).includes(hex));
  const early = `{"said":"${password}"}`;
  assert.ok(!policy.knownOnly(early).includes(password));
  assert.equal(policy.knownOnly(`'${password}'`, true).length, password.length + 2);
  assert.ok(policy.findings().includes(password));
});

test('the words of the command line are known from the start, and are not counted as withheld', () => {
  const policy = createPolicy({ commandLine: ['node', 'app.js', '--password', `${planted}!`] });
  assert.equal(policy.text('all is well'), 'all is well');
  assert.deepEqual([...policy.counts()], []);
  assert.ok(!policy.text(`no access with ${planted}!`).includes(planted));
});

test('what a command line withholds stands bare nowhere, if it is a word or short too; not an everyday word', () => {
  for (const password of ['tromboneWindow', 'ivory-letmein', 'hunter2', '48213377', 'Delta2234!cu6u'])
    for (const words of [
      ['--password', password],
      [`--db-password=${password}`],
      ['-u', `kim:${password}`],
      [`postgres://app:${password}@db/app`],
    ]) {
      const policy = createPolicy({ commandLine: ['node', 'app.js', ...words], learns: true });
      const source = `const expected = '${password}';\nif (given !== ${JSON.stringify(password)}) deny();\n`;
      const shown = policy.code(source);
      assert.ok(!shown.includes(password), shown);
      assert.equal(shown.length, source.length);
      assert.ok(!policy.text(JSON.stringify({ note: password })).includes(password));
      assert.ok(!JSON.stringify(policy.value({ list: [password] })).includes(password));
    }
  const policy = createPolicy({ commandLine: ['node', 'app.js', '--password', 'builder'], learns: true });
  assert.equal(policy.code("const role = 'builder';"), "const role = 'builder';");
});

test('a first list of arguments is learned from like a later one, though the command line is learned within it', () => {
  const policy = createPolicy({ commandLine: ['node', 'x.js'], learns: true });
  policy.argv(['npx', 's', '--password', 'developer']);
  assert.match(policy.text('a developer b'), /^a \[redacted:known-value#[0-9a-f]{8}\] b$/);
});

test('pairs of a list of users are not learned: their form alone tells what they are', () => {
  const policy = createPolicy({ learns: true });
  assert.match(policy.text('"host" "db01.internal" ""\n'), /\[redacted:/);
  assert.deepEqual(policy.findings(), []);
  assert.equal(policy.text('to db01.internal'), 'to db01.internal');
});

test('what looks like a call is a password in a value', () => {
  const { DB_PASSWORD: shown } = createPolicy().value({ DB_PASSWORD: 'helloWorld(1)' }) as Record<
    string,
    string
  >;
  assert.match(shown ?? '', mark);
});

test('everyday words, short values and examples are not learned, and without `learns` nothing is', () => {
  const learning = createPolicy({ learns: true });
  learning.argv(['mysql', '--password', 'secret', '--token=abc12']);
  learning.text('password=production');
  assert.deepEqual(learning.findings(), []);
  assert.equal(learning.text('in production, abc12'), 'in production, abc12');
  const plain = createPolicy();
  plain.text(`password=${planted}`);
  assert.deepEqual(plain.findings(), [planted]);
  assert.equal(plain.text(`said ${planted} twice`), `said ${planted} twice`);
});

test('a variable that is withheld because it looks random is withheld in every text', () => {
  const value = `${planted}${planted}${planted}`;
  const policy = createPolicy({ environment: { SOMETHING: value } });
  assert.ok(!policy.text(`started with ${value.slice(0, 36)}`).includes(planted));
});
