/** How a verdict names a worker thread: by its id, its name and its file. */
import { placeOf } from '../../../model/frame-text.ts';
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

/** The file of a package's own worker says less than the package. */
const packageOfFile = (file: string): string | undefined => (isInstalled(file) ? packageOf(file) : undefined);

/** `the main thread`, `worker thread 3 (indexer)`. */
export const threadName = (facts: VerdictFacts): string => workerText(facts) ?? 'the main thread';
