/**
 * Leaks and healthy programs (fixtures/programs/heap/heap-leaks.mjs): what the first line of `heap suspects` names with two
 * snapshots and with one, and beside it what memlab names first of the same two: its analyses of growing objects and of growing
 * collections, of which the better one counts. `npm run bench:leaks [-- --beside 20] [--only <part of a name>]`; `--beside`: megabytes of
 * a table that stays. memlab is left out where it is not installed: npm ci --prefix test/bench/peers.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { entangled, healthy, leaks, seenAtOnce } from '../../support/heaps/leak-truths.ts';

const { openHeap } = (await import(
  new URL('../../../dist/analysis/memory/heap.js', import.meta.url).href
)) as typeof import('../../../src/analysis/memory/heap.ts');
const { generalPath } = (await import(
  new URL('../../../dist/analysis/memory/questions/paths.js', import.meta.url).href
)) as typeof import('../../../src/analysis/memory/questions/paths.ts');

const { values } = parseArgs({
  options: { beside: { type: 'string', default: '20' }, only: { type: 'string', default: '' } },
});
const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const program = local('../../../fixtures/programs/heap/heap-leaks.mjs');
const bin = local('../../../bin/agentdump.js');
const tool = local('leaks-memlab.mjs');
const hasMemlab = existsSync(local('../peers/node_modules/@memlab'));
const folder = mkdtempSync(join(tmpdir(), 'agentdump-bench-leaks-'));
const snapshots = ['s1', 's2'].map((name) => join(folder, `${name}.heapsnapshot`));

interface Row {
  name: string;
  two: boolean;
  one: boolean;
  firstThree: boolean;
  memlab: boolean | undefined;
  memlabThree: boolean | undefined;
}

const truths = { ...leaks, ...entangled };
const wanted = (name: string): boolean => name.includes(values.only);
const ways = Object.keys(truths).filter(wanted);
const rows: Row[] = [];
const falsely = { two: 0, one: 0, memlab: 0 };

try {
  console.log(`${process.version}, beside ${values.beside} MB that stay\n`);
  console.log(
    `${'leak'.padEnd(24)} two snapshots   one   among three   ${hasMemlab ? 'memlab   among three' : '(memlab is not installed)'}`,
  );
  for (const name of ways) rows.push(await measure(name));
  const sick = healthy.filter(wanted).map(measureHealthy);
  console.log(
    `\n${rows.length} leaks: two snapshots ${count('two')}, one ${count('one')} (among three ${count('firstThree')})${hasMemlab ? `, memlab ${count('memlab')} (among three ${count('memlabThree')})` : ''}`,
  );
  console.log(
    `${sick.length} healthy programs with a suspect: two snapshots ${falsely.two}, one ${falsely.one}${hasMemlab ? `; memlab lists something that grew in ${falsely.memlab}` : ''}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function count(key: keyof Omit<Row, 'name'>): number {
  return rows.filter((row) => row[key]).length;
}

async function measure(name: string): Promise<Row> {
  write(name);
  const [where] = truths[name]!;
  // A single snapshot shows the numbers of elements.
  const general = (title: string): string => title.replace(/([[{])\d+([\]}])/g, '$1*$2');
  const isTold = (title = ''): boolean =>
    where.test(general(title)) || seenAtOnce[name]?.test(title) === true;
  const once = titles(snapshots.slice(1));
  const row = {
    name,
    two: isTold(titles(snapshots)[0]),
    one: isTold(once[0]),
    firstThree: once.slice(0, 3).some(isTold),
    ...(await askMemlab(where)),
  };
  const mark = (is: boolean | undefined): string => (is === undefined ? '' : is ? 'yes' : 'no');
  console.log(
    `${name.padEnd(24)} ${mark(row.two).padStart(13)} ${mark(row.one).padStart(5)} ${mark(row.firstThree).padStart(13)} ${mark(row.memlab).padStart(8)} ${mark(row.memlabThree).padStart(13)}`,
  );
  return row;
}

function measureHealthy(name: string): string {
  write(name);
  if (titles(snapshots, false).length) falsely.two++;
  if (titles(snapshots.slice(1), false).length) falsely.one++;
  if (hasMemlab && memlabIds().some((ids) => ids.length)) falsely.memlab++;
  return name;
}

function write(name: string): void {
  for (const path of snapshots) rmSync(path, { force: true });
  run(process.execPath, [program, name, values.beside, ...snapshots]);
}

/**
 * The first lines of the suspects, as they are on the screen. @param withHolders and of the largest holders, of which one snapshot
 * does not show whether they grow.
 */
function titles(files: string[], withHolders = true): string[] {
  const text = run(process.execPath, [bin, 'heap', 'suspects', ...files]);
  const [told = ''] = withHolders ? [text] : text.split('Largest holders, growth not known');
  return told.split('\n').filter((line) => /^\d+\. /.test(line));
}

/** By analysis: what it lists, largest first. */
function memlabIds(): number[][] {
  return JSON.parse(run(process.execPath, [tool, folder]).trim().split('\n').at(-1)!);
}

/** Whether one of its analyses lists the container first, or among the first three. */
async function askMemlab(where: RegExp): Promise<Pick<Row, 'memlab' | 'memlabThree'>> {
  if (!hasMemlab) return { memlab: undefined, memlabThree: undefined };
  const lists = memlabIds();
  const heap = await openHeap(snapshots[1]!);
  const isTold = (id: number): boolean => where.test(generalPath(heap, heap.snapshot.findById(id)));
  const memlab = lists.some((ids) => ids.slice(0, 1).some(isTold));
  const memlabThree = lists.some((ids) => ids.slice(0, 3).some(isTold));
  heap.snapshot.close();
  return { memlab, memlabThree };
}

function run(command: string, words: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, words, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  });
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr.slice(-500)}`);
  return stdout;
}
