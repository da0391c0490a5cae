/** What a hostile bundle may attempt on the page that shows its Markdown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeBlock, codeSpan, escapeMarkdown } from '../../src/report/markdown/escape-markdown.ts';

const texts: [string, string][] = [
  ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)>'],
  ['[click](javascript:x)', '\\[click\\](javascript:x)'],
  ['![x](y)', '!\\[x\\](y)'],
  ['**bold** _it_ `code`', '\\*\\*bold\\*\\* \\_it\\_ \\`code\\`'],
  ['AGENTDUMP_LOCALS', 'AGENTDUMP_LOCALS'],
  ['@everyone see #12', '&#64;everyone see &#35;12'],
  ['https://evil.example and www.evil.example', 'https&#58;//evil.example and www&#46;evil.example'],
  ['# heading', '\\# heading'],
  ['- item', '\\- item'],
  ['1. item', '1\\. item'],
  ['a\n\n# b', 'a # b'],
  ['&lt; & &#64;x', '\\&lt; & \\&#64;x'],
  ['> quote', '\\> quote'],
  ['$x^2$ ~~y~~ a|b', '\\$x^2\\$ \\~\\~y\\~\\~ a\\|b'],
];
for (const [text, escaped] of texts)
  test(`text: ${JSON.stringify(text)}`, () => assert.equal(escapeMarkdown(text), escaped));

const spans: [string, string][] = [
  ['a', '`a`'],
  ['a`b', '``a`b``'],
  ['`a', '`` `a ``'],
  ['a|b', '`a\\|b`'],
  ['a\nb', '`a b`'],
  ['', ''],
];
for (const [text, span] of spans)
  test(`span: ${JSON.stringify(text)}`, () => assert.equal(codeSpan(text), span));

test('a block is not closed by what it holds', () => {
  assert.deepEqual(codeBlock(['a', '```', '</details>', '````x']), [
    '`````text',
    'a',
    '```',
    '</details>',
    '````x',
    '`````',
  ]);
});
