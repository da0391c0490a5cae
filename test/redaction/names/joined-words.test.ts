/**
 * Passwords of joined words, as people choose them and passphrase generators write them; and names in programs that look like
 * them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';

const passwords = ['tigerWindow', 'correctHorse', 'walrus_kettle', 'falconLanternBucket', 'badger-saddle'];

const places: Readonly<Record<string, (password: string) => string>> = {
  dotenv: (password) => `DB_HOST=db\nDB_PASSWORD=${password}\nDB_PORT=5432\n`,
  YAML: (password) => `database:\n  host: db\n  password: ${password}\n  port: 5432\n`,
  conninfo: (password) => `host=db user=app password=${password} dbname=shop`,
  JDBC: (password) => `jdbc:sqlserver://db:1433;user=sa;password=${password};encrypt=true`,
  flag: (password) => `npm run deploy -- --password=${password} --region eu`,
  'flag and word': (password) => `deploy --password ${password} --region eu`,
  'variable before a command': (password) => `PGPASSWORD=${password} psql -h db`,
  form: (password) => `user=app&password=${password}&remember=1`,
  'end of a log line': (password) => `2026-11-25 connecting as app password=${password}`,
  quoted: (password) => `{"user":"app","password":"${password}"}`,
};

for (const [name, place] of Object.entries(places))
  test(`joined words: ${name}`, () => {
    for (const password of passwords)
      assert.ok(!redact(place(password)).includes(password), redact(place(password)));
  });

test('what a program calls its variables stays', () => {
  for (const line of [
    'const password = userInput;',
    'options.password = this.currentPassword;',
    'login({ user, password: adminPassword })',
    'password: passwordField,',
    'password = getPassword(user)',
    'password=newPassword&confirm=confirmPassword',
    'self.password = password_hash',
    '  password: string;',
    'password: validate_token',
  ])
    assert.equal(redact(line), line);
});
