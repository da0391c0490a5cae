// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are sources that have templates.
/** What of a message is data, by the source where it was thrown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { templateOf } from '../../../src/analysis/message-template.ts';
import type { Frame } from '../../../src/model/thread.ts';

/** A frame at `^` in the text, which is left out. */
function frameAt(text: string): Frame {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.includes('^'));
  const column = (lines[at] ?? '').indexOf('^') + 1;
  const source = lines.map((line, n) => ({ line: n + 1, text: line.replace('^', '') }));
  return { file: '/srv/a.js', line: at + 1, column, inApp: true, trust: 'stack-text', source };
}
const formOf = (message: string, ...sources: string[]) => templateOf(message, sources.map(frameAt))?.text;

const told: [what: string, message: string, form: string | undefined, ...sources: string[]][] = [
  ['a template', 'no rate for USD', 'no rate for <value>', 'throw ^new Error(`no rate for ${currency}`);'],
  [
    'texts that are added',
    'no rate for garden chairs, sorry',
    'no rate for <value>, sorry',
    "throw ^new Error('no rate for ' + list[at(1, 'x')].word + ', sorry');",
  ],
  [
    'minified code, cut on both sides',
    'no rate for USD',
    'no rate for <value>',
    'function r(t){throw ^new Error(`no rate for ${t}`)}export{r as x};var s="don',
  ],
  [
    'a helper that throws what its caller has written',
    'cart of Bob has no items',
    'cart of <value> has no items',
    'if (!holds) throw ^new Error(message);',
    '^assert(cart.total > 0, `cart of ${user} has no items`);',
  ],
  [
    'the text that explains more',
    'shop: cart of Bob is empty',
    'shop: cart of <value> is empty',
    'throw ^new ShopError(`shop: ${details}`);',
    "^fail('shop: cart of ' + user + ' is empty');",
  ],
  [
    'one of two alternatives',
    'lease needs approval of Bob',
    'lease needs approval of <value>',
    'throw ^new Error(isLoan ? `loan needs approval of ${user}` : `lease needs approval of ${user}`);',
  ],
  [
    'a message that was made before',
    'no seat for Bob',
    'no seat for <value>',
    'const text = `no seat for ${user}`;\nlog(text);\nthrow ^new Error(text);',
  ],
  [
    'a call over several lines',
    'no seat for Bob in 3',
    'no seat for <value> in <value>',
    'throw ^new Error(\n  `no seat for ${user}` +\n    ` in ${hall}`,\n);',
  ],
  [
    'holes within holes',
    'row a,b of x is bad',
    'row <value> of <value> is bad',
    "throw ^new Error(`row ${cells.map((c) => `${c['}']}`).join()} of ${table} is bad`);",
  ],
  [
    'what another error said',
    'import failed: no such table',
    'import failed: no such table',
    'throw ^new Error(`import failed: ${error.message}`);',
  ],
  ['too few words', 'a: b', undefined, 'throw ^new Error(`${a}: ${b}`);'],
  ['another message', 'no rate for USD', undefined, 'throw ^new Error(`no seat for ${user}`);'],
  ['a text that does not end', 'no rate for USD', undefined, 'throw ^new Error(`no rate for ${cur'],
  ['no source', 'no rate for USD', undefined],
];
for (const [what, message, form, ...sources] of told)
  test(what, () => assert.equal(formOf(message, ...sources), form));

test('a hostile source is read at once', () => {
  for (const unit of ['`${', "'", '(', '"a"+', '`${a}`+', '}', '\\', '`x${y}', '${`', ',`a${b}c'])
    formOf(`${'abcd'.repeat(500)}`, `^${unit.repeat(20_000)}`);
});

test('a hostile source is read to a limit', () => {
  for (const unit of ['`${', "`${'", '{`${', '(', "'"])
    assert.equal(formOf('no rate for USD', `${unit.repeat(100_000)}\n^throw error;`), undefined);
});
