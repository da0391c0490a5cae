import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderCsv } from '../../src/report/heap/csv.ts';

test('rows as CSV', () => {
  assert.equal(
    renderCsv(
      ['class', 'count'],
      [
        ['a,b', 1],
        ['say "no"', -2.5],
        ['two\nlines', null],
      ],
    ),
    'class,count\r\n"a,b",1\r\n"say ""no""",-2.5\r\n"two\nlines",\r\n',
  );
});

test('no cell is a formula for a spreadsheet; a number may be negative', () => {
  const cells = ['=1+1', '+1', '-1+2', '@SUM(A1)', '\tx', '\rx', 'plain=1'];
  const [, ...lines] = renderCsv(
    ['text'],
    cells.map((text) => [text]),
  ).split('\r\n');
  assert.deepEqual(lines, ["'=1+1", "'+1", "'-1+2", "'@SUM(A1)", "'\tx", '"\'\rx"', 'plain=1', '']);
  assert.equal(renderCsv(['n'], [[-1]]), 'n\r\n-1\r\n');
});
