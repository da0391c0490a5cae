/**
 * The time until the page of a large account is shown in chromium, from the address to the drawn page, including reading the
 * data and parsing the document. A bundle of the same number of bytes has a smaller page, because an account repeats nothing
 * of it. Prints medians, and those of a small account. `npm run bench:page [megabytes] [runs]`.
 */
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Account } from '../../src/model/account.ts';
import { synthAccount } from '../support/synth/synth-account.ts';
import { type Browser, launchBrowser, makePageFolder, whyNoBrowser } from '../support/system/browser.ts';

const megabytes = Number(process.argv[2] ?? 50);
const runs = Number(process.argv[3] ?? 7);
const targetMs = 2000;

const reason = whyNoBrowser();
if (reason) throw new Error(reason);
const [browser, folder] = await Promise.all([launchBrowser(), makePageFolder()]);
// Each turn contains its text four times.
const letters = 2000;
const turns = Math.round((megabytes * 2 ** 20) / (4 * letters + 1300));
console.log(`chromium, ${process.version}, ${runs} runs, medians`);
for (const [name, account] of [
  ['small', synthAccount()],
  [`${turns} turns`, synthAccount({ turns, letters, samples: 5000 })],
] as const)
  await measure(name, account);
await browser.close();
folder.remove();

async function measure(name: string, account: Account): Promise<void> {
  const from = performance.now();
  const address = folder.write(account, 'bench');
  const renderMs = performance.now() - from;
  const { size } = statSync(fileURLToPath(address));
  const times: Opening[] = [];
  for (let run = 0; run < runs; run++) times.push(await openOnce(browser, address));
  const middle = (key: keyof Opening): string =>
    median(times.map((time) => time[key]))
      .toFixed(0)
      .padStart(5);
  const drawn = median(times.map(({ drawnMs }) => drawnMs));
  console.log(
    `${name.padEnd(14)} ${(size / 2 ** 20).toFixed(1).padStart(5)} MiB   rendered ${renderMs.toFixed(0).padStart(5)} ms` +
      `   drawn ${middle('drawnMs')} ms   search ${middle('searchMs')} ms, again ${middle('againMs')} ms` +
      `   target ${targetMs} ms: ${drawn <= targetMs ? 'met' : 'MISSED'}`,
  );
}

interface Opening {
  drawnMs: number;
  /** The first search builds the index. */
  searchMs: number;
  againMs: number;
}

async function openOnce(browser: Browser, address: string): Promise<Opening> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  const from = performance.now();
  await page.goto(address);
  await page.waitForSelector('#bundle table');
  const drawnMs = performance.now() - from;
  const search = async (word: string): Promise<number> => {
    const began = performance.now();
    await page.keyboard.press('/');
    await page.keyboard.type(word);
    await page.waitForSelector('#found-0 mark');
    return performance.now() - began;
  };
  const searchMs = await search('lorem');
  await page.evaluate('document.querySelector("#search").value = ""');
  const againMs = await search('lisbon');
  await page.close();
  return { drawnMs, searchMs, againMs };
}

function median(list: readonly number[]): number {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;
}
