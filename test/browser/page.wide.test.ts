/** The page in a real browser: it shows what the account contains, by mouse, keyboard, address and in print. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { synthAccount } from '../support/synth/synth-account.ts';
import {
  type Browser,
  type BrowserPage,
  launchBrowser,
  makePageFolder,
  type PageFolder,
  until,
  whyNoBrowser,
} from '../support/system/browser.ts';

describe('the page', { skip: whyNoBrowser() }, () => {
  let browser: Browser;
  let folder: PageFolder;
  let address: string;
  const troubles: string[] = [];

  before(async () => {
    [browser, folder] = await Promise.all([launchBrowser(), makePageFolder()]);
    address = folder.write(synthAccount());
  });
  after(async () => {
    await browser.close();
    folder.remove();
  });

  async function open(hash = '', options: Parameters<Browser['newPage']>[0] = {}): Promise<BrowserPage> {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
    page.on('console', (message: { type(): string; text(): string }) => {
      troubles.push(`${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error: Error) => troubles.push(error.message));
    page.on('request', (request: { url(): string }) => {
      if (!/^(file:|data:)/.test(request.url())) troubles.push(`asks for ${request.url()}`);
    });
    await page.goto(`${address}${hash}`);
    await page.waitForSelector('main');
    return page;
  }

  test('says the verdict and has every section, without an error or a request', async () => {
    const page = await open();
    const text = await page.evaluate<string>('document.body.innerText');
    for (const said of [
      "Cannot read properties of undefined (reading 'total')",
      '91 % of the heap limit',
      'left-pad',
    ])
      assert.ok(text.includes(said), said);
    const sections = await page.evaluate<string[]>(
      '[...document.querySelectorAll("main > section")].map(s => s.id)',
    );
    assert.deepEqual(sections, [
      ...['verdict', 'stack', 'evidence', 'unusual', 'threads', 'agent', 'conversation'],
      ...['memory', 'environment', 'modules', 'gaps', 'bundle'],
    ]);
    assert.deepEqual(troubles, []);
    await page.close();
  });

  test('lists the requests in flight, and marks the one whose work died', async () => {
    const requests = [
      { id: 'r2', method: 'GET', path: '/orders/17', ageMs: 1200, culprit: true as const },
      { id: 'r1', method: 'POST', path: '/plan', ageMs: 40 },
    ];
    const page = await browser.newPage();
    await page.goto(folder.write({ ...synthAccount(), requests }, 'requests'));
    await page.waitForSelector('#requests li');
    const rows = await page.evaluate<string[]>(
      '[...document.querySelectorAll("#requests li")].map(li => li.innerText)',
    );
    assert.deepEqual(rows, ['died GET /orders/17, for 1.2 s', 'POST /plan, for 40 ms']);
    await page.close();
  });

  test('shows the code that hangs before the evidence, where nothing was thrown', async () => {
    const { error: _, signal: __, ...rest } = synthAccount();
    const file = '/srv/app/spin.js';
    const source = [{ line: 7, text: 'while (!done) check();' }];
    const frame = {
      function: 'spin',
      file,
      line: 7,
      column: 15,
      inApp: true,
      trust: 'stack-text' as const,
      source,
    };
    const account = {
      ...rest,
      threads: [{ id: 0, kind: 'main' as const, crashed: false, frames: [frame] }],
      ...(rest.verdict && { verdict: { ...rest.verdict, place: { file, line: 7, column: 15 } } }),
    };
    const page = await browser.newPage();
    await page.goto(folder.write(account, 'hang'));
    await page.waitForSelector('#stack .code');
    const text = await page.evaluate<string>('document.querySelector("#stack").innerText');
    assert.match(text, /while \(!done\) check\(\);/);
    await page.close();
  });

  test('its policy holds: no script, markup or style that was not there can be added', async () => {
    const page = await browser.newPage();
    await page.goto(address);
    const ran = await page.evaluate<{ script: boolean; markup: string; evaluated: string }>(`(() => {
      const outcome = (act) => { try { act(); return 'done'; } catch (error) { return error.name; } };
      const script = document.createElement('script');
      script.append('window.ran = true');
      outcome(() => document.body.append(script));
      return {
        script: Boolean(window.ran),
        markup: outcome(() => { document.createElement('div').innerHTML = '<b>x</b>'; }),
        evaluated: outcome(() => setTimeout('window.ran = true')),
      };
    })()`);
    assert.deepEqual(ran, { script: false, markup: 'TypeError', evaluated: 'TypeError' });
    await page.close();
  });

  test('nothing is wider than a telephone', async () => {
    const page = await open('', { viewport: { width: 390, height: 844 } });
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.equal(wide, 390);
    await page.close();
  });

  test('an address leads to its frame, step, call and message, unfolded and in sight', async () => {
    // Targets that are hidden at first: a frame folded among those of a package, a closed row, a conversation, a thread of
    // Node's own.
    const idleFrame = 'thread-31-frame-1';
    for (const id of ['frame-6', 'step-s2', 'tool-t2', 'message-2-1', 'environment-variables', idleFrame]) {
      const page = await open(`#${id}`);
      await until(
        page,
        `(() => {
        const box = document.getElementById('${id}')?.getBoundingClientRect();
        return box && box.top >= 0 && box.bottom > 0 && box.top < innerHeight;
      })()`,
      );
      await page.close();
    }
    const page = await open('#tool-t2');
    await until(page, 'document.querySelector("#tool-t2 .detail")?.innerText.includes("Lisbon")');
    await page.close();
  });

  test('j and k go from item to item, Enter opens one, digits lead to sections', async () => {
    const page = await open();
    const focused = (): Promise<string> => page.evaluate('document.activeElement.closest("[id]").id');
    await page.keyboard.press('2');
    await until(page, 'location.hash === "#stack"');
    await until(page, 'document.querySelector("#stack").getBoundingClientRect().top < 120');
    await page.keyboard.press('j');
    assert.equal(await focused(), 'frame-1');
    await page.keyboard.press('j');
    assert.equal(await focused(), 'frame-2');
    assert.equal(await page.evaluate('document.querySelector("#frame-2").open'), false);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#frame-2[open] .code');
    await page.keyboard.press('k');
    assert.equal(await focused(), 'frame-1');
    await page.close();
  });

  test('a search finds, marks, and leads there', async () => {
    const page = await open();
    await page.keyboard.press('/');
    await page.keyboard.type('LISBON');
    await page.waitForSelector('#found-0 mark');
    assert.equal(await page.evaluate('document.querySelector("#found-0 mark").innerText'), 'Lisbon');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await until(page, 'location.hash.startsWith("#tool-")');
    await page.keyboard.press('Escape');
    await page.close();
  });

  test('help opens and closes; the theme can be chosen', async () => {
    const page = await open();
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await until(page, '!document.querySelector("dialog[open]")');
    const ground = (): Promise<string> =>
      page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const light = await ground();
    await page.keyboard.press('t');
    await until(page, 'document.documentElement.dataset.theme === "dark"');
    assert.notEqual(await ground(), light);
    await page.close();
  });

  test('on paper the program’s own frames are unfolded, light, and without what only a screen can use', async () => {
    const page = await open('', { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    await until(page, 'document.querySelectorAll("details.frame-row.in-app:not([open])").length === 0');
    const foreign = await page.evaluate<string[]>(
      '[...document.querySelectorAll("details.frame-row[open]:not(.in-app)")].map(({ id }) => id)',
    );
    assert.deepEqual(foreign, [], 'a line is enough for those of Node and of packages');
    const seen = await page.evaluate<{ nav: string; ground: string }>(`({
      nav: getComputedStyle(document.querySelector('.nav')).display,
      ground: getComputedStyle(document.documentElement).backgroundColor,
    })`);
    assert.deepEqual(seen, { nav: 'none', ground: 'rgb(255, 255, 255)' });
    assert.equal((await page.pdf()).subarray(0, 5).toString(), '%PDF-');
    await page.close();
  });

  test('on paper a long timeline has a line for what went well, and says what it leaves out', async () => {
    const printed = async (turns: number): Promise<BrowserPage> => {
      address = folder.write(synthAccount({ turns }), `printed-${turns}`);
      const page = await open();
      await page.emulateMedia({ media: 'print' });
      await until(page, 'document.querySelector(".rows.window") === null');
      return page;
    };
    const few = await printed(14);
    assert.equal(await few.evaluate('document.querySelectorAll("[aria-expanded=true] .is-done").length'), 0);
    assert.doesNotMatch(await few.evaluate<string>('document.body.innerText'), /left out on paper/);
    await few.close();
    const many = await printed(400);
    assert.match(await many.evaluate<string>('document.body.innerText'), /\d earlier rows left out on paper/);
    await many.close();
  });

  test('the right edge of a picture over time is what it was: death, hang or snapshot', async () => {
    const { verdict, process: _, ...account } = synthAccount({ turns: 4 });
    assert.ok(verdict);
    const edges = async (kind: typeof verdict.kind): Promise<string[]> => {
      address = folder.write({ ...account, verdict: { ...verdict, kind } }, `edge-${kind}`);
      const page = await open();
      const texts = await page.evaluate<string[]>(
        '[...document.querySelectorAll(".tick.now, .grid text:last-of-type")].map((tick) => tick.textContent)',
      );
      await page.close();
      return texts.filter((text) => /[a-z]{2}/.test(text) && !/[0-9]/.test(text));
    };
    assert.deepEqual([...new Set(await edges('uncaught-exception'))], ['† death']);
    assert.deepEqual([...new Set(await edges('event-loop-hang'))], ['the hang']);
    assert.deepEqual([...new Set(await edges('snapshot'))], ['snapshot']);
  });

  test('of a hang the frame of the program that ran is open; the signature takes a few lines', async () => {
    const account = synthAccount();
    const frames = account.error?.frames ?? [];
    const [own, library] = [frames.find(({ inApp }) => inApp), frames.find(({ inApp }) => !inApp)];
    assert.ok(own && library && account.signature);
    const { error: _, ...hang } = account;
    const places = Array.from({ length: 5 }, (_, n) => `inst._zod.parse${n} src/v4/core/schemas.ts`);
    address = folder.write(
      {
        ...hang,
        threads: [
          { id: 0, kind: 'main', crashed: false, state: 'running', frames: [library, own, own] },
          { id: 3, kind: 'worker', crashed: false, frames: [own] },
        ],
        signature: { ...account.signature, parts: ['event-loop-hang', ...places] },
      },
      'hang',
    );
    const page = await open();
    const opened = await page.evaluate<string[]>(
      '[...document.querySelectorAll(".frames details[open]")].map(d => d.id)',
    );
    assert.deepEqual(opened, ['thread-0-frame-2']);
    const code = await page.evaluate<number>(
      'document.querySelectorAll("#thread-0-frame-2 .frame-body *").length',
    );
    assert.ok(code > 0, 'its code is there');
    const lines = await page.evaluate<number>(`(() => {
      const fact = [...document.querySelectorAll('.facts dt')].find((dt) => dt.textContent === 'Signature of');
      const { height } = fact.nextElementSibling.getBoundingClientRect();
      return Math.round(height / parseFloat(getComputedStyle(fact.nextElementSibling).lineHeight));
    })()`);
    assert.ok(lines >= 1 && lines <= 3, `${lines} lines`);
    assert.deepEqual(troubles, []);
    await page.close();
  });

  test('of thousands of calls those in sight are drawn; an address finds one among them', async () => {
    address = folder.write(synthAccount({ turns: 3000 }), 'long');
    const page = await open('#call-c1500');
    await page.waitForSelector('#call-c1500 .detail');
    const rows = await page.evaluate<number>('document.querySelectorAll(".row").length');
    assert.ok(rows < 100, `${rows} rows`);
    const messages = await page.evaluate<number>('document.querySelectorAll(".message").length');
    assert.ok(messages < 100, `${messages} messages`);
    await page.close();
    assert.deepEqual(troubles, []);
  });
});
