/**
 * One run's story for a person: the processes that worked at it, its steps and waits in the order in which they were called, and what
 * is to be done next. Texts are redacted; requests and errors of a sealed run need its key.
 */
import { quoteWords } from '../platform/paths.ts';
import { type RunSummary, readRun, type WaitingQuestion } from './inspect.ts';
import type { Answer, StepKind } from './records/layout.ts';
import type { ApprovalEntry, StepEntry } from './runs/log-entries.ts';
import { processPolicy } from './runs/process-policy.ts';
import type { OpenFacts } from './runs/run-log.ts';
import { isInDoubt } from './steps/in-doubt.ts';
import type { DurableStore } from './stores/store.ts';

export interface RunStory extends RunSummary {
  /** With which it ended. */
  error?: string;
  lives: (Pick<OpenFacts, 'pid' | 'host' | 'node' | 'cwd'> & { at: string; command?: string[] })[];
  course: (StoryStep | StoryWait)[];
  /** What a person can do now, a sentence or a command each. */
  next: string[];
}

export interface StoryStep {
  path: string;
  kind: StepKind;
  /**
   * in doubt: it has started, and may have had its effect. again: it is run again when the run is resumed. open: a nested run that has not
   * ended, and goes on with the steps that it has not done. called off: it has not ended, and the run is over.
   */
  state: 'finished' | 'failed' | 'skipped' | 'running' | 'in doubt' | 'again' | 'open' | 'called off';
  startedAt: string;
  /** Of its last try, from its start to its end. */
  durationMs?: number;
  attempts: number;
  error?: string;
  /** Why it is in doubt. */
  because?: string;
}

export interface StoryWait {
  path: string;
  kind: 'approval' | 'signal' | 'sleep' | 'child';
  /** answered: an answer is there, and the program has not got it yet. */
  state: 'waiting' | 'answered' | 'over' | 'called off';
  startedAt: string;
  durationMs?: number;
  id?: string;
  request?: unknown;
  /** Of an approval: what a person has decided. */
  approved?: boolean;
  by?: string;
  until?: string;
  /** The child's id. */
  run?: string;
  signal?: string;
}

/** Throws `not-found`. */
export async function tellRun(store: DurableStore, id: string): Promise<RunStory> {
  const { log, summary } = await readRun(store, id);
  const entries = [...log.steps.values(), ...log.approvals.values()].sort((a, b) => a.seq - b.seq);
  const error = log.ended && log.ended.status !== 'finished' ? messageOf(log.ended.readValue) : undefined;
  return {
    ...summary,
    ...(error !== undefined && { error }),
    lives: log.opens.map(({ pid, host, node, cwd, command, atMs }) => ({
      at: isoTime(atMs),
      pid,
      host,
      node,
      cwd,
      ...(command && { command }),
    })),
    course: entries.map((entry) =>
      'state' in entry ? describeStep(entry, summary) : describeWait(entry, summary),
    ),
    next: nextOf(summary),
  };
}

const isOverFor = ({ state }: RunSummary): boolean => state === 'finished' || state === 'cancelled';

function describeStep(entry: StepEntry, run: RunSummary): StoryStep {
  const { path, kind, attempts, startedAtMs, endedAtMs, reason, readOutcome } = entry;
  const state = stateOf(entry, run);
  const isOver = !['running', 'in doubt', 'open', 'called off'].includes(state) && endedAtMs >= startedAtMs;
  const hasError = entry.state === 'failed' || entry.state === 'retrying' || entry.state === 'void';
  const error = hasError ? messageOf(readOutcome) : undefined;
  return {
    path,
    kind,
    state,
    startedAt: isoTime(startedAtMs),
    ...(isOver && { durationMs: endedAtMs - startedAtMs }),
    attempts,
    ...(error !== undefined && { error }),
    ...(reason !== undefined && { because: reason }),
  };
}

function stateOf(entry: StepEntry, run: RunSummary): StoryStep['state'] {
  const { state, kind, path } = entry;
  if (state === 'finished' || state === 'failed' || state === 'skipped') return state;
  // A person is asked about a step in doubt at its path with a question mark.
  const isAsked = run.waitingFor.some((question) => question.path === `${path}?`);
  if (run.holder !== undefined && state !== 'void' && !isAsked) return 'running';
  if (isInDoubt(entry)) return 'in doubt';
  if (isOverFor(run)) return 'called off';
  return kind === 'run' && state === 'started' ? 'open' : 'again';
}

function describeWait(entry: ApprovalEntry, run: RunSummary): StoryWait {
  const { path, id, askedAtMs, answeredAtMs, awaits, readRequest, readAnswer, isAborted } = entry;
  const open = run.waitingFor.find((question) => question.path === path && question.id === id);
  const isCalledOff = isAborted || (!readAnswer && isOverFor(run));
  const kind = kindOf(entry);
  const answer = kind === 'approval' && readAnswer && !isAborted ? readSafely<Answer>(readAnswer) : undefined;
  const request = awaits ? undefined : redacted(readSafely(readRequest));
  return {
    path,
    kind,
    state: isCalledOff ? 'called off' : readAnswer ? 'over' : open?.answered ? 'answered' : 'waiting',
    startedAt: isoTime(askedAtMs),
    ...(answeredAtMs !== undefined && { durationMs: answeredAtMs - askedAtMs }),
    ...(id !== undefined && { id }),
    ...(request !== undefined && { request }),
    ...(answer && { approved: answer.approved, ...(answer.by && { by: answer.by }) }),
    ...(awaits?.untilMs !== undefined && { until: isoTime(awaits.untilMs) }),
    ...(awaits?.run !== undefined && { run: awaits.run }),
    ...(awaits?.signal !== undefined && { signal: awaits.signal }),
  };
}

function kindOf({ awaits }: ApprovalEntry): StoryWait['kind'] {
  if (!awaits) return 'approval';
  if (awaits.signal !== undefined) return 'signal';
  return awaits.run === undefined ? 'sleep' : 'child';
}

/** What has to happen so that the run goes on; empty if it has ended for good, or goes on by itself. */
function nextOf(run: RunSummary): string[] {
  const { id, name, state, holder, waitingFor, inDoubt, retryAt } = run;
  const goOn = `a worker of ${name} takes it up; without one: agentdump resume ${id}`;
  switch (state) {
    case 'queued':
      return [`a worker of ${name} begins it`];
    case 'retrying':
      return [`a worker of ${name} tries again from ${retryAt} on`];
    case 'running':
      return [`${holder} is at work`];
    case 'failed':
    case 'aborted':
      return [...doubtsOf(inDoubt), `agentdump resume ${id} tries again what failed, and keeps the rest`];
    case 'finished':
    case 'cancelled':
      return [];
    case 'interrupted':
      return [...doubtsOf(inDoubt), goOn];
    case 'waiting': {
      const open = waitingFor.filter(({ answered }) => !answered);
      const isDue = open.length < waitingFor.length;
      return [
        ...doubtsOf(inDoubt),
        ...open.map((question) => wayToAnswer(id, question)),
        ...(holder === undefined ? [isDue ? goOn : `then ${goOn}`] : []),
      ];
    }
  }
}

const doubtsOf = (paths: string[]) =>
  paths.map((path) => `${path} may have had its effect: its inDoubt decides when the run is resumed`);

function wayToAnswer(run: string, { path, id, signal, run: child, until }: WaitingQuestion): string {
  const over = until === undefined ? '' : `; its time is over at ${until}`;
  if (signal !== undefined) return `${quoteWords(['agentdump', 'signal', run, signal])}${over}`;
  if (child !== undefined) return `run ${child} has to end: agentdump runs ${child}`;
  if (until !== undefined) return `it sleeps until ${until}`;
  return `agentdump approve ${run} ${id ?? path}, or agentdump reject ${run} ${id ?? path}`;
}

function messageOf(read: () => unknown): string | undefined {
  const error = readSafely(read);
  if (error === undefined) return undefined;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return String(redacted(text));
}

/** Undefined if the key that it is sealed with is not available. */
function readSafely<Value>(read: () => unknown): Value | undefined {
  try {
    return read() as Value;
  } catch {
    return undefined;
  }
}

const redacted = (value: unknown): unknown =>
  value === undefined ? undefined : processPolicy().value(value);
const isoTime = (ms: number) => new Date(ms).toISOString();
