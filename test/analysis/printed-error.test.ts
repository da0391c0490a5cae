/** The last error that a program printed before it ended itself, from the ends of its streams. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { findPrintedError } from '../../src/analysis/joins/printed-error.ts';

const stack = (head: string) => `${head}\n    at connect (/app/db.js:2:9)\n    at main (/app/main.js:4:15)`;
const stderr = (text: string, writtenAt = '2026-11-28T12:00:00.000Z') => ({
  stream: 'stderr',
  text,
  writtenAt,
});

function headlineIn(text: string): string | undefined {
  return findPrintedError([stderr(text)])?.headline;
}

test('the error, with the words before it left out', () => {
  assert.equal(headlineIn(`cannot start: ${stack('TypeError: no db')}\n`), 'TypeError: no db');
  assert.equal(headlineIn(stack('Error [ERR_X]: no')), 'Error [ERR_X]: no');
  assert.equal(headlineIn(stack('RangeError: two\nlines')), 'RangeError: two');
  assert.equal(headlineIn(`${stack('Error: first')}\n${stack('Error: last')}\nbye`), 'Error: last');
});

test('of what Node prints of a chain of causes, the error itself', () => {
  const error = new Error('db refused', { cause: new TypeError('no route') });
  assert.equal(headlineIn(`cannot start: ${inspect(error)}`), 'Error: db refused');
  assert.equal(
    headlineIn(inspect(new AggregateError([new Error('a'), new Error('b')], 'all failed'))),
    'AggregateError: all failed',
  );
});

test('in a structured line, with its stack', () => {
  const line = JSON.stringify({
    level: 50,
    time: 1,
    err: { type: 'Error', message: 'no', stack: stack('Error: no') },
    msg: 'x',
  });
  const found = findPrintedError([
    { stream: 'pino', text: `${line}\n`, writtenAt: '2026-11-28T12:00:00.000Z' },
  ]);
  assert.deepEqual([found?.headline, found?.stream], ['Error: no', 'pino']);
  assert.match(found?.stackText ?? '', /^Error: no\n {4}at connect/);
});

test('the stream that was written last decides', () => {
  const found = findPrintedError([
    { stream: 'stdout', text: stack('Error: out'), writtenAt: '2026-11-28T12:00:01.000Z' },
    stderr(stack('Error: err')),
  ]);
  assert.equal(found?.headline, 'Error: out');
});

test('whether it is among the last lines', () => {
  const isLast = (text: string) => findPrintedError([stderr(text)])?.isLast;
  assert.equal(isLast(`${stack('Error: no')}\nbye\n`), true);
  assert.equal(isLast(`${stack('Error: no')}\n${'working\n'.repeat(50)}`), false);
});

test('a stack without an error is none', () => {
  assert.equal(headlineIn('Trace\n    at a (/app/a.js:1:1)'), undefined);
  assert.equal(headlineIn('Error: without a stack'), undefined);
  assert.equal(headlineIn(''), undefined);
});
