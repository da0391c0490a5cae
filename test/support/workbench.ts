/** A workbench over a folder of the test's, with its page built from the sources as they are now. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTargets } from '../../src/workbench/items/targets.ts';
import { serveWorkbench } from '../../src/workbench/server/serve.ts';
import type { Browser, BrowserPage } from './browser.ts';
// @ts-expect-error: the build's own scripts have no types
import { buildWorkbench } from './build-page.mjs';

export interface TestWorkbench {
  /** Where its things lie. */
  folder: string;
  /** With the token. */
  url: string;
  close(): Promise<void>;
}

/** @param fill writes what is opened into the folder; returns the path of it where that is not the folder. */
export async function openTestWorkbench(
  fill: (folder: string) => string | undefined | Promise<string | undefined>,
): Promise<TestWorkbench> {
  const root = mkdtempSync(join(tmpdir(), 'agentdump-workbench-'));
  const folder = join(root, 'dumps');
  mkdirSync(folder, { mode: 0o700 });
  const target = await fill(folder);
  const built = join(root, 'page');
  await buildWorkbench(built);
  const textOf = (name: string): string => readFileSync(join(built, name), 'utf8');
  const { url, close } = await serveWorkbench({
    targets: findTargets(target, folder),
    assets: { script: textOf('workbench.js'), style: textOf('workbench.css') },
  });
  return {
    folder,
    url,
    async close() {
      await close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Everything that a page of ours would never do, as it happens. */
export function watchTroubles(page: BrowserPage, url: string): string[] {
  const troubles: string[] = [];
  page.on('console', (message: { text(): string }) => troubles.push(message.text()));
  page.on('pageerror', (error: Error) => troubles.push(error.message));
  page.on('dialog', (dialog: { message(): string; dismiss(): void }) => {
    troubles.push(`dialog ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request: { url(): string }) => {
    const asked = request.url();
    if (!asked.startsWith(url) && !asked.startsWith('data:,')) troubles.push(`asks for ${asked}`);
  });
  return troubles;
}

/** A page of a workbench in a browser, and what it does that it never should. */
export async function openPage(
  browser: Browser,
  url: string,
  path = '',
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<[BrowserPage, string[]]> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  const troubles = watchTroubles(page, url);
  await page.goto(url + path);
  return [page, troubles];
}

/** What axe finds, by rule. Opened with `bypassCSP`, since axe is no part of the page. */
export async function violationsOf(page: BrowserPage, axe: string): Promise<[id: string, nodes: string[]][]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    'axe.run(document, { resultTypes: ["violations"] })',
  );
  return violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]);
}
