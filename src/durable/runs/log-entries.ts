/**
 * What is known of a run's steps, questions and checkpoints by its records: the entries of a RunLog. Values remain encoded
 * until they are read.
 */
import type { Awaits, CheckpointRecord, Doubt, Spent, StepEnd, StepKind } from '../records/layout.ts';
import type { CallPosition } from '../steps/call-position.ts';
import type { Captured } from '../steps/captured/captured.ts';
import type { OrderedEntry } from '../steps/ordered-entry.ts';
import { readLabel } from '../steps/step-path.ts';
import { latestMs } from '../stores/due-time.ts';

/**
 * started: its last record is a start. void: it has to be run (again), and is not in doubt: its failure ended the run, which was
 * resumed, or its call was refused and no end was recorded.
 */
export type StepState = 'started' | 'void' | StepEnd;

export interface StepEntry {
  /** Number of its first start record. */
  readonly seq: number;
  readonly path: string;
  readonly kind: StepKind;
  readonly word: string;
  readonly key: string | undefined;
  input: string | undefined;
  captured: Captured | undefined;
  /** Of what any call of this step captures: what all of them share and change. */
  shared: readonly string[];
  /** No other call can have been made at its position. Of calls with a capture; false in older records. */
  isOnMainLine: boolean;
  /** Undefined in older records, which have no positions. */
  position: CallPosition | undefined;
  state: StepState;
  attempts: number;
  failures: number;
  startedAtMs: number;
  endedAtMs: number;
  /**
   * Number of the record of its first end; -1 if there is none. Of a step that had ended and was run again, the further ends are
   * delivered to the program at that place, because it may have acted on the first one.
   */
  endSeq: number;
  reason: string | undefined;
  /** How it is in doubt, if its failure ends the run. */
  doubt: Doubt | undefined;
  spent: Spent[];
  readOutcome: () => unknown;
  /** The program of this process has called it. */
  isClaimed: boolean;
  held?: OrderedEntry['held'];
  deliveredAs?: number;
}

export interface ScopeLog {
  /** In the order of their first start. */
  readonly entries: StepEntry[];
  /** Some were running at the same time, so their order has no meaning. */
  isParallel: boolean;
  /** Those that are running, also between two tries. */
  readonly open: Set<StepEntry>;
  /** How many at the front are claimed. */
  cursor: number;
}

export interface ApprovalEntry {
  /** Number of the record that asked. */
  readonly seq: number;
  readonly path: string;
  /** Unique to the question: a later one with the same path has another id. Undefined in older records. */
  readonly id: string | undefined;
  /** Hash of the request; undefined if there is none. */
  readonly input: string | undefined;
  /** Undefined for the question about a step in doubt, and in older records. */
  readonly position: CallPosition | undefined;
  /** No other question can have been asked at its position. Of those with a request that were woken by time. */
  readonly isOnMainLine?: boolean;
  readonly askedAtMs: number;
  /** Undefined for a question to a person. */
  readonly awaits: Awaits | undefined;
  /** For a signal: its number. */
  slot?: number | undefined;
  readRequest: () => unknown;
  readAnswer?: (() => unknown) | undefined;
  /** The program called the wait off: its answer is the error. */
  isAborted?: boolean;
  /** Number of the record of its answer; -1 while there is none. */
  answerSeq: number;
  answeredAtMs?: number;
  isClaimed: boolean;
  held?: OrderedEntry['held'];
  deliveredAs?: number;
}

export type Piece = { list: string[]; level: number } | { readValue: () => unknown };

export interface CheckpointEntry {
  readonly seq: number;
  readonly record: CheckpointRecord;
}

/** Older records may contain times that no Date can hold, and null for an infinite one. */
export function awaitsOf({ signal, run, untilMs: recorded }: Awaits): Awaits | undefined {
  const untilMs = typeof recorded === 'number' ? Math.min(recorded, latestMs) : undefined;
  if (signal === undefined && run === undefined && untilMs === undefined) return undefined;
  return {
    ...(signal !== undefined && { signal }),
    ...(run !== undefined && { run }),
    ...(untilMs !== undefined && { untilMs }),
  };
}

export function newEntry(path: string, kind: StepKind, seq: number): StepEntry {
  const { word, key } = readLabel(path);
  return {
    seq,
    path,
    kind,
    word,
    key,
    input: undefined,
    captured: undefined,
    isOnMainLine: false,
    shared: [],
    position: undefined,
    state: 'started',
    attempts: 0,
    failures: 0,
    startedAtMs: 0,
    endedAtMs: 0,
    endSeq: -1,
    reason: undefined,
    doubt: undefined,
    spent: [],
    readOutcome: () => undefined,
    isClaimed: false,
  };
}

/**
 * Whether an end is recorded on which the program may have acted. Includes a step in doubt whose end was delivered to the host, and one
 * that was run again since.
 */
export function hasEnded({ endSeq }: StepEntry): boolean {
  return endSeq >= 0;
}
