/** No telling name is skipped before it is judged: every word of the vocabulary's source, alone and joined. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { judgeName } from '../../../src/redaction/names/key-names.ts';
import { NameBook } from '../../../src/redaction/names/name-book.ts';
import { PageMaker } from '../../../src/redaction/scan/page.ts';

const source = readFileSync(new URL('../../../src/redaction/names/key-names.ts', import.meta.url), 'utf8');

test('what judgeName calls telling is never passed by', () => {
  const words = [...new Set(source.match(/[A-Za-z][a-z0-9]+/g))].map((word) => word.toLowerCase());
  const names = words.flatMap((word) => [
    word,
    `my_${word}`,
    `${word}Key`,
    `db_${word}`,
    `${word}_token`,
    ...(word.length > 2 ? [`x-${word}`] : []),
    [...word].join('-'),
    `x.${word.toUpperCase()}2`,
  ]);
  const telling = names.filter((name) => {
    const { strength, form } = judgeName(name);
    return strength > 0 || form !== undefined;
  });
  assert.ok(telling.length > 500, String(telling.length));
  const book = new NameBook();
  const pages = new PageMaker();
  // In a text, names of single letters are split at their hyphens.
  const missed = telling.filter((name) => {
    const page = pages.make(name);
    return !/^\w(?:-\w)+$/.test(name) && book.lookUp(page, 0, page.length) === undefined;
  });
  assert.deepEqual(missed, []);
  const judgedOtherwise = names.filter(
    (name) => JSON.stringify(book.judge(name)) !== JSON.stringify(judgeName(name)),
  );
  assert.deepEqual(judgedOtherwise, []);
});
