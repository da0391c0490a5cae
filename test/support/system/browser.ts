/**
 * A real browser for the page tests: Debian's chromium, driven by playwright-core. If either is absent, the tests say so and
 * are skipped. Only the parts of playwright's types that are used are declared here, so that the tests compile without it.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Account } from '../../../src/model/account.ts';
import { type PageAssets, renderHtml } from '../../../src/report/html.ts';
// @ts-expect-error: the build's own scripts have no types
import { buildPage } from '../build/build-page.mjs';

export interface BrowserPage {
  goto(url: string): Promise<unknown>;
  evaluate<T>(what: string): Promise<T>;
  waitForSelector(selector: string): Promise<unknown>;
  emulateMedia(options: { media?: 'print' | 'screen'; colorScheme?: 'light' | 'dark' }): Promise<void>;
  pdf(options?: object): Promise<Buffer>;
  screenshot(options: object): Promise<Buffer>;
  click(selector: string): Promise<void>;
  keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  context(): { newCDPSession(page: BrowserPage): Promise<Devtools> };
  on(event: string, listener: (what: never) => void): void;
  close(): Promise<void>;
}

/** The browser's own protocol: https://chromedevtools.github.io/devtools-protocol/tot/Performance/. */
export interface Devtools {
  send(method: string, parameters?: object): Promise<{ metrics: { name: string; value: number }[] }>;
}

interface PageOptions {
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  bypassCSP?: boolean;
  deviceScaleFactor?: number;
}

export interface Browser {
  newPage(options?: PageOptions): Promise<BrowserPage>;
  close(): Promise<void>;
}

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);
const require = createRequire(
  join(fileURLToPath(import.meta.url), '..', '..', '..', 'browser', 'package.json'),
);

/** The reason why no browser is available; false if one is. */
export function whyNoBrowser(): string | false {
  if (!chromium) return 'there is no chromium (apt-get install chromium)';
  try {
    require.resolve('playwright-core');
    return false;
  } catch {
    return 'playwright-core is not installed (npm ci --prefix test/browser)';
  }
}

export async function launchBrowser(): Promise<Browser> {
  const playwright = require('playwright-core') as {
    chromium: { launch(options: object): Promise<Browser> };
  };
  return playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox'] });
}

/** For `Performance.getMetrics`, whose durations are then processor time. */
export async function openDevtools(page: BrowserPage): Promise<Devtools> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  return devtools;
}

/**
 * Polls until the expression is true, for 30 seconds unless told otherwise. Playwright's waitForFunction needs `eval`, which the page's policy
 * forbids.
 */
export async function until(page: BrowserPage, expression: string, seconds = 30): Promise<void> {
  for (let tries = 0; tries < seconds * 50; tries++) {
    if (await page.evaluate(expression).catch(falseWhileLeaving)) return;
    await delay(20);
  }
  throw new Error(`never true: ${expression}`);
}

/** During a navigation there is no document to evaluate in. */
function falseWhileLeaving(error: Error): boolean {
  if (/context was destroyed|navigation/i.test(error.message)) return false;
  throw error;
}

/** The source of axe-core, which finds accessibility problems. */
export const axeSource = (): string => readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export interface PageFolder {
  assets: PageAssets;
  /** Renders an account into a file and returns its URL. */
  write(account: Account, name?: string): string;
  remove(): void;
}

/** Builds the page from the current sources. */
export async function makePageFolder(): Promise<PageFolder> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-page-'));
  await buildPage(folder);
  const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const assets = { script: textOf('page.js'), style: textOf('page.css') };
  return {
    assets,
    write(account, name = 'account') {
      const path = join(folder, `${name}.html`);
      writeFileSync(path, renderHtml(account, assets));
      return pathToFileURL(path).href;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
