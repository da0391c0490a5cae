/** Questions in an address: an invalid one is refused before the heap is asked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readQuestion } from '../../../src/workbench/heap/read-question.ts';

test('a question is taken as it is', () => {
  const question = { ask: 'objects', class: 3, sort: 'self', from: 0, count: 100 };
  assert.deepEqual(readQuestion(JSON.stringify(question)), question);
  assert.deepEqual(readQuestion('{"ask":"suspects"}'), { ask: 'suspects' });
});

test('what is none is refused', () => {
  for (const text of [
    null,
    '',
    'null',
    '[]',
    '{',
    '{"ask":"toString"}',
    '{"ask":"__proto__"}',
    '{"ask":["summary"]}',
    '{"ask":"object"}',
    '{"ask":"object","id":-1}',
    '{"ask":"object","id":"1"}',
    '{"ask":"object","id":1.5}',
    '{"ask":"classes","sort":"constructor","filter":"","from":0,"count":1}',
    '{"ask":"classes","sort":"self","filter":1,"from":0,"count":1}',
    '{"ask":"strings","from":0}',
    '{"ask":"complete","text":"from"}',
    '{"ask":"complete","text":"from","caret":-1}',
    '{"ask":"fields","id":1,"isRaw":"yes","from":0,"count":1}',
  ])
    assert.throws(() => readQuestion(text), { code: 'usage' }, String(text));
});
