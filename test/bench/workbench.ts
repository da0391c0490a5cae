/**
 * The time of the workbench from a click to its result, on a large heap in a real chromium; beside it, measured in the same
 * way, an update of the page that shows nothing new. `npm run bench:workbench [-- FILE.heapsnapshot | SCALE]`; without a
 * file it writes one of 360 MB first, or of 13 MB for each unit of the scale.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser, openDevtools, until, whyNoBrowser } from '../support/system/browser.ts';
import { openTestWorkbench } from '../support/system/workbench.ts';

const usualScale = 30;
const rounds = 6;
const here = fileURLToPath(new URL('.', import.meta.url));

const missing = whyNoBrowser();
if (missing) throw new Error(missing);

const [word = ''] = process.argv.slice(2);
const given = word === '' || /^\d+$/.test(word) ? undefined : word;
const written = given === undefined ? mkdtempSync(join(tmpdir(), 'agentdump-bench-')) : undefined;
const file = given ?? join(written!, 'heap.heapsnapshot');
if (written)
  execFileSync(process.execPath, [
    '--max-old-space-size=12000',
    join(here, 'heap', 'heap-generator.mjs'),
    file,
    word || String(usualScale),
  ]);

const workbench = await openTestWorkbench((folder) => {
  const path = join(folder, 'heap.heapsnapshot');
  copyFileSync(file, path);
  return path;
});
const browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
const devtools = await openDevtools(page);
const startedAt = performance.now();
await page.goto(workbench.url);
await until(page, 'document.querySelector(".tabs")', 600);
console.log(
  `opened ${Math.round(statSync(file).size / 1e6)} MB in ${Math.round(performance.now() - startedAt)} ms`,
);

interface Timed {
  ms: number;
  /** From the event to the last byte of the last answer; 0 if nothing was asked. */
  requestMs: number;
  requests: number;
  /** What the page's own thread has worked: scripts, styles, layout and drawing; processor time. */
  pageMs: number;
}

/** From the event to the frame in which everything that was requested is drawn, by the page's own clock. */
async function timed(act: string, isThere: string): Promise<Timed> {
  const before = await work();
  const [ms, requestMs, requests] = await page.evaluate<
    [number, number, number]
  >(`new Promise((resolve, reject) => {
    performance.clearResourceTimings();
    const started = performance.now();
    const end = () => {
      const asked = performance.getEntriesByType('resource').filter(({ startTime }) => startTime >= started);
      const last = Math.max(started, ...asked.map(({ responseEnd }) => responseEnd));
      resolve([performance.now() - started, last - started, asked.length]);
    };
    (() => { ${act} })();
    const look = () => {
      const isDone = !document.querySelector('[aria-busy="true"]') && (${isThere});
      const ms = performance.now() - started;
      if (isDone) requestAnimationFrame(() => setTimeout(end));
      else if (ms > 60000) reject(new Error(${JSON.stringify(isThere)}));
      else setTimeout(look);
    };
    setTimeout(look);
  })`);
  const after = await work();
  return { ms, requestMs, requests, pageMs: after - before };
}

async function work(): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
}

const rowsThere = `[...document.querySelectorAll('.long-table')].every((table) => {
  const rows = [...table.querySelectorAll('tbody tr')];
  return rows.length > 0 ? rows.every((row) => !row.textContent.startsWith('…')) : table.textContent.includes('There is no');
})`;
const press = (key: string): string =>
  `const table = document.querySelector('.long-table'); table.focus();
   table.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }));`;
const follow = (selector: string): string => `document.querySelector('${selector}').click();`;
const digit = (n: number): string => `document.activeElement.blur();
  dispatchEvent(new KeyboardEvent('keydown', { key: '${n}', bubbles: true, cancelable: true }));`;
const titled = (title: string): string =>
  `document.querySelector('main h1')?.textContent.startsWith('${title}') && ${rowsThere}`;
const objectThere = `document.querySelector('#dominated') && document.querySelectorAll('.long-table').length === 3 && ${rowsThere}`;

const steps: readonly [name: string, act: string, isThere: string][] = [
  ['classes', digit(2), titled('Classes')],
  ['classes by count', follow('.long-table th:nth-child(2) a'), titled('Classes')],
  [
    'enter a class',
    `document.querySelectorAll('.long-table a[data-item]')[ROUND].click();`,
    `location.search.includes('class=') && ${rowsThere}`,
  ],
  ['its last object', press('End'), rowsThere],
  ['enter it', `document.querySelector('.long-table tr.chosen a[data-item]').click();`, objectThere],
  [
    'its dominator',
    `(document.querySelector('.facts a.object') ?? document.querySelector('.long-table a[data-item]')).click();`,
    objectThere,
  ],
  ['a field', `document.querySelector('.long-table a[data-item]').click();`, objectThere],
  ['back', 'history.back();', objectThere],
  ['all objects', digit(3), titled('All objects')],
  ['page down', press('PageDown'), rowsThere],
  ['the last of all', press('End'), rowsThere],
  ['dominators', digit(4), titled('Dominator tree')],
  ['enter the largest', follow('.long-table a[data-item]'), objectThere],
  ['treemap', digit(5), `document.querySelector('.tile')`],
  [
    'enter a tile',
    follow('a.tile'),
    `location.search.includes('id=')&& document.querySelector('.tile, #dominated')`,
  ],
  ['strings', digit(6), titled('Strings')],
  ['summary', digit(1), `document.querySelector('.suspect-list')`],
];

async function run(round: number, into: Map<string, Timed[]>): Promise<void> {
  for (const [name, act, isThere] of steps) {
    const one = await timed(act.replaceAll('ROUND', String(round)), isThere);
    into.set(name, [...(into.get(name) ?? []), one]);
  }
}

const taken = new Map<string, Timed[]>();
for (let round = 0; round < rounds; round++) await run(round, taken);
const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
const median = (values: readonly Timed[], of: keyof Timed): string =>
  quantile(
    values.map((one) => one[of]),
    0.5,
  ).toFixed(0);
const told = (values: readonly Timed[]): string =>
  `median ${median(values, 'ms')} ms, most ${Math.max(...values.map(({ ms }) => ms)).toFixed(0)} ms; ${median(values, 'requests')} requests answered after ${median(values, 'requestMs')} ms; the page's thread ${median(values, 'pageMs')} ms of processor time`;
for (const [name, values] of taken) console.log(`${name.padEnd(20)} ${told(values)}`);
const allClicks = [...taken.values()].flat();
const p95 = quantile(
  allClicks.map(({ ms }) => ms),
  0.95,
);
const pageMost = quantile(
  allClicks.map(({ pageMs }) => pageMs),
  0.95,
);
console.log(
  `${allClicks.length} clicks: median ${median(allClicks, 'ms')} ms, p95 ${p95.toFixed(0)} ms; processor time of the page's thread median ${median(allClicks, 'pageMs')} ms, p95 ${pageMost.toFixed(0)} ms; load ${loadavg()[0]?.toFixed(0)}`,
);
const empty: Timed[] = [];
for (let n = 0; n < 10; n++) empty.push(await emptyTurn());
console.log(`an empty turn of the same page: ${told(empty)}`);

await browser.close();
await workbench.close();
if (written) rmSync(written, { recursive: true, force: true });

/** The same way of measuring, with nothing to show. */
function emptyTurn(): Promise<Timed> {
  return timed('', 'true');
}
