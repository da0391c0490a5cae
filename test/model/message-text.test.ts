import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onOneLine, shorten } from '../../src/model/errors/message-text.ts';

test('a message with a line break in a quotation is read to the end of the quotation', () => {
  assert.equal(
    onOneLine(`Unexpected token 'v', "vm at t.cjs\nis gone"... is not valid JSON\nsee the log`),
    `Unexpected token 'v', "vm at t.cjs is gone"... is not valid JSON`,
  );
  assert.equal(onOneLine('no "closing mark\nhere'), 'no "closing mark');
  assert.equal(onOneLine('first line\n"second"'), 'first line');
  assert.equal(onOneLine("it can't be\nread"), "it can't be");
});

test('a list of issues is read as its issues', () => {
  const issues = [
    { code: 'invalid_type', path: ['days', 0], message: 'expected number, received string' },
    { code: 'custom', path: [], message: 'no dates' },
  ];
  assert.equal(
    onOneLine(JSON.stringify(issues, null, 2)),
    'days.0: expected number, received string; no dates',
  );
  assert.equal(onOneLine('[\n  1\n]'), '[ 1 ]');
  for (const other of [
    '[{"a":1}]',
    '[{"message":"a","path":["x"]},null,{"message":"b","path":[]}]',
    '[{"message":"a","path":[]},7,{"message":"b","path":[]}]',
    '[{"message":"a","path":[{"toString":1,"valueOf":1}]}]',
    '[{"message":"a","path":[null]}]',
    '[{"message":{},"path":["x"]}]',
    '[{"message":"a","path":{"join":1}}]',
  ])
    assert.equal(onOneLine(other), other);
});

test('a text is cut between words, and what the cut leaves open is closed', () => {
  assert.equal(shorten('short', 5), 'short');
  assert.equal(
    shorten('Recursion limit of 6 reached without hitting a stop condition', 45),
    'Recursion limit of 6 reached without hitting…',
  );
  assert.equal(
    shorten(`Unexpected token 'h', "hello all of you" is not valid JSON`, 36),
    `Unexpected token 'h', "hello all…"`,
  );
  assert.equal(shorten(`Unexpected token 'h', "hello all" is`, 25), `Unexpected token 'h'…`);
  assert.equal(
    shorten('cannot resolve Cats (LogService, ?, Third)', 38),
    'cannot resolve Cats (LogService, ?…)',
  );
  assert.equal(shorten("it isn't the user's own account number", 24), "it isn't the user's own…");
  assert.equal(shorten('x'.repeat(50), 20), `${'x'.repeat(19)}…`);
});

test('a text is never longer than it may be, wherever it is cut', () => {
  const text = `Error: "quoted 'within' (and more" than) 'one ("of them \u{1f600}, in a row' and (so on "to the end`;
  for (let max = 2; max < text.length + 2; max++) {
    const short = shorten(text, max);
    assert.ok(short.length <= max, `${max}: ${short}`);
    assert.ok(!/[\ud800-\udbff](?![\udc00-\udfff])/.test(short), short);
  }
});
