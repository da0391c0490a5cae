/** Accessibility: axe finds nothing, in light and dark, wide and narrow, with everything unfolded. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { synthAccount } from '../support/synth/synth-account.ts';
import {
  axeSource,
  type Browser,
  type BrowserPage,
  launchBrowser,
  makePageFolder,
  type PageFolder,
  whyNoBrowser,
} from '../support/system/browser.ts';

describe('axe finds nothing', { skip: whyNoBrowser() }, () => {
  let browser: Browser;
  let folder: PageFolder;
  let address: string;

  before(async () => {
    [browser, folder] = await Promise.all([launchBrowser(), makePageFolder()]);
    address = folder.write(synthAccount({ turns: 40 }));
  });
  after(async () => {
    await browser.close();
    folder.remove();
  });

  async function violations(page: BrowserPage): Promise<[id: string, nodes: string[]][]> {
    const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
      'axe.run(document, { resultTypes: ["violations"] })',
    );
    return found.violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]);
  }

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1200, 390])
      test(`${colorScheme}, ${width} pixels wide`, async () => {
        // axe is not part of the page, so the page's policy is bypassed for it.
        const page = await browser.newPage({
          colorScheme,
          bypassCSP: true,
          viewport: { width, height: 900 },
        });
        await page.goto(`${address}#call-c30`);
        await page.waitForSelector('#call-c30 .detail');
        await page.evaluate(
          'for (const head of document.querySelectorAll("details:not([open]) > summary")) head.click()',
        );
        await page.evaluate(axeSource());
        assert.deepEqual(await violations(page), []);
        await page.keyboard.press('/');
        await page.keyboard.type('lisbon');
        await page.waitForSelector('#found-0 mark');
        assert.deepEqual(await violations(page), [], 'with the search open');
        await page.keyboard.press('Escape');
        await page.keyboard.press('?');
        await page.waitForSelector('dialog[open]');
        assert.deepEqual(await violations(page), [], 'with the help open');
        await page.close();
      });
});
