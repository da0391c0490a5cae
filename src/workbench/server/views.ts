/**
 * Which document an address is. A view that needs a job begins it and waits a moment, for most are quick; otherwise the document
 * says what is loading, and is asked for again when that is done.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { partNames } from '../../bundle/layout/bundle.ts';
import type { Keys } from '../../bundle/read/age.ts';
import { assertNever } from '../../errors.ts';
import type { Account } from '../../model/account.ts';
import type { BundleDiff } from '../../model/diff.ts';
import { escapeLine } from '../../report/escape-terminal.ts';
import type { HeapPlace } from '../heap/open-session.ts';
import type { Answers, GrowthView } from '../heap/questions.ts';
import type { Job, Jobs } from '../items/jobs.ts';
import type { Item, Targets } from '../items/targets.ts';
import type { Work } from '../items/work.ts';
import { addresses, type ViewState } from '../protocol.ts';
import { renderDocument } from './document.ts';

export interface Surroundings {
  /** Path that every address begins with: the token between slashes. */
  base: string;
  targets: Targets;
  jobs: Jobs;
  keys?: Keys;
  /** Of a core. */
  executable?: string;
}

/** A job that is done after this never shows that it was loading. */
const patienceMs = 400;

/** Undefined where there is nothing of that name. */
export async function documentFor(
  path: string,
  around: Surroundings,
): Promise<string | { location: string } | undefined> {
  if (path === addresses.list) return listDocument(around);
  const [kind = '', ...ids] = path.split('/');
  const items = ids.map((id) => around.targets.find(id));
  const [a, b] = items;
  if (kind === 'items' && ids.length === 1 && a)
    return a.row.kind === 'heap'
      ? { location: around.base + addresses.heap(a.row.id) }
      : itemDocument(a, around);
  if (kind === 'heap' && ids.length === 1 && a) return heapDocument(a, around);
  if (kind === 'diff' && ids.length === 2 && a && b) return diffDocument(a, b, around);
  if (kind === 'growth' && ids.length === 2 && a && b) return growthDocument(a, b, around);
  return undefined;
}

function listDocument({ base, targets }: Surroundings): string | { location: string } {
  const { folder } = targets;
  const items = targets.list();
  const [only] = items;
  if (folder === undefined && only) return { location: base + addresses.item(only.row.id) };
  const title = escapeLine(folder ?? '');
  return renderDocument({ view: 'list', base, title, folder: title, items: items.map(({ row }) => row) });
}

async function itemDocument({ row, path }: Item, around: Surroundings): Promise<string> {
  const { base, targets, keys, executable } = around;
  const work: Work =
    row.kind === 'core'
      ? { what: 'core', path, ...(executable !== undefined && { executable }) }
      : { what: 'account', path, ...(keys && { keys }) };
  return afterJob(`account-${row.id}`, work, row.name, around, (result) => {
    const account = result as Account;
    const title = account.verdict?.title ?? row.name;
    const hasList = targets.folder !== undefined;
    return renderDocument(
      { view: 'account', base, title, item: row, hasList, hasHeap: hasHeap(account) },
      account,
    );
  });
}

const hasHeap = ({ bundle }: Account): boolean =>
  bundle?.parts.some(({ name }) => name === partNames.heapSnapshot) ?? false;

const placeOf = ({ row, path }: Item, { keys }: Surroundings): HeapPlace => ({
  path,
  name: row.name,
  isBundle: row.kind === 'bundle',
  keys,
});

async function heapDocument(item: Item, around: Surroundings): Promise<string> {
  const { base, targets } = around;
  const { row } = item;
  const work: Work = { what: 'heap', place: placeOf(item, around) };
  return afterJob(heapKey(row.id), work, row.name, around, (result) =>
    renderDocument({
      view: 'heap',
      base,
      title: `Heap of ${row.name}`,
      item: row,
      hasList: targets.folder !== undefined,
      summary: result as Answers['summary'],
    }),
  );
}

/** The job that holds the heap of an item. */
export const heapKey = (id: string): string => `heap-${id}`;

async function diffDocument(a: Item, b: Item, around: Surroundings): Promise<string> {
  const { base, keys } = around;
  const work: Work = { what: 'diff', paths: [a.path, b.path], ...(keys && { keys }) };
  return afterJob(
    `diff-${a.row.id}-${b.row.id}`,
    work,
    `${a.row.name} and ${b.row.name}`,
    around,
    (result) => {
      const { accounts, diff } = result as { accounts: [Account, Account]; diff: BundleDiff };
      return renderDocument({
        view: 'diff',
        base,
        title: 'Two bundles',
        a: a.row,
        b: b.row,
        diff,
        accounts,
        hasHeaps: accounts.every(hasHeap),
      });
    },
  );
}

async function growthDocument(a: Item, b: Item, around: Surroundings): Promise<string> {
  const { base } = around;
  const work: Work = { what: 'growth', places: [placeOf(a, around), placeOf(b, around)] };
  const what = `${a.row.name} and ${b.row.name}`;
  return afterJob(`growth-${a.row.id}-${b.row.id}`, work, what, around, (result) => {
    const growth = result as GrowthView;
    return renderDocument({ view: 'growth', base, title: 'Two heaps', a: a.row, b: b.row, growth });
  });
}

/** The document of a job's result; or of its progress, or of its failure. */
async function afterJob(
  key: string,
  work: Work,
  what: string,
  { base, jobs }: Surroundings,
  show: (result: object) => string,
): Promise<string> {
  const job = jobs.start(key, work);
  await settled(job);
  const state = (more: Partial<ViewState>) => ({ base, title: what, what, ...more }) as ViewState;
  const { last } = job;
  switch (last.kind) {
    case 'ready':
      return show(JSON.parse(job.result ?? '{}'));
    case 'failed':
      jobs.forget(key);
      return renderDocument(state({ view: 'failed', reason: last.reason }));
    case 'progress':
      return renderDocument(state({ view: 'loading', job: key }));
    default:
      return assertNever(last, 'event of a job');
  }
}

async function settled(job: Job): Promise<void> {
  let unlisten = () => {};
  const ended = new Promise<void>((resolve) => {
    unlisten = job.listen((event) => event.kind !== 'progress' && resolve());
  });
  const stop = new AbortController();
  await Promise.race([ended, delay(patienceMs, undefined, { signal: stop.signal }).catch(() => {})]);
  stop.abort();
  unlisten();
}
