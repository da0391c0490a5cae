/** How a verdict names a worker thread: by its id, its name and its file. */
import { partNames } from '../../../bundle/layout/bundle.ts';
import { culpritFrame, frameText, placeOf, workersInCode } from '../../../model/frame-text.ts';
import { formatCount, formatDuration } from '../../../model/quantities.ts';
import type { Frame } from '../../../model/thread.ts';
import type { Evidence } from '../../../model/verdict.ts';
import { isInstalled } from '../../../platform/paths.ts';
import type { VerdictFacts } from '../facts.ts';
import { cwdOf } from '../wording.ts';
import { packageOf } from './module-errors.ts';

/** `worker thread 3 (indexer, jobs/indexer.mjs)`; undefined if it is not about a worker. */
export function workerText(facts: VerdictFacts): string | undefined {
  const { trigger, emitter, account } = facts;
  const isOwn = trigger?.isMainThread === false;
  const worker = trigger?.worker ?? emitter?.worker;
  const id = worker?.threadId ?? (isOwn ? (trigger.threadId ?? account.process?.threadId) : undefined);
  if (id === undefined && !worker && !isOwn) return undefined;
  const name = worker?.name ?? trigger?.thread?.name;
  const file = trigger?.thread?.file;
  const place = file === undefined ? undefined : (packageOfFile(file) ?? placeOf({ file }, cwdOf(account)));
  const said = [name, place].filter((text) => text !== undefined);
  return `${id === undefined ? 'a worker thread' : `worker thread ${id}`}${said.length ? ` (${said.join(', ')})` : ''}`;
}

const mostBusy = 4;

/** What was at work in a process that was stopped from outside. */
export function busyWorkerEvidence(facts: Pick<VerdictFacts, 'handles' | 'account'>): Evidence[] {
  const busy = (facts.handles?.busyWorkers ?? []).slice(0, mostBusy).map((worker) => ({
    fact: `${capitalized(nameOfBusy(worker))} was busy: its event loop was not idle in the ${formatDuration(worker.lookedMs)} in which it was looked at, and had been active for ${formatDuration(worker.activeMs)} of ${formatDuration(worker.inAllMs)} since its start.`,
    part: partNames.handles,
  }));
  const cwd = cwdOf(facts.account);
  const code = workersInCode(facts.account.threads)
    .slice(0, mostBusy)
    .flatMap(({ id, frames }) => {
      const culprit = culpritFrame(frames);
      return culprit ? [{ id, place: frameText(culprit, cwd) }] : [];
    });
  return [
    ...busy,
    ...code.map(({ id, place }) => ({
      fact: `When the signal came, worker thread ${id} was in ${place}.`,
      part: partNames.workerStacks,
    })),
  ];
}

/** The only code that a worker ran when the signal came. */
export function busyWorkerFrame({ account }: Pick<VerdictFacts, 'account'>): Frame | undefined {
  const [only, other] = workersInCode(account.threads);
  return other ? undefined : culpritFrame(only?.frames);
}

/** ` while worker thread 1 (miner) was busy`, or empty. */
export function busyWorkerText(facts: Pick<VerdictFacts, 'handles' | 'account'>): string {
  const [only, ...others] = facts.handles?.busyWorkers ?? [];
  const frame = others.length ? undefined : busyWorkerFrame(facts);
  if (only && frame) return ` while ${nameOfBusy(only)} was in ${frameText(frame, cwdOf(facts.account))}`;
  if (!only) return '';
  return others.length > 0
    ? ` while ${formatCount(others.length + 1, 'worker thread')} were busy`
    : ` while ${nameOfBusy(only)} was busy`;
}

const nameOfBusy = ({ threadId, name }: { threadId: number; name?: string }): string =>
  `worker thread ${threadId}${name === undefined ? '' : ` (${name})`}`;

const capitalized = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;

/** The file of a package's own worker says less than the package. */
const packageOfFile = (file: string): string | undefined => (isInstalled(file) ? packageOf(file) : undefined);

/** `the main thread`, `worker thread 3 (indexer)`. */
export const threadName = (facts: VerdictFacts): string => workerText(facts) ?? 'the main thread';
