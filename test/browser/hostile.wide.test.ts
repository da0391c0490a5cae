/** Hostile accounts in a real browser: nothing in them runs, makes a request, or breaks the page. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import { openBundle } from '../../src/bundle/read/reader.ts';
import type { Account } from '../../src/model/account.ts';
import { escapes, hostileInputs, markup } from '../support/hostile/synth-bundle-hostile.ts';
import { synthAccount } from '../support/synth/synth-account.ts';
import {
  type Browser,
  type BrowserPage,
  launchBrowser,
  makePageFolder,
  type PageFolder,
  whyNoBrowser,
} from '../support/system/browser.ts';

const hostile = join(import.meta.dirname, '..', '..', 'fixtures', 'hostile');

/** Changes every text in a value except the names of fields. */
function withText<T>(value: T, change: (text: string) => string): T {
  return JSON.parse(JSON.stringify(value), (_key, item) => (typeof item === 'string' ? change(item) : item));
}

describe('hostile accounts', { skip: whyNoBrowser() }, () => {
  let browser: Browser;
  let folder: PageFolder;
  let page: BrowserPage;
  const troubles: string[] = [];

  before(async () => {
    [browser, folder] = await Promise.all([launchBrowser(), makePageFolder()]);
    page = await browser.newPage();
    page.on('console', (message: { text(): string }) => troubles.push(message.text()));
    page.on('pageerror', (error: Error) => troubles.push(error.message));
    page.on('dialog', (dialog: { message(): string; dismiss(): void }) => {
      troubles.push(`dialog ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on('request', (request: { url(): string }) => {
      if (!/^(file:|data:,$)/.test(request.url())) troubles.push(`asks for ${request.url()}`);
    });
  });
  after(async () => {
    await browser.close();
    folder.remove();
  });

  /** Returns the visible text; fails if the page does anything that ours never do. */
  async function show(account: Account, name: string): Promise<string> {
    troubles.length = 0;
    await page.goto(folder.write(account));
    await page.waitForSelector('main > section');
    // Unfolds everything.
    await page.evaluate(
      'for (const head of document.querySelectorAll("details > summary, [aria-expanded]")) head.click()',
    );
    const { text, foreign, links } = await page.evaluate<{
      text: string;
      foreign: number;
      links: string[];
    }>(`({
      text: document.body.innerText,
      foreign: document.querySelectorAll('img, iframe, object, embed, base, form, body script ~ :not(script)').length,
      links: [...document.links].map((link) => link.getAttribute('href')).filter((href) => !href.startsWith('#')),
    })`);
    assert.deepEqual({ troubles, foreign, links }, { troubles: [], foreign: 0, links: [] }, name);
    assert.doesNotMatch(text, /cannot be shown/, name);
    return text;
  }

  const texts: Record<string, string> = {
    markup,
    escapes,
    comment: '<!-- <script> ]]> --!>',
    'separators and directions': 'a\u2028b\u2029c\u202ed\u2066e',
    'javascript:': 'javascript:alert(1)',
    prototype: '__proto__',
  };
  for (const [name, text] of Object.entries(texts))
    test(`every text is ${name}`, async () => {
      const isIso = /^\d{4}-\d\d-\d\dT/;
      const account = withText(synthAccount(), (own) => (isIso.test(own) ? own : text));
      const seen = await show(account, name);
      assert.doesNotMatch(seen, /[\u2028\u202e\u2066\u001b]/);
      if (name === 'markup') assert.ok(seen.includes('<img src=x onerror=alert(1)>'));
      if (name === 'separators and directions') assert.ok(seen.includes('a\\u2028b\\u2029c\\u202ed\\u2066e'));
    });

  const formats = new Set([
    'error',
    'agent',
    'environment',
    'locals',
    'process',
    'threads',
    'memory',
    'manifest',
  ]);
  const inputs = hostileInputs().filter(
    ({ path, exit }) => exit === 1 && formats.has(path.split('/')[0] ?? ''),
  );
  for (const { path } of inputs)
    test(path, async () => {
      const bundle = openBundle(join(hostile, path));
      const account = await analyzeBundle(bundle);
      bundle.close();
      await show(account, path);
    });
});
