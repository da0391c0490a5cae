/**
 * Takes the pictures of the workbench in fixtures/screenshots: a research agent with a heap really dies, and a store has the
 * deaths of a shop. Run by `npm run screenshots`; with a folder as its argument it takes every view there, light, dark and as
 * wide as a phone, to look at.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resolveIssue } from '../../../src/store/issues.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { sendBundle } from '../../../src/store/sending/send.ts';
import { type SynthDeath, writeDeath } from '../../store/synth-death.ts';
import { startMockModelServer } from '../agents/mock-model-server.ts';
import { type Browser, type BrowserPage, launchBrowser, until, whyNoBrowser } from '../system/browser.ts';
import { openTestWorkbench, type TestWorkbench } from '../system/workbench.ts';
import { findNodes, preload } from '../victims/run-victim.ts';
import { replies } from './screenshot-replies.ts';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const everyView = process.argv[2];
const pictures = everyView ?? join(root, 'fixtures', 'screenshots');

/** The deaths of some hours, newest last. */
const shop: readonly (readonly [hoursAgo: number, death: SynthDeath])[] = [
  [70, { message: 'card 4711 refused', program: 'checkout', release: '1.3.0', host: 'web-1' }],
  [69, { message: 'card 4712 refused', program: 'checkout', release: '1.3.0', host: 'web-2' }],
  [52, { message: 'card 4713 refused', program: 'checkout', release: '1.3.1', host: 'web-1' }],
  [
    44,
    { message: 'the stock of a warehouse is negative', program: 'stock', release: '1.3.1', host: 'jobs-1' },
  ],
  [
    30,
    { message: 'the stock of a warehouse is negative', program: 'stock', release: '1.3.1', host: 'jobs-2' },
  ],
  [21, { message: 'no invoice without a customer', program: 'invoices', release: '1.3.1', host: 'jobs-1' }],
  [1, { message: 'the queue of mails is closed', program: 'mailer', release: '1.4.0', host: 'jobs-2' }],
];
/** After what was said to be resolved. */
const again: typeof shop = [
  [0, { message: 'card 4714 refused', program: 'checkout', release: '1.4.0', host: 'web-3' }],
  [0, { message: 'card 4715 refused', program: 'checkout', release: '1.4.0', host: 'web-2' }],
  [0, { message: 'card 4716 refused', program: 'checkout', release: '1.4.0', host: 'web-2', repeats: 7 }],
];

async function dieOfResearch(dir: string): Promise<void> {
  const server = await startMockModelServer((_call, n) => replies[n] ?? { text: 'Done.' });
  const node = findNodes().find(({ name }) => name === 'Node 24')?.path ?? process.execPath;
  const child = spawn(node, ['--require', preload, join(root, 'fixtures/example/research-desk.mjs')], {
    cwd: join(root, 'fixtures', 'example'),
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: '/root',
      AGENTDUMP_DIR: dir,
      AGENTDUMP_HEAP: 'always',
      AGENTDUMP_LOCALS: 'uncaught',
      MODEL_URL: server.url,
    },
  });
  await once(child, 'exit');
  await server.close();
}

async function fillStore(folder: string): Promise<string> {
  const place = join(folder, 'deaths-of-the-shop');
  const store = await openStore(place);
  const send = async ([hoursAgo, death]: (typeof shop)[number]) => {
    const at = new Date(Date.now() - hoursAgo * 3_600_000).toISOString();
    return sendBundle(store, writeDeath(folder, { ...death, at }));
  };
  const sent = [];
  for (const one of shop) sent.push(await send(one));
  await resolveIssue(store.index, sent[0]?.issue ?? '', '1.4.0');
  for (const one of again) await send(one);
  await store.close();
  return place;
}

interface Picture {
  name: string;
  /** Below the workbench's address, or reached from there. */
  path?: string;
  reach?: (page: BrowserPage) => Promise<void>;
  colorScheme: 'light' | 'dark';
  width?: number;
  height: number;
  /** Only to look at. */
  isExtra?: true;
}

const settled = `!document.querySelector('[aria-busy="true"], progress') && document.querySelector('main h1')`;
const enter =
  (...selectors: string[]) =>
  async (page: BrowserPage) => {
    for (const selector of selectors) {
      await until(page, `${settled} && document.querySelector('${selector}')`, 60);
      await page.click(selector);
    }
    await until(page, settled, 60);
  };
const item = 'tbody a[data-item]';
const view = (word: string) => enter(item, '.bar-links a[href*="heap/"]', `.tabs a[href="?view=${word}"]`);

const ofFolder: readonly Picture[] = [
  { name: 'workbench-treemap', reach: view('treemap'), colorScheme: 'dark', height: 860 },
  {
    name: 'workbench-object',
    reach: enter(
      item,
      '.bar-links a[href*="heap/"]',
      '.tabs a[href="?view=classes"]',
      '.long-table tr[data-row="3"] a[data-item]',
      '.long-table a[data-item]',
    ),
    colorScheme: 'light',
    height: 1000,
  },
  { name: 'workbench-phone', reach: view('classes'), colorScheme: 'light', width: 390, height: 844 },
  { name: 'list', colorScheme: 'light', height: 700, isExtra: true },
  ...['summary', 'objects', 'dominators', 'strings', 'fill', 'query'].map(
    (word): Picture => ({ name: word, reach: view(word), colorScheme: 'light', height: 900, isExtra: true }),
  ),
];
const ofStore: readonly Picture[] = [
  { name: 'workbench-issues', colorScheme: 'light', height: 560 },
  { name: 'issue', reach: enter(item), colorScheme: 'light', height: 1100, isExtra: true },
];

async function take(
  browser: Browser,
  { url, folder }: TestWorkbench,
  { name, path = '', reach, colorScheme, width = 1200, height }: Picture,
) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  await page.goto(url + path);
  await until(page, `document.fonts.status === 'loaded' && ${settled}`, 60);
  await reach?.(page);
  await page.evaluate(`document.activeElement.blur(); scrollTo(0, 0);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode())
      texts.currentNode.data = texts.currentNode.data
        .replaceAll(${JSON.stringify(`${root}/`)}, '').replaceAll(${JSON.stringify(folder)}, '/srv/dumps');`);
  await page.evaluate('new Promise((done) => setTimeout(done, 400))');
  writeFileSync(join(pictures, `${name}.png`), await page.screenshot({ type: 'png' }));
  await page.close();
}

async function takeAll(browser: Browser, workbench: TestWorkbench, some: readonly Picture[]): Promise<void> {
  for (const picture of some)
    if (everyView === undefined) {
      if (!picture.isExtra) await take(browser, workbench, picture);
    } else
      for (const [word, colorScheme, width] of [
        ['light', 'light', 1200],
        ['dark', 'dark', 1200],
        ['phone', 'light', 390],
      ] as const)
        await take(browser, workbench, { ...picture, name: `${picture.name}-${word}`, colorScheme, width });
}

const reason = whyNoBrowser();
if (reason) throw new Error(reason);
mkdirSync(pictures, { recursive: true });
const browser = await launchBrowser();
for (const [fill, some] of [
  [(folder: string) => dieOfResearch(folder).then(() => undefined), ofFolder],
  [fillStore, ofStore],
] as const) {
  const workbench = await openTestWorkbench(fill);
  await takeAll(browser, workbench, some);
  await workbench.close();
}
await browser.close();
