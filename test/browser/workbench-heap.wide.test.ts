/** The workbench's heap in a real browser: every view by keyboard, addresses, a query, hostile names, accessibility. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { writeGrowingHeaps } from '../support/heaps/growing-heaps.ts';
import {
  axeSource,
  type Browser,
  type BrowserPage,
  launchBrowser,
  until,
  whyNoBrowser,
} from '../support/system/browser.ts';
import {
  openPage,
  openTestWorkbench,
  type TestWorkbench,
  violationsOf,
  watchTroubles,
} from '../support/system/workbench.ts';

/** 2,000 sessions in a Map, with hostile names and texts. */
const program = `
  class Session { constructor(n) { this.id = 'session-' + n; this.note = '<img src=x onerror=alert(1)>' + n; } }
  globalThis.sessions = new Map(Array.from({ length: 2000 }, (_, n) => [n + '\\u202e\\u2028', new Session(n)]));
  globalThis.odd = Array.from({ length: 9 }, () => ({ '<script>alert(1)</script>': {}, other: [] }));
  globalThis.copies = Array.from({ length: 300 }, (_, n) => ('copy of <b>markup</b> ' + (n > -1)).repeat(3));
  require('v8').writeHeapSnapshot(process.argv[1]);
`;

describe('the heap in the workbench', { skip: whyNoBrowser() }, () => {
  let browser: Browser;
  let workbench: TestWorkbench;

  before(async () => {
    [browser, workbench] = await Promise.all([
      launchBrowser(),
      openTestWorkbench((folder) => {
        const path = join(folder, 'sessions.heapsnapshot');
        execFileSync(process.execPath, ['-e', program, path]);
        return path;
      }),
    ]);
  });
  after(async () => {
    await browser.close();
    await workbench.close();
  });

  async function open(
    words = '',
    options: Parameters<Browser['newPage']>[0] = {},
  ): Promise<[BrowserPage, string[]]> {
    const [page, troubles] = await openPage(browser, workbench.url, `heap/heap${words}`, options);
    await until(page, 'document.querySelector(".tabs")');
    return [page, troubles];
  }
  const title = (page: BrowserPage, text: string): Promise<void> =>
    until(page, `document.querySelector('main h1')?.innerText.startsWith(${JSON.stringify(text)})`);
  const rowsThere =
    '!document.querySelector("[aria-busy=true]") && document.querySelector(".long-table a[data-item]")';
  const press = async (page: BrowserPage, ...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };

  test('by keyboard alone: from the classes to the last of 2,000 objects, to its map, and back', async () => {
    const [page, troubles] = await open();
    await title(page, 'Heap of sessions.heapsnapshot');
    await until(page, 'history.scrollRestoration === "auto"');
    assert.equal(await page.evaluate('scrollY'), 0);
    await press(page, '2');
    await title(page, 'Classes');
    await press(page, '/');
    await page.keyboard.type('session');
    await until(
      page,
      `${rowsThere} && document.querySelector('.long-table tbody tr').innerText.startsWith('Session')`,
    );
    await until(page, 'location.search.includes("filter=session")');
    await page.evaluate('document.activeElement.blur()');
    await press(page, 'j', 'Enter');
    await until(page, 'document.querySelector("main h1")?.innerText === "Session"');
    await until(page, 'document.querySelector(".tools")?.innerText.includes("2,000 objects")');
    await until(page, rowsThere);
    await press(page, 'j', 'End');
    await until(page, 'document.activeElement.closest("tr")?.dataset.row === "1999"');
    await press(page, 'k');
    await until(page, 'document.activeElement.closest("tr")?.dataset.row === "1998"');
    await press(page, 'Enter');
    await title(page, 'Session @');
    await until(page, 'document.querySelector(".path-text")?.innerText.includes("sessions")');
    await until(
      page,
      '[...document.querySelectorAll(".field-name")].some(({ innerText }) => innerText === "note")',
    );
    const address = await page.evaluate<string>('location.search');
    await press(page, '5');
    await title(page, 'What keeps what');
    await until(page, 'document.querySelector("a.tile")');
    await page.evaluate('history.back()');
    await until(
      page,
      `location.search === ${JSON.stringify(address)} && document.querySelector(".path-text")`,
    );
    await page.evaluate('history.back()');
    await until(page, 'document.querySelector("main h1")?.innerText === "Session"');
    // The list is at the position at which it was left.
    await until(page, 'document.querySelector("tr[data-row=\\"1999\\"]")');
    await page.evaluate('history.forward()');
    await title(page, 'Session @');
    assert.deepEqual(troubles, []);
    await page.close();
  });

  test('by keyboard alone: past the closed path of an object to its fields and retainers', async () => {
    const [page] = await open('?view=query&q=class+%3D+Map+and+retained+%3E+20kb');
    await until(page, rowsThere);
    await page.click('.long-table a[data-item]');
    await until(page, `document.querySelector('main details a[data-item]') && ${rowsThere}`);
    for (let pressed = 0; pressed < 3; pressed++) await press(page, 'j');
    assert.ok(await page.evaluate('document.activeElement.closest("tr")'));
    await page.close();
  });

  test('retainers as a tree, opened in place by the keyboard, also after a reload', async () => {
    const [page, troubles] = await open('?view=query&q=from+Session', { bypassCSP: true });
    await until(page, rowsThere);
    await page.click('.long-table a[data-item]');
    await until(page, `document.querySelector('#retainers') && ${rowsThere}`);
    await page.click('input[aria-label="retainers as a tree"]');
    await until(page, 'document.querySelector(".link-tree a[data-item]")');
    await page.evaluate('document.querySelector(".link-tree a[data-item]").focus()');
    await press(page, 'ArrowRight');
    const below = '.link-tree li li a[data-item]';
    await until(page, `document.querySelector('${below}')`);
    await press(page, 'j', 'ArrowRight');
    await until(page, `document.querySelector('.link-tree li ${below.slice(11)}')`);
    assert.deepEqual(await violationsOf(page, axeSource()), []);
    await press(page, 'ArrowLeft', 'k', 'ArrowLeft');
    await until(page, `!document.querySelector('${below}')`);
    await page.evaluate('location.reload()');
    await until(page, 'document.querySelector(".link-tree a[data-item]")');
    assert.deepEqual(troubles, []);
    await page.close();
  });

  test('a map can be entered, and left upwards', async () => {
    const [page] = await open('?view=treemap');
    await until(page, 'document.querySelector("a.tile")');
    // The middle of a tile is covered by other tiles.
    await page.evaluate('document.querySelector("a.tile").click()');
    await until(page, 'document.querySelectorAll(".map-way li").length === 2');
    await until(page, 'document.querySelector(".tile")');
    await page.click('.map-way li:first-child a');
    await until(page, 'document.querySelectorAll(".map-way li").length === 1');
    await until(page, 'document.querySelector("a.inner[href*=treemap]")');
    await page.evaluate('document.querySelector("a.inner[href*=treemap]").click()');
    await until(page, 'document.querySelectorAll(".map-way li").length > 2');
    await page.close();
  });

  test('a query: its answer, what is wrong with one, and what was asked before', async () => {
    const [page] = await open('?view=query');
    await press(page, '/');
    await page.keyboard.type('class = Session and .id = "session-7"');
    await press(page, 'Enter');
    await until(page, 'document.querySelector("main").innerText.includes("1 object matches")');
    await until(page, rowsThere);
    await press(page, '/');
    for (let n = 0; n < 40; n++) await page.keyboard.press('Backspace');
    await page.keyboard.type('class = ');
    await press(page, 'Enter');
    await until(page, 'document.querySelector("[role=alert]")');
    await press(page, 'ArrowUp', 'ArrowUp', 'Enter');
    await until(page, 'document.querySelector("main").innerText.includes("1 object matches")');
    await page.close();
  });

  test('the rows of an answer are copied as text, of which none is a formula, and as JSON', async () => {
    const query = 'from Session order by .id limit 2 select .id, lower("=1+1"), self';
    const [page] = await open(`?view=query&q=${encodeURIComponent(query)}`);
    await page.evaluate('navigator.clipboard.writeText = async (text) => { window.copied = text; }');
    await until(page, 'document.querySelector(".copy button")');
    const copied = async (button: string): Promise<string> => {
      await page.evaluate(
        `[...document.querySelectorAll('.copy button')].find((one) => one.innerText.endsWith('${button}')).click()`,
      );
      await until(page, `document.querySelector('.copy').innerText.includes('2 rows copied as ${button}')`);
      return (await page.evaluate('window.copied')) as string;
    };
    assert.match(await copied('text'), /^\.id\t.*\tself\nsession-0\t'=1\+1\t\d+\nsession-1\t'=1\+1\t\d+$/);
    const rows = JSON.parse(await copied('JSON'));
    assert.deepEqual([rows.length, rows[1]['.id']], [2, 'session-1']);
    await page.close();
  });

  test('the columns of an answer share the width by what is in them', async () => {
    const query = 'from Session limit 5 select class, id, path, retained';
    const [page] = await open(`?view=query&q=${encodeURIComponent(query)}`);
    await until(page, rowsThere);
    const [short, long] = await page.evaluate<[number, number]>(
      `[0, 2].map((n) => document.querySelectorAll('.long-table th')[n].clientWidth)`,
    );
    assert.ok(long > 2 * short, `${short} and ${long} pixels`);
    await page.close();
  });

  test('a query is completed by keyboard: a class, a property, a function', async () => {
    const [page, troubles] = await open('?view=query');
    const offered = async (text: string): Promise<void> =>
      until(
        page,
        `[...document.querySelectorAll('[role=option] code')].some((one) => one.innerText === ${JSON.stringify(text)})`,
      );
    const typed = (text: string): Promise<void> =>
      until(page, `document.querySelector('#search').value === ${JSON.stringify(text)}`);
    await press(page, '/');
    await page.keyboard.type('from sess');
    await offered('Session');
    await press(page, 'ArrowDown');
    await until(page, 'document.querySelector("#search").getAttribute("aria-activedescendant")');
    await until(page, 'document.querySelector("[aria-selected=true]")?.innerText.startsWith("Session")');
    await press(page, 'Enter');
    await typed('from Session');
    await until(page, 'document.querySelectorAll("[role=option]").length === 0');
    await page.keyboard.type(' select .no');
    await offered('note');
    await press(page, 'Tab');
    await typed('from Session select .note');
    await page.keyboard.type(', leng');
    await offered('length()');
    await press(page, 'Tab');
    await page.keyboard.type('.id');
    await typed('from Session select .note, length(.id)');
    await press(page, 'Enter');
    await until(page, 'document.querySelector("main").innerText.includes("2,000 objects match")');
    // Nothing is offered, so the key leaves the field.
    await press(page, 'Tab');
    await until(page, 'document.activeElement.id !== "search"');
    assert.deepEqual(troubles, []);
    await page.close();
  });

  test('an object is pinned by its key, in sight from every view, and after a reload', async () => {
    const [page] = await open('?view=query&q=class+%3D+Session+limit+1');
    await until(page, rowsThere);
    await press(page, 'j', 'Enter');
    await title(page, 'Session @');
    await press(page, 'p');
    await until(
      page,
      'document.querySelector(".pins a[aria-current=page]")?.innerText.startsWith("Session")',
    );
    await press(page, '2');
    await title(page, 'Classes');
    await page.evaluate('location.reload()');
    await until(page, 'document.querySelector("main h1")?.innerText === "Classes"');
    await until(page, 'document.querySelector(".pins a")');
    await page.click('.pins a');
    await title(page, 'Session @');
    await press(page, 'p');
    await until(page, '!document.querySelector(".pins")');
    await page.close();
  });

  test('an object that is not there is said', async () => {
    const [page] = await open('?view=object&id=4000000000');
    await until(page, 'document.querySelector("[role=alert]")?.innerText.includes("4000000000")');
    await page.close();
  });

  test('names and texts of a stranger are texts', async () => {
    const [page, troubles] = await open('?view=classes&filter=%3Cscript');
    await until(
      page,
      'document.querySelector(".object-class")?.innerText.includes("<script>alert(1)</script>")',
    );
    for (const view of ['strings', 'query&q=class+%3D+Session', 'objects', 'treemap']) {
      await page.goto(`${workbench.url}heap/heap?view=${view}`);
      await until(page, `${rowsThere} || document.querySelector('a.tile')`);
      assert.equal(
        await page.evaluate('document.querySelectorAll("main img, main script, main b").length'),
        0,
      );
    }
    await page.goto(`${workbench.url}heap/heap?view=query&q=class+%3D+Map+and+retained+%3E+20kb`);
    await until(page, rowsThere);
    await page.click('.long-table a[data-item]');
    await until(page, 'document.querySelector(".path-text")');
    assert.doesNotMatch(await page.evaluate<string>('document.body.innerText'), /[\u2028\u202e]/);
    assert.deepEqual(troubles, []);
    await page.close();
  });

  for (const [colorScheme, width] of [
    ['light', 1200],
    ['dark', 390],
  ] as const)
    test(`axe finds nothing and nothing is too wide: ${colorScheme}, ${width} pixels`, async () => {
      const [page] = await open('', { colorScheme, bypassCSP: true, viewport: { width, height: 900 } });
      const views = [
        'summary',
        'classes',
        'objects',
        'object&id=1',
        'treemap',
        'strings',
        'fill',
        'query&q=class+%3D+Session',
      ];
      for (const view of views) {
        await page.goto(`${workbench.url}heap/heap?view=${view}`);
        await until(
          page,
          `${rowsThere} || document.querySelector('a.tile, .suspect-list, .tabs + h1 ~ section p, .tabs + h1 ~ .block')`,
        );
        assert.deepEqual(await violationsOf(page, axeSource()), [], view);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, view);
        const seen = `(() => {
          const current = document.querySelector('.tabs [aria-current]')?.getBoundingClientRect();
          return !current || (current.left >= 0 && current.right <= innerWidth);
        })()`;
        assert.ok(await page.evaluate(seen), `the tab of ${view} is in sight`);
      }
      await press(page, '/');
      await page.keyboard.type(' s');
      await until(page, 'document.querySelector("[role=option]")');
      await press(page, 'ArrowDown');
      assert.deepEqual(await violationsOf(page, axeSource()), [], 'completions');
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, 'completions');
      await page.close();
    });
});

describe('two heaps in the workbench', { skip: whyNoBrowser() }, () => {
  let browser: Browser;
  let workbench: TestWorkbench;

  before(async () => {
    [browser, workbench] = await Promise.all([
      launchBrowser(),
      openTestWorkbench((folder) => {
        writeGrowingHeaps(join(folder, 'a.heapsnapshot'), join(folder, 'b.heapsnapshot'));
        utimesSync(join(folder, 'a.heapsnapshot'), 1_000_000_000, 1_000_000_000);
        return undefined;
      }),
    ]);
  });
  after(async () => {
    await browser.close();
    await workbench.close();
  });

  test('chosen by keyboard, compared, and from what grew to its object', async () => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    const troubles = watchTroubles(page, workbench.url);
    await page.goto(workbench.url);
    await until(page, 'document.querySelectorAll("tbody tr").length === 2');
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await until(page, 'document.querySelector("a[data-compare]")');
    await page.keyboard.press('c');
    await until(page, 'document.querySelector("main h1")?.innerText.endsWith("between two heaps")');
    const text = await page.evaluate<string>('document.body.innerText');
    assert.match(text, /^\+/m);
    assert.match(text, /registry\.sessions/);
    assert.equal(await page.evaluate('document.querySelectorAll("main img, main b").length'), 0);
    await page.click('main a.object');
    await until(page, 'document.querySelector(".path-text")?.innerText.includes("sessions")');
    assert.deepEqual(troubles, []);
    await page.close();
  });

  for (const [colorScheme, width] of [
    ['light', 390],
    ['dark', 1200],
  ] as const)
    test(`axe finds nothing and nothing is too wide: ${colorScheme}, ${width} pixels`, async () => {
      const page = await browser.newPage({ colorScheme, bypassCSP: true, viewport: { width, height: 900 } });
      await page.goto(`${workbench.url}growth/a.heapsnapshot/b.heapsnapshot`);
      await until(page, 'document.querySelector("main h1")?.innerText.endsWith("between two heaps")');
      assert.deepEqual(await violationsOf(page, axeSource()), []);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      await page.close();
    });
});
