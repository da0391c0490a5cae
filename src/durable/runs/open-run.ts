/**
 * Opens a run: its store, its key, and its records; starts it if there are none. Reports what was left out of the records,
 * and what a resume keeps and has lost.
 */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { AgentdumpError } from '../../errors.ts';
import { recordKinds } from '../../journal/layout/records.ts';
import { newId } from '../../journal/write/session-id.ts';
import { publicName } from '../../redaction/public-name.ts';
import { version } from '../../version.ts';
import { isKnownProgram } from '../dispatch/known-programs.ts';
import { type DurableRunOptions, defaultMaxResumes } from '../options.ts';
import { Checkpoints } from '../records/checkpoint.ts';
import { RecordCodec } from '../records/codec.ts';
import { durableSchema, type QueueFacts, type RunRecord, type RunRetry } from '../records/layout.ts';
import { openCodec } from '../records/open-codec.ts';
import { encodeValue } from '../records/values.ts';
import { defaultPlace, openStore } from '../stores/find-store.ts';
import type { DurableStore, MaybePromise, RunHandle } from '../stores/store.ts';
import { DurableRun } from './durable-run.ts';
import { findResumable } from './find-resumable.ts';
import { requireStarts } from './lost-records.ts';
import { processPolicy } from './process-policy.ts';
import { computeResumeAccount, renderResumeAccount } from './resume-account.ts';
import { isOverForWorkers, isSettledRun, type OpenFacts, RunLog } from './run-log.ts';
import { RunRecorder } from './run-recorder.ts';
import { warmUp } from './warm-up.ts';

export interface OpenedRun {
  run: DurableRun;
  handle: RunHandle;
}

interface Asker {
  /** A run that is over for workers, or was never started, is not taken. */
  isByWorker?: boolean;
  /** This process holds it already. */
  taken?: RunHandle | undefined;
  /** The function of a host that performs the run without a worker. */
  host?: object | undefined;
}

export async function openRun(
  name: string,
  options: DurableRunOptions,
  { isByWorker = false, taken, host }: Asker = {},
): Promise<OpenedRun> {
  const store = options.store ?? (await openStore(options.dir ?? defaultPlace()));
  const wanted = options.id ?? (await findResumable(store, name));
  const id = wanted ?? newRunId(name);
  const handle = taken ?? (await store.open(id, { name, isWork: true }));
  try {
    return { run: await readRun({ id, name, options, store, handle, isByWorker, taken, host }), handle };
  } catch (error) {
    await handle.release();
    throw error;
  }
}

interface Opening {
  id: string;
  name: string;
  options: DurableRunOptions;
  store: DurableStore;
  handle: RunHandle;
  isByWorker: boolean;
  taken: RunHandle | undefined;
  host: object | undefined;
}

async function readRun(opening: Opening): Promise<DurableRun> {
  const { id, name, options, store, handle, isByWorker, taken, host } = opening;
  const codec = openCodec(handle.records, options);
  const log = new RunLog(handle.records, codec, handle.gaps);
  requireSame(log, name, id);
  if (host) requireProgram(log, id, host);
  const say = options.notify ?? ((line: string) => process.stderr.write(`agentdump: ${line}\n`));
  const notify = (line: string) => say(`run ${id}: ${line}`);
  for (const line of [...handle.notes, ...log.damaged]) notify(line);
  const recorder = new RunRecorder(handle, codec, options.fsync ?? 'none');
  const configHash = options.config === undefined ? undefined : hashOf(options.config);
  const checkpoints = new Checkpoints(recorder, codec, log, {
    plan: options.checkpoints,
    schema: options.schema ?? 1,
    upgrade: options.upgrade,
    configHash,
    fsync: options.fsync ?? 'none',
    notify,
  });
  const hasAnswers = handle.hasAnswers ?? true;
  const parts = { id, name, options, store, log, codec, recorder, checkpoints, notify, hasAnswers };
  const isLeft = isByWorker ? isOverForWorkers(log) || isOutOfTurn({ log, store }, taken) : isSettledRun(log);
  // Before the recorded order is determined, to which the contents of a step that failed the run belong: it is run again.
  if (!isLeft && log.opens.length > 0) log.reopen();
  const run = new DurableRun(parts);
  if (!isLeft) await takeUp(run, handle, configHash);
  return run;
}

/** The store did not know that the run is in a queue, and handed it out regardless of the limits. */
export function isOutOfTurn(
  { log, store }: Pick<DurableRun, 'log' | 'store'>,
  taken: RunHandle | undefined,
): boolean {
  return log.queue !== undefined && store.takeQueued !== undefined && !taken;
}

/** Records that this process works at the run. */
async function takeUp(run: DurableRun, handle: RunHandle, configHash: string | undefined): Promise<void> {
  const { log, recorder, codec, store } = run;
  // In order, and in a single call if the store accepts several at once.
  const begun = log.name === undefined ? begin(run) : undefined;
  if (log.opens.length > 0) tellResume(run, configHash);
  const opened = handle.isOpened
    ? undefined
    : recorder.add('durableRun', opening(log.opens.length + 1, configHash, findCommand(log.opens)));
  await Promise.all([begun, opened]);
  await warmUp(codec, store, handle);
}

function opening(attempt: number, configHash: string | undefined, command: { command?: string[] }) {
  return {
    event: 'open',
    attempt,
    pid: process.pid,
    host: hostname(),
    node: process.version,
    agentdump: version,
    // A folder whose name looks like a secret is not recorded; such a run can only be resumed from its folder, with its
    // command.
    cwd: publicName(process.cwd()),
    ...(configHash !== undefined && { configHash }),
    ...command,
  } as const satisfies RunRecord;
}

/** The opening record that a worker with these options adds to a run that was never worked at. */
export function firstOpening({ config }: Partial<DurableRunOptions>): { kind: number; payload: string } {
  const facts = opening(1, config === undefined ? undefined : hashOf(config), findCommand([]));
  return { kind: recordKinds.durableRun, payload: new RecordCodec({}).encode(facts) };
}

function begin({ id, name, codec, options, recorder }: DurableRun): MaybePromise<number> {
  const facts = beginning(id, name, codec, options.retry);
  if (options.input === undefined) return recorder.add('durableRun', facts);
  return recorder.addWith('durableRun', { ...facts, input: true }, options.input);
}

/** The first record of a run. */
export function beginning(
  run: string,
  name: string,
  { sealFacts }: RecordCodec,
  retry?: RunRetry,
  queue?: QueueFacts,
  parent?: string,
): Extract<RunRecord, { event: 'begin' }> {
  return {
    event: 'begin',
    schema: durableSchema,
    run,
    name,
    ...(sealFacts && { seal: sealFacts }),
    ...(retry && { retry }),
    ...(queue && { queue }),
    ...(parent !== undefined && { parent }),
  };
}

export function newRunId(name: string): string {
  return `${name.replace(/[^\w.-]+/g, '-').slice(0, 60)}-${newId()}`;
}

function tellResume({ log, options, id, notify }: DurableRun, configHash: string | undefined): void {
  requireAttempts(log, options, id);
  requireStarts({ id, log });
  const before = log.opens.at(-1)?.configHash;
  if (before !== configHash) notify('its configuration is not the one it was started with');
  notify(renderResumeAccount(computeResumeAccount(log)));
}

/** A person who resumes a run by its id on the command line has looked at it; all others are stopped in a crash loop. */
function requireAttempts(log: RunLog, options: DurableRunOptions, id: string): void {
  const allowed = options.maxResumes ?? defaultMaxResumes;
  const wanted = log.opensWithoutProgress;
  if (wanted <= allowed || process.env['AGENTDUMP_RESUME'] === id) return;
  const message = `run ${id} was taken up ${wanted - 1} times without a step done; agentdump resume ${id} tries again`;
  throw new AgentdumpError('over-limit', message, { limit: 'maxResumes', wanted, allowed });
}

function requireSame(log: RunLog, name: string, id: string): void {
  if (log.schema !== undefined && log.schema > durableSchema)
    throw new AgentdumpError('unsupported-version', `run ${id} was recorded by a newer agentdump`, {
      format: 'durable run',
      version: log.schema,
      supported: durableSchema,
    });
  if (log.name !== undefined && log.name !== name)
    throw new AgentdumpError('usage', `run ${id} is one of ${log.name}, not of ${name}`, { argument: 'id' });
}

/**
 * Until a queued run has records of its program, nothing shows that a host's function is that program. Afterwards a wrong one is
 * found by its steps.
 */
function requireProgram(log: RunLog, id: string, host: object): void {
  const { isQueued, name = '', ended, steps, approvals } = log;
  if (!isQueued || ended || steps.size > 0 || approvals.size > 0 || isKnownProgram(name, host)) return;
  const message =
    `run ${id} was queued for workers with the program ${name}, and the function that agent.run was given is none of this ` +
    `process: pass it to startWorker({ store, programs: { ${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)} } }), which performs the run, and get its result by ` +
    `waitForRun(store, '${id}'); for a run of another function choose another id`;
  throw new AgentdumpError('usage', message, { argument: 'id', run: id });
}

/**
 * The command line of this program, for `agentdump resume`; undefined if anything in it looks like a secret. That search
 * takes milliseconds, so one that was recorded before is taken as harmless.
 */
function findCommand(opens: readonly OpenFacts[]): { command?: string[] } {
  const command = [...process.execArgv, ...process.argv.slice(1)];
  const isKnown = opens.some((open) => isDeepStrictEqual(open.command, command));
  if (isKnown) return { command };
  return isDeepStrictEqual(processPolicy().argv(command), command) ? { command } : {};
}

function hashOf(config: unknown): string {
  return createHash('sha256').update(encodeValue(config)).digest('hex').slice(0, 16);
}
