/**
 * Maps a URL to its document. A view that needs a job starts it and waits a moment, since most are quick; otherwise the
 * document shows the progress, and is reloaded when the job is done.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { partNames } from '../../bundle/layout/bundle.ts';
import type { Keys } from '../../bundle/read/age.ts';
import { AgentdumpError, assertNever } from '../../errors.ts';
import type { Account } from '../../model/account.ts';
import type { BundleDiff } from '../../model/diff.ts';
import { escapeLine } from '../../report/escape-terminal.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { HeapPlace } from '../heap/open-session.ts';
import type { Answers, GrowthView } from '../heap/questions.ts';
import type { Item } from '../items/items.ts';
import type { Job, Jobs } from '../items/jobs.ts';
import type { Targets } from '../items/targets.ts';
import type { Work } from '../items/work.ts';
import type { MemoryPlace } from '../memory/memory-session.ts';
import type { MemorySummary } from '../memory/questions.ts';
import { addresses, type ViewState } from '../protocol.ts';
import { renderDocument } from './document.ts';

export interface Surroundings {
  /** The path prefix of every URL: the token between slashes. */
  base: string;
  targets: Targets;
  jobs: Jobs;
  keys?: Keys;
  /** For a core. */
  executable?: string;
}

/** A job that finishes within this time never shows a loading page. */
const patienceMs = 400;
/** The number of heaps compared at a time. */
const mostCompared = 3;

/** Undefined if there is nothing with that name. */
export async function documentFor(
  path: string,
  around: Surroundings,
): Promise<string | { location: string } | undefined> {
  const { fleet } = around.targets;
  if (path === addresses.list) return fleet ? issuesDocument(fleet, around) : listDocument(around);
  const [kind = '', ...ids] = path.split('/');
  if (kind === 'issues') return fleet && issueDocument(fleet, ids, around);
  const items = await Promise.all(ids.map((id) => around.targets.find(id)));
  const [a, b] = items;
  if (kind === 'items' && ids.length === 1 && a)
    return a.row.kind === 'heap'
      ? { location: around.base + addresses.heap(a.row.id) }
      : itemDocument(a, around);
  if (kind === 'heap' && ids.length === 1 && a) return heapDocument(a, around);
  if (kind === 'memory' && ids.length === 1 && a) return memoryDocument(a, around);
  if (kind === 'diff' && ids.length === 2 && a && b) return diffDocument(a, b, around);
  if (
    kind === 'growth' &&
    ids.length >= 2 &&
    ids.length <= mostCompared &&
    items.every((item) => item !== undefined)
  )
    return growthDocument(items, around);
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

async function issuesDocument(fleet: Fleet, { base }: Surroundings): Promise<string> {
  const store = escapeLine(fleet.name);
  return orFailure(base, store, async () =>
    renderDocument({ view: 'issues', base, title: store, store, issues: await fleet.list() }),
  );
}

async function issueDocument(
  fleet: Fleet,
  [id, ...more]: readonly string[],
  { base }: Surroundings,
): Promise<string | undefined> {
  if (id === undefined || more.length > 0) return undefined;
  return orFailure(base, `issue ${escapeLine(id)}`, async () => {
    const story = await fleet.story(id);
    return renderDocument({ view: 'issue', base, title: story.title, story });
  });
}

/** A store may be unavailable, or held by a sender: the page says so and can be reloaded. */
async function orFailure(base: string, what: string, document: () => Promise<string>): Promise<string> {
  try {
    return await document();
  } catch (error) {
    if (!(error instanceof AgentdumpError)) throw error;
    return renderDocument({ view: 'failed', base, title: what, what, reason: escapeLine(error.message) });
  }
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
    return renderDocument(
      {
        view: 'account',
        base,
        title,
        item: row,
        hasList: hasList(targets),
        hasHeap: row.kind === 'core' || hasPart(account, partNames.heapSnapshot),
        hasMemory: row.kind === 'core' || hasPart(account, partNames.miniCore),
      },
      account,
    );
  });
}

/** Whether there is a list to go back to. */
const hasList = ({ folder, fleet }: Surroundings['targets']): boolean =>
  folder !== undefined || fleet !== undefined;

const hasPart = ({ bundle }: Account, part: string): boolean =>
  bundle?.parts.some(({ name }) => name === part) ?? false;

const placeOf = ({ row, path }: Item, { keys, executable }: Surroundings): HeapPlace => ({
  path,
  name: row.name,
  kind: row.kind,
  keys,
  executable,
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
      hasList: hasList(targets),
      summary: result as Answers['summary'],
    }),
  );
}

/** The keys of the jobs that hold an item's heap, and its memory. */
export const heapKey = (id: string): string => `heap-${id}`;
export const memoryKey = (id: string): string => `memory-${id}`;

async function memoryDocument({ row, path }: Item, around: Surroundings): Promise<string> {
  const { base, targets, keys, executable } = around;
  const place: MemoryPlace = { path, isBundle: row.kind === 'bundle', keys, executable };
  return afterJob(memoryKey(row.id), { what: 'memory', place }, row.name, around, (result) =>
    renderDocument({
      view: 'memory',
      base,
      title: `Memory of ${row.name}`,
      item: row,
      hasList: hasList(targets),
      hasHeap: row.kind === 'core',
      summary: result as MemorySummary,
    }),
  );
}

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
        hasHeaps: accounts.every((account) => hasPart(account, partNames.heapSnapshot)),
      });
    },
  );
}

async function growthDocument(items: readonly Item[], around: Surroundings): Promise<string> {
  const { base } = around;
  const rows = items.map(({ row }) => row);
  const work: Work = { what: 'growth', places: items.map((item) => placeOf(item, around)) };
  const what = rows.map(({ name }) => name).join(' and ');
  return afterJob(['growth', ...rows.map(({ id }) => id)].join('-'), work, what, around, (result) => {
    const growth = result as GrowthView;
    const title = `${items.length} heaps`;
    return renderDocument({ view: 'growth', base, title, items: rows, growth });
  });
}

/** The document with a job's result, its progress, or its failure. */
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
