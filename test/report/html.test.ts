/** The document around the page: its policy allows exactly what it contains, and no text escapes from the data element. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import '../support/run/fuzz-runs.ts';
import type { Account } from '../../src/model/account.ts';
import { renderHtml } from '../../src/report/html.ts';
import { synthAccount } from '../support/synth/synth-account.ts';

const assets = { script: 'console.log("<page>")', style: 'p { color: red }' };
const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** What an HTML parser takes as the data: everything up to the first end tag. */
function dataIn(html: string): string {
  const start = html.indexOf('id="account">') + 'id="account">'.length;
  return html.slice(start, html.indexOf('</script', start));
}

const withTitle = (title: string): Account => {
  const account = synthAccount();
  return { ...account, verdict: { ...account.verdict!, title } };
};

test('the policy allows the two texts of the page and nothing else', () => {
  const html = renderHtml(synthAccount(), assets);
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
  const rules = new Map(
    policy.split('; ').map((rule) => [rule.split(' ')[0], rule.slice(rule.indexOf(' ') + 1)]),
  );
  assert.deepEqual(Object.fromEntries(rules), {
    'default-src': "'none'",
    'script-src': hash(assets.script),
    'style-src': hash(assets.style),
    'img-src': 'data:',
    'base-uri': "'none'",
    'form-action': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
  });
  assert.ok(html.indexOf('Content-Security-Policy') < html.indexOf('<style>'));
});

test('the data is the account, and nothing in it ends or hides the end of its element', () => {
  for (const text of ['</script><script>x</script>', '<!--<script>', '</SCRIPT >', ']]>', '##[command]x']) {
    const html = renderHtml(withTitle(text), assets);
    const data = dataIn(html);
    assert.doesNotMatch(data, /<|##\[/);
    assert.equal((JSON.parse(data) as Account).verdict?.title, text);
    assert.equal(html.match(/<script/g)?.length, 2);
  }
});

test('separators and what steers or hides text are written out', () => {
  const data = dataIn(renderHtml(withTitle('a\u2028b\u202ec\u0000d'), assets));
  assert.equal((JSON.parse(data) as Account).verdict?.title, 'a\\u2028b\\u202ec\\x00d');
});

test('a key __proto__ stays a key', () => {
  const state = JSON.parse('{"__proto__":{"polluted":1}}');
  const data = dataIn(renderHtml({ ...synthAccount(), agent: { runs: [], state } }, assets));
  const read = JSON.parse(data) as Account;
  assert.deepEqual(Object.keys(read.agent?.state ?? {}), ['__proto__']);
});

test('without scripts the title and the summary are there, as text', () => {
  const html = renderHtml(withTitle('<b>&"\''), assets);
  assert.match(html, /<title>&lt;b&gt;&amp;&quot;&#39;<\/title>/);
  assert.match(html, /<noscript><main><h1>&lt;b&gt;/);
});

test('any title comes through as it was, or written out', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (title) => {
      const html = renderHtml(withTitle(title), assets);
      assert.equal(html.match(/<\/?script/g)?.length, 4);
      assert.equal(typeof JSON.parse(dataIn(html)).verdict.title, 'string');
    }),
  );
});
