/** Performs one run in a job of the host's own queue: until it has ended, or only waits. */
import { agent as recorded } from '../../agent/api/api.ts';
import { AgentdumpError } from '../../errors.ts';
import type { DurableRunOptions } from '../options.ts';
import { RecordCodec } from '../records/codec.ts';
import { type WorkedRun, workAt } from '../runs/perform-run.ts';
import { isOverForWorkers, RunLog } from '../runs/run-log.ts';
import { ownPause } from '../steps/own-pause.ts';
import type { DurableStore } from '../stores/store.ts';
import { type HeldRun, putToRest } from './put-to-rest.ts';
import type { WorkerOptions } from './worker-options.ts';

/** What a run did in a job. */
export interface PerformedRun {
  /**
   * waiting: it was removed from memory, and is due again when something arrives. retrying: it failed, and has tries left. held:
   * another process performs it. over: it had ended before.
   */
  state: 'finished' | 'failed' | 'retrying' | 'waiting' | 'held' | 'over';
  /** When it is due again by the time alone. */
  dueAt?: Date;
  /** Why it failed. */
  error?: unknown;
}

export type JobOptions = Pick<WorkerOptions, 'programs' | 'options'>;

/** As long as a worker of ours leaves a run in memory that only waits. */
const lookEveryMs = 1_000;
/** A run that can't be continued here is left alone for this long. */
const stuckMs = 60_000;

/** Throws if the run can't be continued, such as without its key or with another program; the run is unchanged. */
export async function performDue(
  store: DurableStore,
  id: string,
  { programs, options = {} }: JobOptions,
): Promise<PerformedRun> {
  const { records, holder } = await store.read(id);
  if (holder !== undefined) return { state: 'held' };
  const log = new RunLog(records, new RecordCodec({}));
  if (isOverForWorkers(log)) {
    await store.rest?.(id, { isOver: true });
    return { state: 'over' };
  }
  const { name, program } = findProgram(id, log, programs);
  try {
    return toldOf(await perform(name, { ...options, id, store, durable: true }, program));
  } catch (error) {
    const code = error instanceof AgentdumpError ? error.code : undefined;
    if (code === 'held') return { state: 'held' };
    // A run of another program is left to whoever has that.
    const dueAtMs = code === 'over-limit' ? 'never' : Date.now() + stuckMs;
    if (code !== 'changed' && code !== 'closed') await store.rest?.(id, { isOver: false, dueAtMs });
    throw error;
  }
}

type Program = WorkerOptions['programs'][string];

function findProgram(id: string, { name, queue }: RunLog, programs: WorkerOptions['programs']) {
  const refuse = (message: string, argument: string) =>
    new AgentdumpError('usage', message, { argument, run: id });
  if (queue)
    throw refuse(
      `run ${id} is in the queue ${queue.name}, whose limits only workers hold: startWorker`,
      'id',
    );
  const program = name === undefined ? undefined : programs[name];
  if (name === undefined || !program)
    throw refuse(`run ${id} is one of ${name ?? 'no program'}: none of the given programs`, 'programs');
  return { name, program };
}

async function perform(name: string, options: DurableRunOptions, program: Program): Promise<WorkedRun> {
  const held: HeldRun = {};
  const ended = new AbortController();
  // A store that can't put runs to rest would not say when to continue this one.
  const looks = canRest(options.store) ? lookAfter(held, ended.signal) : undefined;
  try {
    return await workAt(
      name,
      options,
      (given) => recorded.run(name, { id: given.id }, () => program(given)),
      (run, rest) => Object.assign(held, { run, rest }),
    );
  } finally {
    ended.abort();
    await looks;
  }
}

const canRest = (store: DurableStore | undefined) => store?.findDue !== undefined && store.rest !== undefined;

async function lookAfter(held: HeldRun, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await ownPause(lookEveryMs, ended);
    if (!ended.aborted) putToRest(held, false);
  }
}

function toldOf(worked: WorkedRun): PerformedRun {
  if (worked.is === 'stuck') throw worked.error;
  // It has ended, but stays due until its parent is told.
  if ('untold' in worked) throw worked.untold;
  if (worked.is === 'rested') return { state: 'waiting', ...dueAtOf(worked) };
  if (worked.is === 'ended') return { state: 'finished' };
  if (worked.is !== 'failed') return { state: 'over' };
  const due = dueAtOf(worked);
  return { state: due.dueAt ? 'retrying' : 'failed', ...due, error: worked.error };
}

const dueAtOf = ({ dueAtMs }: { dueAtMs?: number | 'never' }): { dueAt?: Date } =>
  typeof dueAtMs === 'number' ? { dueAt: new Date(dueAtMs) } : {};
