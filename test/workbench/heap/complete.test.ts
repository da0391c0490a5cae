/** What is offered at the cursor of a query; whatever is offered for a class can be asked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from '../../../src/analysis/memory/query/parse.ts';
import { completeQuery } from '../../../src/workbench/heap/complete.ts';

const names = {
  classes: [
    'Session',
    'SessionStore',
    'Array',
    '(string)',
    'Odd "quoted" \\ name',
    'and',
    'Größe',
    'a.b',
    '3rd',
  ],
  types: ['object', 'string', 'closure'],
  propertiesOf: (name: string) =>
    ({ Session: ['id', 'note', 'nodes'], 'Odd "quoted" \\ name': ['only'] })[name] ?? [],
};

/** The cursor is at `|`. Returns the texts as they would be with each option. */
function completed(marked: string): string[] {
  const caret = marked.indexOf('|');
  const text = marked.replace('|', '');
  const { from, to, options } = completeQuery(text, caret, names);
  return options.map((option) => text.slice(0, from) + option.text + text.slice(to));
}

test('a class where one is expected', () => {
  assert.deepEqual(completed('class = Ses|'), ['class = Session', 'class = SessionStore']);
  assert.deepEqual(completed('from ses|'), ['from Session', 'from SessionStore']);
  assert.deepEqual(completed('from "Sess|'), ['from Session', 'from SessionStore']);
  assert.deepEqual(completed('class in (Array, store|)'), ['class in (Array, SessionStore)']);
  assert.equal(completed('class = |').length, names.classes.length);
});

test('every class that is offered can be asked for', () => {
  for (const prefix of ['from ', 'class = ', 'class != ']) {
    const offered = completed(`${prefix}|`);
    assert.equal(offered.length, names.classes.length);
    for (const text of offered) assert.ok(parseQuery(text).where, text);
  }
});

test('properties of the class that the query is about', () => {
  assert.deepEqual(completed('from Session where .no|'), [
    'from Session where .note',
    'from Session where .nodes',
  ]);
  assert.deepEqual(completed('select .| from Session'), [
    'select .id from Session',
    'select .note from Session',
    'select .nodes from Session',
  ]);
  assert.deepEqual(completed('from Array select .n|'), []);
  assert.deepEqual(completed('.n|'), []);
  assert.deepEqual(completed('.note = "from Array" and class = Session and .no|').length, 2);
  assert.deepEqual(completed(`.note = 'class = "Session"' and .no|`), []);
  assert.equal(
    completed('class = "Odd \\"quoted\\" \\\\ name" and .on|')[0],
    'class = "Odd \\"quoted\\" \\\\ name" and .only',
  );
});

test('words of the language elsewhere, and a type where one is expected', () => {
  assert.deepEqual(completed('ret|'), ['retained', 'retains', 'retained by']);
  assert.deepEqual(completed('from Session gro|'), ['from Session group by']);
  assert.deepEqual(completed('select su|'), ['select sum()']);
  assert.deepEqual(completed('type = cl|'), ['type = closure']);
  assert.ok(completed('self > 1MB an|').includes('self > 1MB and'));
});

test('nothing where nothing is begun, in a text, and where all is typed already', () => {
  for (const text of ['|', 'from Session |', '.name = "re|', 'limit 5|', 'retained > 1|', 'limit|'])
    assert.deepEqual(completed(text), [], text);
});

test('behind a quoted text as behind a word', () => {
  assert.deepEqual(completed('from "Session" where .no|'), [
    'from "Session" where .note',
    'from "Session" where .nodes',
  ]);
  assert.ok(completed(`class = 'Session' an|`).includes(`class = 'Session' and`));
  assert.deepEqual(completed('.name = "x" and class = Ses|'), [
    '.name = "x" and class = Session',
    '.name = "x" and class = SessionStore',
  ]);
  assert.deepEqual(completed('class in ("(string)", store|)'), ['class in ("(string)", SessionStore)']);
  assert.deepEqual(completed('.name = "it\'s" and type = cl|'), ['.name = "it\'s" and type = closure']);
  for (const text of ['from "Session"|', '.name = "class = Ses|', '.name = "a" and .note = "ret|'])
    assert.deepEqual(completed(text), [], text);
});
