/**
 * Inspects runs from outside and performs the actions of a person: answering and rolling back. The key is only needed for
 * values; names, states and times are not encrypted.
 */
import { userInfo } from 'node:os';
import { AgentdumpError } from '../errors.ts';
import { recordKinds } from '../journal/layout/records.ts';
import { answerKeyOf } from './approvals/approval.ts';
import { RecordCodec } from './records/codec.ts';
import type { Answer, QueueFacts, RunEnd, RunRecord } from './records/layout.ts';
import { type CodecKeys, openCodec } from './records/open-codec.ts';
import { signalKey } from './runs/calls-from-outside.ts';
import type { ApprovalEntry } from './runs/log-entries.ts';
import { childKey } from './runs/parent-run.ts';
import { processPolicy } from './runs/process-policy.ts';
import { isOverForWorkers, isSettledRun, RunLog, retryPause } from './runs/run-log.ts';
import { isInDoubt } from './steps/in-doubt.ts';
import { lastLabel, readLabel, wordOf } from './steps/step-path.ts';
import type { DurableStore, RunReading, RunTitle, StoredRecord } from './stores/store.ts';

/**
 * queued: no process has worked at it yet. interrupted: it has not ended, and no process works at it. waiting: it waits for
 * an approval, a signal or a time, with or without a process. retrying: it failed, and a worker restarts it.
 */
export type RunState = 'queued' | 'running' | 'waiting' | 'interrupted' | 'retrying' | RunEnd;

export interface RunSummary {
  id: string;
  name: string;
  /** The queue whose limits apply to it, and its key there. */
  queue?: QueueFacts;
  /** The run that started it and waits for it. */
  parent?: string;
  state: RunState;
  /** If its state is `retrying`: when it may be restarted. */
  retryAt?: string;
  beganAt: string;
  lastAt: string;
  attempts: number;
  holder: string | undefined;
  steps: { finished: number; failed: number };
  inDoubt: string[];
  waitingFor: WaitingQuestion[];
  checkpoints: { id: string; label: string | undefined; at: string; bySeq: number }[];
  sealed: boolean;
  /** What could not be read of the run. */
  notes: string[];
}

export interface WaitingQuestion {
  path: string;
  /** The question's own id, which is also accepted for answering; absent in older records. */
  id?: string;
  askedAt: string;
  answered: boolean;
  /** The request, redacted. Absent if there is none, or if the key that it is sealed with is not available. */
  request?: unknown;
  /** Set if the run waits for a signal of this name instead of a person. */
  signal?: string;
  /** Set if the run waits for the end of this run, a child of it. */
  run?: string;
  /** When the wait ends by itself. */
  until?: string;
}

export async function summarizeRun(store: DurableStore, id: string): Promise<RunSummary> {
  return (await readRun(store, id)).summary;
}

/** The log, and its summary. */
export async function readRun(
  store: DurableStore,
  id: string,
): Promise<{ log: RunLog; summary: RunSummary }> {
  const reading = await store.read(id);
  const log = new RunLog(reading.records, codecForLooking(reading.records));
  return { log, summary: await summarize(store, id, log, reading) };
}

async function summarize(
  store: DurableStore,
  id: string,
  log: RunLog,
  { notes, holder }: RunReading,
): Promise<RunSummary> {
  const steps = [...log.steps.values()];
  const waitingFor: WaitingQuestion[] = [];
  // Of a run that has ended, questions may be left: of the losers of a race, or because it was cancelled.
  const questions = isSettledRun(log) ? [] : log.approvals.values();
  for (const question of questions)
    if (!question.readAnswer) waitingFor.push(await describeQuestion(store, id, log, question));
  return {
    id,
    name: log.name ?? '',
    ...(log.queue && { queue: log.queue }),
    ...(log.parent !== undefined && { parent: log.parent }),
    ...stateOf(log, holder, waitingFor.length > 0),
    beganAt: isoTime(log.beganAtMs),
    lastAt: isoTime(log.lastAtMs),
    attempts: log.opens.length,
    holder,
    steps: {
      finished: countOf(steps, 'finished') + countOf(steps, 'skipped'),
      failed: countOf(steps, 'failed'),
    },
    inDoubt: holder === undefined ? steps.filter(isInDoubt).map(({ path }) => path) : [],
    waitingFor,
    checkpoints: log.checkpoints.map(({ seq, record: { id: name, label, at } }) => ({
      id: name,
      label,
      at,
      bySeq: seq,
    })),
    sealed: log.seal !== undefined,
    notes: [...notes, ...log.damaged],
  };
}

/** Works without the key if that is not available; values can't be read then. */
export function codecForLooking(records: readonly StoredRecord[], keys: CodecKeys = {}): RecordCodec {
  try {
    return openCodec(records, keys);
  } catch {
    return new RecordCodec({});
  }
}

async function describeQuestion(
  store: DurableStore,
  run: string,
  log: RunLog,
  question: ApprovalEntry,
): Promise<WaitingQuestion> {
  const { path, id, askedAtMs, awaits } = question;
  const request = awaits?.run === undefined ? readRedacted(question) : undefined;
  return {
    path,
    ...(id !== undefined && { id }),
    askedAt: isoTime(askedAtMs),
    answered: await isAnswered(store, run, log, question),
    ...(request !== undefined && { request }),
    ...(awaits?.signal !== undefined && { signal: awaits.signal }),
    ...(awaits?.run !== undefined && { run: awaits.run }),
    ...(awaits?.untilMs !== undefined && { until: isoTime(awaits.untilMs) }),
  };
}

function readRedacted({ readRequest }: ApprovalEntry): unknown {
  try {
    const request = readRequest();
    return request === undefined ? undefined : processPolicy().value(request);
  } catch {
    return undefined;
  }
}

/** For the store, which may have lost it. */
export function titleOf({ name, queue }: Pick<RunLog, 'name' | 'queue'>): RunTitle {
  return {
    ...(name !== undefined && { name }),
    ...(queue && { queue: queue.name }),
    ...(queue?.key !== undefined && { queueKey: queue.key }),
  };
}

/** What a worker needs to know of a run before it takes it. */
export async function readHeading(
  store: DurableStore,
  id: string,
): Promise<{
  name: string | undefined;
  queue: QueueFacts | undefined;
  isOver: boolean;
  isHeld: boolean;
  isWaiting: boolean;
}> {
  const { records, holder } = await store.read(id);
  const log = new RunLog(records, new RecordCodec({}));
  const isHeld = holder !== undefined;
  let isWaiting = false;
  const hasDoubt = !isHeld && [...log.steps.values()].some(isInDoubt);
  for (const question of log.approvals.values()) {
    if (question.readAnswer) continue;
    if (hasDoubt || (await isAnswered(store, id, log, question)))
      return { ...heading(log), isHeld, isWaiting: false };
    isWaiting = true;
  }
  return { ...heading(log), isHeld, isWaiting };
}

const heading = (log: RunLog) => ({ name: log.name, queue: log.queue, isOver: isOverForWorkers(log) });

async function isAnswered(
  store: DurableStore,
  id: string,
  log: RunLog,
  question: ApprovalEntry,
): Promise<boolean> {
  const { signal, run: child, untilMs } = question.awaits ?? {};
  if (child !== undefined) return (await store.findAnswer(id, childKey(child))) !== undefined;
  if (untilMs !== undefined && untilMs <= Date.now()) return true;
  if (signal === undefined && untilMs !== undefined) return false;
  const key = signal === undefined ? answerKeyOf(question) : signalKey(signal, log.nextSignal(signal));
  return (await store.findAnswer(id, key)) !== undefined;
}

function stateOf(
  log: RunLog,
  holder: string | undefined,
  isWaiting: boolean,
): Pick<RunSummary, 'state' | 'retryAt'> {
  const { ended, retry, failures } = log;
  if (ended && !isOverForWorkers(log))
    return { state: 'retrying', retryAt: isoTime(ended.atMs + retryPause(retry, failures)) };
  if (ended) return { state: ended.status };
  if (isWaiting) return { state: 'waiting' };
  if (log.opens.length === 0 && log.name !== undefined) return { state: 'queued' };
  return { state: holder === undefined ? 'interrupted' : 'running' };
}

const countOf = (steps: readonly { state: string }[], state: string) =>
  steps.filter((step) => step.state === state).length;
const isoTime = (ms: number) => new Date(ms).toISOString();

export interface AnswerWish extends CodecKeys {
  approved: boolean;
  /** Absent: no value. */
  value?: unknown;
}

/** Like `answerQuestion`; returns the path. */
export async function answerApproval(
  store: DurableStore,
  id: string,
  name: string,
  wish: AnswerWish,
): Promise<string> {
  return (await answerQuestion(store, id, name, wish)).path;
}

export interface AnsweredQuestion {
  path: string;
  /** The request, redacted. */
  request?: unknown;
}

/**
 * Answers the open question of this id, or of this path or name if no other open one has that name. Throws `not-found` if there is
 * none, `usage` if it is answered already, if the name is ambiguous, or if the run has ended permanently.
 */
export async function answerQuestion(
  store: DurableStore,
  id: string,
  name: string,
  wish: AnswerWish,
): Promise<AnsweredQuestion> {
  const { records } = await store.read(id);
  const codec = openCodec(records, wish);
  const log = new RunLog(records, codec);
  requireOpenEnd(id, log);
  const open = [...log.approvals.values()].filter(({ readAnswer, awaits }) => !readAnswer && !awaits);
  const question = findQuestion(id, name, open);
  const { path } = question;
  const answer: Answer = { approved: wish.approved, at: new Date().toISOString(), by: userName() };
  if ('value' in wish) answer.value = wish.value;
  const isNew = await store.answer(
    id,
    answerKeyOf(question),
    Buffer.from(codec.encodeWith({ path }, answer)),
  );
  if (!isNew)
    throw new AgentdumpError('usage', `${path} of run ${id} is answered already`, { argument: 'name' });
  const request = readRedacted(question);
  return { path, ...(request !== undefined && { request }) };
}

/** A run that has ended permanently takes no answers and no signals; one that failed can be resumed, and then takes them. */
export function requireOpenEnd(id: string, log: RunLog): void {
  if (isSettledRun(log))
    throw new AgentdumpError('usage', `run ${id} is ${log.ended?.status}`, { argument: 'run' });
}

/**
 * By its id or its path. The path of the first question of a name is the name itself, so among several open questions of that
 * name it could be meant for any of them.
 */
function findQuestion(run: string, name: string, open: readonly ApprovalEntry[]): ApprovalEntry {
  const exact = open.find(({ path, id }) => path === name || id === name);
  const word = wordOf('step', name);
  const alike = open.filter(({ path }) =>
    [lastLabel(path), readLabel(path).word].some((one) => one === name || one === word),
  );
  const isBare =
    exact?.id !== undefined && exact.id !== name && [name, word].includes(readLabel(exact.path).word);
  if (exact && !(isBare && alike.length > 1)) return exact;
  const [only] = alike;
  if (only !== undefined && alike.length === 1) return only;
  if (only !== undefined) {
    const message = `several questions are called ${name}: answer one by its id\n${alike.map(describeOpen).join('\n')}`;
    throw new AgentdumpError('usage', message, { argument: 'name' });
  }
  const known = open.length ? `; open: ${open.map(({ path }) => path).join(', ')}` : '; it waits for nothing';
  throw new AgentdumpError('not-found', `run ${run} has no open question ${name}${known}`, { name });
}

const longestRequest = 200;

function describeOpen(question: ApprovalEntry): string {
  const request = JSON.stringify(readRedacted(question))?.slice(0, longestRequest) ?? '';
  return `  ${question.id ?? question.path}  ${request}`.trimEnd();
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}

/**
 * Voids everything that was recorded after a checkpoint (its id, or its label for the newest one), or from the start of the
 * step or the question at this path (a question also by its id, which is then asked again). The records remain; a later rollback
 * may go further back. A cancelled run can't go back. Returns a description of what was voided.
 */
export async function rollBack(store: DurableStore, id: string, to: string): Promise<string> {
  const handle = await store.open(
    id,
    titleOf(new RunLog((await store.read(id)).records, new RecordCodec({}))),
  );
  let isBack = false;
  try {
    const codec = new RecordCodec({});
    const log = new RunLog(handle.records, codec);
    // Its cancellation is not a record of the run, so it would be cancelled again.
    if (log.ended?.status === 'cancelled')
      throw new AgentdumpError('usage', `run ${id} is cancelled`, { argument: 'run' });
    const target = findTarget(log, to);
    if (!target)
      throw new AgentdumpError('not-found', `run ${id} has no checkpoint, step or question ${to}`, {
        name: to,
      });
    const record: RunRecord = { event: 'rollback', to: target.seq, label: to };
    await handle.append(recordKinds.durableRun, codec.encode(record), true);
    isBack = true;
    const gone = [...log.steps.values(), ...log.approvals.values()]
      .filter(({ seq }) => seq > target.seq)
      .sort((a, b) => a.seq - b.seq)
      .map(({ path }) => path);
    return `back to ${target.what}; to be done again: ${gone.length ? gone.join(', ') : 'nothing'}`;
  } finally {
    // What the run waited for may be void, and a run that had ended has work to do again.
    await handle.release(isBack ? { isOver: false } : undefined);
  }
}

function findTarget(log: RunLog, to: string): { seq: number; what: string } | undefined {
  const checkpoint = log.checkpoints.findLast(({ record }) => record.id === to || record.label === to);
  if (checkpoint) return { seq: checkpoint.seq, what: `checkpoint ${checkpoint.record.id}` };
  const step = log.steps.get(to);
  if (step) return { seq: step.seq - 1, what: `before step ${to}` };
  const question = log.approvals.get(to) ?? [...log.approvals.values()].find(({ id }) => id === to);
  return question && { seq: question.seq - 1, what: `before question ${question.path}` };
}

/** The command line of the last process that worked at the run, and its directory. */
export async function findCommand(
  store: DurableStore,
  id: string,
): Promise<{ command: string[]; cwd: string } | undefined> {
  const { records } = await store.read(id);
  const last = new RunLog(records, new RecordCodec({})).opens.at(-1);
  return last?.command && { command: last.command, cwd: last.cwd };
}
