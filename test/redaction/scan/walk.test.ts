/**
 * What the walk skips without consulting a rule: names, words and sentences that contain nothing, and similar ones that do.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';
import { splitName } from '../../../src/redaction/names/name-words.ts';
import { PageMaker } from '../../../src/redaction/scan/page.ts';
import { buildOf } from '../../../src/redaction/shapes/unknown-tokens.ts';

test('names are cut at humps, signs and the numbers behind words', () => {
  const cut: [string, string[]][] = [
    ['APIKey2', ['api', 'key']],
    ['x.apiKey', ['x', 'api', 'key']],
    ['db-password1234', ['db', 'password1234']],
    ['HTTPSProxy_URL', ['https', 'proxy', 'url']],
    ['p12Pass', ['p12', 'pass']],
    ['42_12', []],
    ['İstanbulKey', ['i', 'stanbulkey']],
  ];
  for (const [name, words] of cut) assert.deepEqual(splitName(name), words, name);
});

test('words and numbers joined hold no token, what is drawn may', () => {
  const pages = new PageMaker();
  const hasBuild = (word: string): boolean => buildOf(pages.make(word).units, 0, word.length) !== 0;
  for (const word of ['Convert_overload_list_95118', 'aria-required-attr-12', 'additionalProperties'])
    assert.equal(hasBuild(word), false, word);
  for (const word of ['acme_live_kQzWpXvBnMrTyUiOpAsD', 'gx_8f3kd92jf8s7dk3j', '111111-222222-333333'])
    assert.equal(hasBuild(word), true, word);
});

test('a sentence under a name that is a verb too stays, in any language; a phrase goes', () => {
  for (const sentence of [
    'Siden har mindst én overskrift på niveau 1',
    'O elemento não existe',
    '비어있지 않은 경우, 모두 가지고 있습니다.',
  ])
    assert.equal(redact(`{"pass": "${sentence}"}`), `{"pass": "${sentence}"}`);
  for (const text of [
    '{"pass": "Sommer9Regen!"}',
    '{"password": "Correct horse battery staple"}',
    '{"db_pass": "walnut river copper"}',
  ])
    assert.match(redact(text), /\[redacted:/, text);
});

test('names that tell nothing matter again in an object of secrets, behind a label and below a heading', () => {
  const drawn = 'f81kQz0WpXvB3nMrT7yU';
  for (const text of [
    `{"secrets": {"first": "${drawn}"}}`,
    `[{"k": "token", "v": "${drawn}"}]`,
    `{"name": "api_key", "rank": 2, "value": "${drawn}"}`,
    `"user,password\\nbob,${drawn}\\n"`,
    `the password is: ${drawn}`,
    `db.host:5432:app:bob:${drawn}`,
  ])
    assert.match(redact(text), /\[redacted:/, text);
});
