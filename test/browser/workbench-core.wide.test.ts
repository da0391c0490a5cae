/** A core in the workbench in a real browser: by keyboard from its threads to memory, to an object of the heap, and back. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Death, makeCore, noCores, nodes, victims } from '../support/cores/core-victims.ts';
import { axeSource, type Browser, launchBrowser, until, whyNoBrowser } from '../support/system/browser.ts';
import {
  openPage,
  openTestWorkbench,
  type TestWorkbench,
  violationsOf,
} from '../support/system/workbench.ts';

const patience = 120;

describe('a core in the workbench', { skip: noCores || whyNoBrowser() }, () => {
  let death: Death;
  let browser: Browser;
  let workbench: TestWorkbench;

  before(async () => {
    death = makeCore(nodes.at(-1)!.path, [join(victims, 'dead-heap.cjs')]);
    [browser, workbench] = await Promise.all([launchBrowser(), openTestWorkbench(() => death.core)]);
  });
  after(async () => {
    await browser.close();
    await workbench.close();
    death.remove();
  });

  const open = (path = '', options: Parameters<Browser['newPage']>[0] = {}) =>
    openPage(browser, workbench.url, path, options);

  test('by keyboard alone: from the account to the stack, to an object, and to its memory', async () => {
    const [page, troubles] = await open();
    await until(page, 'document.querySelector("#verdict h1")', patience);
    await page.click('.bar-links a:last-child');
    await until(page, 'document.querySelector(".registers")', patience);
    const pointer = await page.evaluate<string>(
      `[...document.querySelectorAll('.registers div')].find((one) => one.innerText.startsWith('rsp')).querySelector('a').innerText`,
    );
    await page.keyboard.press('/');
    await page.keyboard.type(`${pointer}\n`);
    await until(page, `document.querySelector('main h1')?.innerText === '${pointer}'`);
    await until(page, 'document.querySelectorAll(".memory-table tbody tr").length === 64');
    await page.evaluate('document.activeElement.blur()');
    await until(page, 'document.activeElement === document.body');
    await page.keyboard.press(']');
    await until(page, `location.search === '?at=0x${(Number(pointer) + 512).toString(16)}'`);
    await page.keyboard.press('[');
    await until(page, `location.search === '?at=${pointer}'`);
    await until(page, 'document.querySelector(".memory-table a[href*=heap]")');
    await page.evaluate('document.querySelector(".memory-table a[href*=heap]").focus()');
    await page.keyboard.press('Enter');
    await until(page, 'document.querySelector("#fields")', patience);
    const address = await page.evaluate<string>(
      `[...document.querySelectorAll('.facts a')].find(({ innerText }) => innerText.startsWith('0x')).innerText`,
    );
    await page.click('.facts a[href*=memory]');
    await until(page, `document.querySelector('main h1')?.innerText === '${address}'`, patience);
    assert.deepEqual(troubles, []);
    await page.close();
  });

  test('accessible, dark too, and no wider than a phone', async () => {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const path of ['memory/core', 'memory/core?at=0x400000']) {
        const [page] = await open(path, {
          viewport: { width: 390, height: 800 },
          colorScheme,
          bypassCSP: true,
        });
        await until(page, 'document.querySelector(".memory-table tbody tr")', patience);
        assert.deepEqual(await violationsOf(page, axeSource()), [], path);
        assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 390, path);
        await page.close();
      }
  });
});
