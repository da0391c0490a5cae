/** A workbench over a folder of the test, with its page built from the current sources. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTargets } from '../../../src/workbench/items/targets.ts';
import { serveWorkbench } from '../../../src/workbench/server/serve.ts';
// @ts-expect-error: the build's own scripts have no types
import { buildWorkbench } from '../build/build-page.mjs';
import type { Browser, BrowserPage } from './browser.ts';

export interface TestWorkbench {
  /** The folder that it shows. */
  folder: string;
  /** Includes the token. */
  url: string;
  close(): Promise<void>;
}

/** @param fill writes what is opened into the folder; returns its path if that is not the folder itself. */
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

/** Collects everything that our page must never do, as it happens. */
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

/** Opens a page of the workbench in a browser, and collects what it must never do. */
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

/** The violations that axe finds, by rule. The page must have been opened with `bypassCSP`, because axe is not part of it. */
export async function violationsOf(page: BrowserPage, axe: string): Promise<[id: string, nodes: string[]][]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    'axe.run(document, { resultTypes: ["violations"] })',
  );
  return violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]);
}
