/**
 * The workbench over a store, in a real browser: from the issues to a bundle and back, two bundles compared, by keyboard,
 * accessibility.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { sendBundle } from '../../src/store/sending/send.ts';
import { writeDeath } from '../store/synth-death.ts';
import { markup } from '../support/hostile/synth-bundle-hostile.ts';
import { axeSource, type Browser, launchBrowser, until, whyNoBrowser } from '../support/system/browser.ts';
import {
  openPage,
  openTestWorkbench,
  type TestWorkbench,
  violationsOf,
} from '../support/system/workbench.ts';

describe('the workbench over a store', { skip: whyNoBrowser() }, () => {
  let browser: Browser;
  let workbench: TestWorkbench;
  let issue = '';

  before(async () => {
    [browser, workbench] = await Promise.all([
      launchBrowser(),
      openTestWorkbench(async (folder) => {
        const place = join(folder, 'store');
        const store = await openStore(place);
        for (const release of ['1.0.0', '1.1.0', '1.1.0']) {
          const sent = await sendBundle(store, writeDeath(folder, { release, host: 'web-1' }));
          issue = sent.issue ?? '';
        }
        await sendBundle(store, writeDeath(folder, { message: markup, host: markup }));
        await store.close();
        return place;
      }),
    ]);
  });
  after(async () => {
    await browser.close();
    await workbench.close();
  });

  const open = (path = '', options: Parameters<Browser['newPage']>[0] = {}) =>
    openPage(browser, workbench.url, path, options);

  test('by keyboard alone: find an issue, read its story, compare two of its bundles, enter one', async () => {
    const [page, troubles] = await open();
    await until(page, 'document.querySelectorAll("tbody tr").length === 2');
    await page.keyboard.press('/');
    await page.keyboard.type('TypeError: Cannot read');
    await until(page, 'document.querySelectorAll("tbody tr").length === 1');
    await page.keyboard.press('Tab');
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await until(page, `location.pathname.endsWith("/issues/${issue}") && document.querySelector("main h1")`);
    const story = await page.evaluate<string>('document.querySelector("main").innerText');
    for (const fact of [/3 deaths/, /Grouped because/, /web-1 \(3\)/, /1\.0\.0/, /By release/, /By hour/])
      assert.match(story, fact);
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await until(page, 'document.querySelector("a[data-compare]")');
    await page.keyboard.press('c');
    await until(page, 'document.querySelectorAll(".sides h2").length === 2');
    await page.evaluate('history.back()');
    await until(page, 'document.querySelectorAll(".bundles tbody tr").length === 3');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await until(page, 'document.querySelector("#verdict h1")');
    await page.evaluate(
      '[...document.querySelectorAll(".bar-links a")].find((a) => a.innerText === "Issue").click()',
    );
    await until(page, `location.pathname.endsWith("/issues/${issue}") && document.querySelector("main h1")`);
    assert.deepEqual(troubles, []);
    await page.close();
  });

  test('axe finds nothing, nothing is too wide and nothing hostile runs', async () => {
    for (const [width, colorScheme] of [
      [1200, 'light'],
      [390, 'dark'],
    ] as const)
      for (const path of ['', `issues/${issue}`]) {
        const [page] = await open(path, { colorScheme, bypassCSP: true, viewport: { width, height: 900 } });
        await until(page, 'document.querySelector("main h1") && !document.querySelector("progress")');
        assert.equal(await page.evaluate('document.querySelectorAll("main img, iframe").length'), 0);
        assert.deepEqual(await violationsOf(page, axeSource()), [], path);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, path);
        await page.close();
      }
  });
});
