/**
 * The workbench in a real browser: a folder, a bundle, two side by side; by keyboard, accessibility, with hostile bundles.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { markup } from '../support/hostile/synth-bundle-hostile.ts';
import { commonParts, synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';
import { axeSource, type Browser, launchBrowser, until, whyNoBrowser } from '../support/system/browser.ts';
import {
  openPage,
  openTestWorkbench,
  type TestWorkbench,
  violationsOf,
} from '../support/system/workbench.ts';

const older = '20261120T030405.678Z-agent-uncaught-exception-00112233.agentdump';
const newer = '20261121T030405.678Z-agent-uncaught-exception-44556677.agentdump';
const hostile = '20261122T030405.678Z-hostile-uncaught-exception-8899aabb.agentdump';

const withText = (parts: object): Record<string, unknown> =>
  JSON.parse(JSON.stringify(parts), (key, item) =>
    typeof item === 'string' && !['at', 'kind', 'verdictKind', 'type', 'id'].includes(key) ? markup : item,
  );

describe('the workbench', { skip: whyNoBrowser() }, () => {
  let browser: Browser;
  let workbench: TestWorkbench;

  before(async () => {
    [browser, workbench] = await Promise.all([
      launchBrowser(),
      openTestWorkbench((folder) => {
        writeBundle(join(folder, older), synthParts({}));
        const trigger = { ...(commonParts()['trigger.json'] as object), nodeVersion: 'v24.1.0' };
        writeBundle(join(folder, newer), synthParts({ 'trigger.json': trigger }));
        writeBundle(join(folder, hostile), withText(commonParts()));
        return undefined;
      }),
    ]);
  });
  after(async () => {
    await browser.close();
    await workbench.close();
  });

  const open = (path = '', options: Parameters<Browser['newPage']>[0] = {}) =>
    openPage(browser, workbench.url, path, options);

  test('by keyboard alone: filter, enter a bundle, back, choose two, compare them', async () => {
    const [page, troubles] = await open();
    await until(page, 'document.querySelectorAll("tbody tr").length === 3');
    assert.match(await page.evaluate<string>('document.body.innerText'), /Error: .+\s+uncaught exception/);
    await page.keyboard.press('/');
    await page.keyboard.type('00112233');
    await until(page, 'document.querySelectorAll("tbody tr").length === 1');
    await page.keyboard.press('Tab');
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await until(
      page,
      `location.pathname.endsWith("/items/${older}") && document.querySelector("#verdict h1")`,
    );
    await page.evaluate('history.back()');
    await until(page, 'document.querySelectorAll("tbody tr").length === 3');
    // The first row is the hostile bundle.
    for (const key of ['j', 'j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await until(page, 'document.querySelector("a[data-compare]")');
    await page.keyboard.press('c');
    await until(page, 'document.querySelectorAll(".sides h2").length === 2');
    const text = await page.evaluate<string>('document.body.innerText');
    assert.match(text, /The same death, \d+ differences?/);
    assert.match(text, /What may matter/);
    assert.match(text, /24\.1\.0/);
    await page.click('.bar-links a');
    await until(page, 'document.querySelector("main h1")?.innerText === "Bundles"');
    assert.deepEqual(troubles, []);
    await page.close();
  });

  test('an account has its sections, and the way back to the list', async () => {
    const [page, troubles] = await open(`items/${newer}`);
    await until(page, 'document.querySelector("#stack .frames")');
    await page.click('.bar-links a');
    await until(page, 'document.querySelector("main h1")?.innerText === "Bundles"');
    assert.deepEqual(troubles, []);
    await page.close();
  });

  test('code is scrolled to the position, however long its line', async () => {
    const parts = commonParts();
    const { error } = parts['error.json'] as { error: { stack: string } };
    const padding = '/* a comment */ '.repeat(10);
    const changed = synthParts({
      'error.json': { error: { ...error, stack: error.stack.replace('4:27', `4:${27 + padding.length}`) } },
      'sources/0.js': (parts['sources/0.js'] as string).replace('return', `${padding}return`),
    });
    const alone = await openTestWorkbench((folder) => writeBundle(join(folder, newer), changed));
    const [page] = await openPage(browser, alone.url, '', { viewport: { width: 390, height: 900 } });
    await until(page, 'document.querySelector("mark.position")');
    assert.equal(await page.evaluate('document.querySelector("mark.position").innerText'), 'title');
    assert.ok(
      await page.evaluate(`(() => {
        const [mark, box] = ['mark.position', '.code'].map((name) => document.querySelector(name).getBoundingClientRect());
        return mark.left >= box.left && mark.right <= box.right;
      })()`),
    );
    await page.close();
    await alone.close();
  });

  test('nothing of a hostile bundle runs, alone or beside another', async () => {
    for (const path of [`items/${hostile}`, `diff/${older}/${hostile}`]) {
      const [page, troubles] = await open(path);
      await until(page, 'document.querySelector("main h1") && !document.querySelector("progress")');
      await page.evaluate(
        'for (const head of document.querySelectorAll("details > summary, [aria-expanded]")) head.click()',
      );
      assert.equal(
        await page.evaluate('document.querySelectorAll("img, iframe, object, embed, form").length'),
        0,
      );
      assert.ok((await page.evaluate<string>('document.body.innerText')).includes('<img src=x'));
      assert.deepEqual(troubles, []);
      await page.close();
    }
  });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1200, 390])
      test(`axe finds nothing and nothing is too wide: ${colorScheme}, ${width} pixels`, async () => {
        for (const path of ['', `diff/${older}/${newer}`, `items/${newer}`]) {
          const [page] = await open(path, { colorScheme, bypassCSP: true, viewport: { width, height: 900 } });
          await until(page, 'document.querySelector("main h1") && !document.querySelector("progress")');
          assert.deepEqual(await violationsOf(page, axeSource()), [], path);
          assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, path);
          await page.close();
        }
      });
});
