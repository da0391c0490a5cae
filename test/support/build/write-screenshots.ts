/**
 * Takes the screenshots in fixtures/screenshots: the shipped example and a research agent with a heap really die, and their
 * pages are opened in chromium. Run `npm run screenshots` after a build.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { findBundle } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import type { Account } from '../../../src/model/account.ts';
import { mapStrings } from '../../../src/report/map-strings.ts';
import { startMockModelServer } from '../agents/mock-model-server.ts';
import { type Browser, launchBrowser, makePageFolder, until, whyNoBrowser } from '../system/browser.ts';
import { findNodes, preload } from '../victims/run-victim.ts';
import { replies } from './screenshot-replies.ts';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const pictures = join(root, 'fixtures', 'screenshots');

async function accountOf(script: string, env: Record<string, string>, modelUrl: string): Promise<Account> {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-screenshots-'));
  const node = findNodes().find(({ name }) => name === 'Node 24')?.path ?? process.execPath;
  const child = spawn(node, ['--require', preload, join(root, script)], {
    cwd: join(root, 'fixtures', 'example'),
    stdio: 'ignore',
    env: { PATH: process.env['PATH'] ?? '', HOME: '/root', AGENTDUMP_DIR: dir, MODEL_URL: modelUrl, ...env },
  });
  await once(child, 'exit');
  const account = await latestIn(dir);
  rmSync(dir, { recursive: true });
  return account;
}

/** Compiles, runs and analyzes as `npm run example` does. */
async function exampleAccount(): Promise<Account> {
  const child = spawn(process.execPath, [join(root, 'fixtures', 'example', 'run.mjs')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const said = (await child.stdout.toArray()).join('');
  return latestIn(/The bundle is in (.*)/.exec(said)?.[1] ?? '');
}

/** Paths are shown relative to the project's folder, as its developers see them. */
async function latestIn(dir: string): Promise<Account> {
  const bundle = openBundle(findBundle('latest', dir));
  const account = await analyzeBundle(bundle);
  bundle.close();
  return mapStrings(account, (text) => text.replaceAll(`${root}/`, ''));
}

interface Picture {
  name: string;
  hash?: string;
  colorScheme: 'light' | 'dark';
  width?: number;
  height: number;
}

async function take(
  browser: Browser,
  address: string,
  { name, hash, colorScheme, width = 1200, height }: Picture,
) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  await page.goto(`${address}${hash ? `#${hash}` : ''}`);
  await until(page, `document.fonts.status === 'loaded' && document.querySelector('#bundle table') !== null`);
  await page.evaluate('new Promise((done) => setTimeout(done, 2600))');
  await page.evaluate('document.activeElement.blur()');
  writeFileSync(join(pictures, `${name}.png`), await page.screenshot({ type: 'png' }));
  await page.close();
}

const reason = whyNoBrowser();
if (reason) throw new Error(reason);
mkdirSync(pictures, { recursive: true });
const server = await startMockModelServer((_call, n) => replies[n] ?? { text: 'Done.' });
const research = await accountOf(
  'fixtures/example/research-desk.mjs',
  { AGENTDUMP_HEAP: 'always', AGENTDUMP_LOCALS: 'uncaught' },
  server.url,
);
await server.close();
const [browser, folder] = await Promise.all([launchBrowser(), makePageFolder()]);
await take(browser, folder.write(await exampleAccount(), 'example'), {
  name: 'example',
  colorScheme: 'light',
  height: 1290,
});
const address = folder.write(research, 'research');
for (const picture of [
  { name: 'stack', hash: 'stack', colorScheme: 'light', height: 560 },
  { name: 'timeline', hash: 'agent', colorScheme: 'dark', height: 1270 },
  { name: 'heap', hash: 'memory', colorScheme: 'light', height: 900 },
  { name: 'telephone', colorScheme: 'dark', width: 390, height: 844 },
] as const)
  await take(browser, address, picture);
await browser.close();
folder.remove();
