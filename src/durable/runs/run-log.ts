/**
 * The state of a run that results from its records: its steps with their outcomes, by scope, its versions, approvals,
 * checkpoints. A fold over the records, used by the engine and by the commands that only inspect. Values remain encoded until
 * they are read.
 */
import { recordKinds } from '../../journal/layout/records.ts';
import type { RecordCodec } from '../records/codec.ts';
import type {
  ApprovalRecord,
  CheckpointRecord,
  QueueFacts,
  RunEnd,
  RunRecord,
  RunRetry,
  SealFacts,
  StepRecord,
  ValueRecord,
} from '../records/layout.ts';
import { positionOf } from '../steps/call-position.ts';
import { scopeOf } from '../steps/step-path.ts';
import type { StoredRecord } from '../stores/store.ts';
import {
  type ApprovalEntry,
  awaitsOf,
  type CheckpointEntry,
  hasEnded,
  newEntry,
  type Piece,
  type ScopeLog,
  type StepEntry,
} from './log-entries.ts';

export type OpenFacts = Extract<RunRecord, { event: 'open' }>;
type Opening = OpenFacts & { atMs: number };

export class RunLog {
  name: string | undefined;
  schema: number | undefined;
  seal: SealFacts | undefined;
  beganAtMs = 0;
  retry: RunRetry | undefined;
  queue: QueueFacts | undefined;
  /** It was begun for workers that have its program. */
  isQueued = false;
  /** The run that started it and waits for it. */
  parent: string | undefined;
  readInput: () => unknown = () => undefined;
  /** How often the run has ended as failed. */
  failures = 0;
  lastAtMs = 0;
  lastSeq = -1;
  opens: Opening[] = [];
  /** How often it was resumed since the last record of completed work, without the resumes that were left again. */
  opensWithoutProgress = 0;
  /** How many of those resumes were left again because the program was another one. */
  leftWithoutProgress = 0;
  /** The last record besides those of processes that opened it and have left it. */
  lastWorkSeq = -1;
  ended: { status: RunEnd; atMs: number; readValue: () => unknown; of: number[] } | undefined;
  readonly scopes = new Map<string, ScopeLog>();
  readonly steps = new Map<string, StepEntry>();
  readonly versions = new Map<string, boolean>();
  readonly approvals = new Map<string, ApprovalEntry>();
  /**
   * By path, hashes of the inputs with which steps were first started, including given-up tries and records before rollbacks.
   */
  readonly firstInputs = new Map<string, string>();
  readonly checkpoints: CheckpointEntry[] = [];
  /** Pieces of checkpoints, by hash. */
  readonly pieces = new Map<string, Piece>();
  readonly damaged: string[] = [];
  /** Numbers of lost records about the run's course; of a gap, the first. Those that a rollback has voided don't count. */
  readonly lost: number[] = [];
  /** Numbers of lost start records, known by the ends of their steps. */
  readonly lostStarts: number[] = [];
  readonly #bySeq = new Map<number, StepEntry>();
  readonly #codec: RecordCodec;

  constructor(records: readonly StoredRecord[], codec: RecordCodec, gaps: readonly number[] = []) {
    this.#codec = codec;
    const isVoid = findRolledBack(records, codec);
    this.lost.push(...gaps.filter((seq) => !isVoid(seq)));
    for (const record of records)
      if (isVoid(record.seq)) this.#tryNoteVoid(record);
      else this.#tryAdd(record);
  }

  scope(path: string): ScopeLog {
    let scope = this.scopes.get(path);
    if (!scope) {
      scope = { entries: [], isParallel: false, open: new Set(), cursor: 0 };
      this.scopes.set(path, scope);
    }
    return scope;
  }

  /** A record that can't be read is reported, and the rest is still read. */
  #tryAdd(record: StoredRecord): void {
    try {
      this.#add(record);
    } catch (error) {
      this.damaged.push(`record ${record.seq}: ${(error as Error).message}`);
      if (!isOfCheckpoint(record)) this.lost.push(record.seq);
    }
    this.lastSeq = record.seq;
    this.lastAtMs = record.atMs;
  }

  #tryNoteVoid({ kind, payload }: StoredRecord): void {
    if (kind !== recordKinds.durableStep) return;
    try {
      const { facts } = this.#codec.decode<StepRecord>(payload);
      if (facts.event === 'start') this.#noteInput(facts);
    } catch {
      // It was void, so its contents don't matter.
    }
  }

  #noteInput({ path, input }: { path: string; input?: string }): void {
    if (input !== undefined && !this.firstInputs.has(path)) this.firstInputs.set(path, input);
  }

  #add({ seq, kind, atMs, payload }: StoredRecord): void {
    if (kind < recordKinds.durableRun || kind > recordKinds.durableCheckpoint) return;
    const { facts, readValue } = this.#codec.decode<unknown>(payload);
    if (kind !== recordKinds.durableRun || !isVisit(facts as RunRecord)) this.lastWorkSeq = seq;
    if (kind === recordKinds.durableStep) this.#addStep(facts as StepRecord, seq, atMs, readValue);
    else if (kind === recordKinds.durableRun) this.#addRun(facts as RunRecord, atMs, readValue);
    else if (kind === recordKinds.durableValue) this.#addPiece(facts as ValueRecord, readValue);
    else if (kind === recordKinds.durableCheckpoint)
      this.checkpoints.push({ seq, record: facts as CheckpointRecord });
    else this.#addApproval(facts as ApprovalRecord, seq, atMs, readValue);
  }

  #addPiece({ hash, list, level }: ValueRecord, readValue: () => unknown): void {
    this.pieces.set(hash, list ? { list, level: level ?? 0 } : { readValue });
  }

  #addRun(facts: RunRecord, atMs: number, readValue: () => unknown): void {
    switch (facts.event) {
      case 'begin':
        this.name = facts.name;
        this.schema = facts.schema;
        this.seal = facts.seal;
        this.beganAtMs = atMs;
        this.retry = facts.retry;
        this.queue = facts.queue;
        this.isQueued = facts.queued === true;
        this.parent = facts.parent;
        if (facts.input) this.readInput = readValue;
        break;
      case 'open':
        this.reopen();
        this.opens.push({ ...facts, atMs });
        this.opensWithoutProgress++;
        break;
      case 'end':
        this.ended = { status: facts.status, atMs, readValue, of: facts.of ?? [] };
        if (facts.status === 'failed') this.failures++;
        break;
      case 'left':
        if (this.leftWithoutProgress++ < mostLeft)
          this.opensWithoutProgress = Math.max(0, this.opensWithoutProgress - 1);
        break;
      case 'version':
        this.versions.set(joinVersion(facts.scope, facts.name), facts.taken);
    }
  }

  /** Voids the failures that ended the run: a process that resumes it retries those steps, and waits again. */
  reopen(): void {
    for (const entry of this.approvals.values())
      if (this.isVoid(entry))
        Object.assign(entry, { readAnswer: undefined, answerSeq: -1, isAborted: false });
    for (const seq of this.ended?.of ?? []) {
      const entry = this.#bySeq.get(seq);
      if (entry?.state !== 'failed') continue;
      entry.state = entry.doubt ?? 'void';
      entry.failures = 0;
    }
    this.ended = undefined;
    for (const scope of this.scopes.values()) scope.open.clear();
  }

  /** Calling this wait off ended the run: whoever resumes it waits again. */
  isVoid({ isAborted, seq }: ApprovalEntry): boolean {
    return isAborted === true && this.ended?.of.includes(seq) === true;
  }

  #addStep(facts: StepRecord, seq: number, atMs: number, readValue: () => unknown): void {
    if (facts.event === 'start') {
      this.#start(facts, seq, atMs);
      return;
    }
    const entry = this.#bySeq.get(facts.of);
    if (!entry) {
      this.lostStarts.push(facts.of);
      throw new Error(`there is no step ${facts.of}`);
    }
    if (facts.event === 'spent') entry.spent.push(facts);
    if (facts.event !== 'end') return;
    entry.state = facts.status;
    entry.endedAtMs = atMs;
    if (facts.status !== 'retrying' && !hasEnded(entry)) entry.endSeq = seq;
    entry.reason = facts.reason;
    entry.doubt = facts.doubt;
    if (facts.spent) entry.spent.push(facts.spent);
    entry.readOutcome = readValue;
    // Between two tries it is still running.
    if (facts.status === 'retrying') entry.failures++;
    else this.scopes.get(scopeOf(entry.path))?.open.delete(entry);
    this.#noteProgress();
  }

  #noteProgress(): void {
    this.opensWithoutProgress = 0;
    this.leftWithoutProgress = 0;
  }

  #start(facts: Extract<StepRecord, { event: 'start' }>, seq: number, atMs: number) {
    const { path, kind, input, captured, shared, isOnMainLine = false, attempt, isRefused } = facts;
    this.#noteInput(facts);
    if (this.steps.get(path)?.state === 'retrying') this.forgetBelow(path);
    const scope = this.scope(scopeOf(path));
    let entry = this.steps.get(path);
    if (!entry) {
      entry = newEntry(path, kind, seq);
      this.steps.set(path, entry);
      scope.entries.push(entry);
    }
    scope.open.add(entry);
    if (scope.open.size > 1) scope.isParallel = true;
    entry.state = isRefused ? 'void' : 'started';
    entry.input = input;
    entry.captured = captured;
    entry.isOnMainLine = isOnMainLine;
    if (shared) entry.shared = shared;
    entry.position = positionOf(facts);
    if (!isRefused) entry.attempts = Math.max(entry.attempts + 1, attempt ?? 1);
    entry.startedAtMs = atMs;
    entry.reason = undefined;
    this.#bySeq.set(seq, entry);
  }

  #addApproval(facts: ApprovalRecord, seq: number, atMs: number, readValue: () => unknown): void {
    if (facts.event === 'asked') {
      const { path, id, input } = facts;
      this.approvals.set(path, {
        seq,
        path,
        id,
        input,
        position: positionOf(facts),
        isOnMainLine: facts.isOnMainLine ?? false,
        askedAtMs: atMs,
        awaits: awaitsOf(facts),
        readRequest: readValue,
        answerSeq: -1,
        isClaimed: false,
      });
      return;
    }
    // A process that reached its question has made progress.
    this.#noteProgress();
    if (facts.event === 'waits') return;
    for (const entry of this.approvals.values())
      if (entry.seq === facts.of) {
        entry.readAnswer = readValue;
        entry.answerSeq = seq;
        entry.answeredAtMs = atMs;
        if (facts.event === 'answered') entry.slot = facts.slot;
        else entry.isAborted = true;
      }
  }

  /** Number of the signal of this name that the next wait receives. */
  nextSignal(name: string): number {
    const taken = this.takenSignals(name);
    for (let slot = 0; ; slot++) if (!taken.has(slot)) return slot;
  }

  /** By signal number, the paths of the waits that received them. */
  takenSignals(name: string): Map<number, string> {
    const taken = new Map<number, string>();
    for (const { awaits, slot, path } of this.approvals.values())
      if (awaits?.signal === name && slot !== undefined) taken.set(slot, path);
    return taken;
  }

  /** Forgets what a given-up try of the step has recorded: the next one does it again. */
  forgetBelow(path: string): void {
    const isBelow = (other: string) => other.startsWith(`${path}/`);
    for (const scope of this.scopes.keys()) if (scope === path || isBelow(scope)) this.scopes.delete(scope);
    for (const step of this.steps.keys()) if (isBelow(step)) this.steps.delete(step);
    for (const question of this.approvals.keys()) if (isBelow(question)) this.approvals.delete(question);
  }
}

/**
 * After so many resumes by processes with another program, each further one counts like any other (`maxResumes`): maybe there is
 * no process with the right one any more. More than the workers of a deployment.
 */
const mostLeft = 300;

/** Checkpoints are validated by themselves, and an older one is used instead. */
const isOfCheckpoint = ({ kind }: StoredRecord) =>
  kind === recordKinds.durableValue || kind === recordKinds.durableCheckpoint;

const isVisit = ({ event }: RunRecord) => event === 'open' || event === 'left';

/** It ended permanently: callers receive the recorded end. */
export function isSettledRun({ ended }: RunLog): boolean {
  return ended?.status === 'finished' || ended?.status === 'cancelled';
}

/** No worker has to continue it. A run without a first record was never promised to anyone. */
export function isOverForWorkers(log: RunLog): boolean {
  if (log.name === undefined) return true;
  return log.ended !== undefined && !(log.ended.status === 'failed' && hasTriesLeft(log));
}

export function hasTriesLeft({ retry, failures }: Pick<RunLog, 'retry' | 'failures'>): boolean {
  return failures < (retry?.attempts ?? 1);
}

const longestRetryMs = 3_600_000;

/** Milliseconds from the run's last failure until a worker may restart it. */
export function retryPause(retry: RunRetry | undefined, failures: number): number {
  return Math.min((retry?.delayMs ?? 1_000) * 2 ** (failures - 1), longestRetryMs);
}

export function joinVersion(scope: string, name: string): string {
  return `${scope}\n${name}`;
}

/** Returns whether a record was voided by a rollback. A rollback may void an earlier rollback together with its effect. */
function findRolledBack(records: readonly StoredRecord[], codec: RecordCodec): (seq: number) => boolean {
  const ranges: { after: number; before: number }[] = [];
  for (const { seq, kind, payload } of records) {
    if (kind !== recordKinds.durableRun) continue;
    try {
      const { facts } = codec.decode<RunRecord>(payload);
      if (facts.event === 'rollback') ranges.push({ after: facts.to, before: seq });
    } catch {
      // Reported when the record itself is read.
    }
  }
  return (seq) => ranges.some(({ after, before }) => seq > after && seq < before);
}
