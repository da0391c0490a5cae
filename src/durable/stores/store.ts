/**
 * The interface of a store of durable runs: a log of records for each run, to which one worker at a time may add, and the
 * answers to its questions. A store does not interpret the records. There are two implementations, file-store.ts and
 * postgres-store.ts; README.md describes how to write another one, and `test/durable/stores/store-conformance.ts` tests what it must
 * guarantee.
 */
import type { QueueLimits } from './queue-limits.ts';

export type MaybePromise<Value> = Value | Promise<Value>;

export interface StoredRecord {
  /** Counts the run's records from 0. May have gaps, and always increases. */
  seq: number;
  /** One of the journal's `recordKinds`, 64–95. */
  kind: number;
  /** Milliseconds since 1970, UTC. */
  atMs: number;
  payload: Uint8Array;
}

/** What a store needs to know of a run to find it when there is work to do. */
export interface RunTitle {
  /** Name of the program that runs it. */
  name?: string;
  /** Higher ones are taken first. Default: 0. */
  priority?: number;
  /** Only workers that declare this queue take it, within their limits. */
  queue?: string;
  queueKey?: string;
  /** The opener works at it now: if that worker dies, the run is due at once. */
  isWork?: boolean;
  /** For a new run: not due before, whatever is sent to it. */
  dueAtMs?: number;
}

/** The state of a run that no process works at. */
export interface RunRest {
  /** It has ended: no worker takes it. */
  isOver: boolean;
  /** Milliseconds since 1970: not due before. `never`: not before an answer. Absent: at once. */
  dueAtMs?: number | 'never';
  /** No answer makes it due before `dueAtMs`: it waits only for the time. */
  isFirm?: boolean;
  /**
   * The return value of the handle's `mark`: if an answer was stored since, the run is due at once. Only passed for a run that
   * waits, and that therefore continues when it is taken again.
   */
  mark?: string;
}

export interface DueRun {
  id: string;
  /** Absent if the run was started by an older release. */
  name?: string;
}

/** A run that was taken. Without a handle it is only due, and must be opened. */
export interface TakenRun extends DueRun {
  handle?: RunHandle;
  /** It is the turn of this run of a queue, but it can't be taken. */
  error?: unknown;
}

/** Which due runs a worker wants. */
export interface DueWish {
  names: readonly string[];
  most: number;
  /** Ids of runs that it does not want now. */
  except: readonly string[];
  /** The record with which a process begins its work, added to the runs that were queued and never taken. */
  opening: { kind: number; payload: string | Uint8Array };
}

/** Which due runs of queues a worker wants, and the limits of those queues. */
export interface QueueWish extends DueWish {
  queues: Readonly<Record<string, QueueLimits>>;
}

export interface TakenFromQueues {
  runs: TakenRun[];
  /** Only a rate stands in the way of more runs, and allows the next one after about this time. */
  againMs?: number;
}

/** A run that this process holds. */
export interface RunHandle {
  /** How often the run was taken. A holder with a lower epoch than the store's can't add records any more. */
  readonly epoch: number;
  /** All records that were acknowledged before, in order. */
  readonly records: readonly StoredRecord[];
  /** Optional: false if the store had no answer for the run, and so no cancellation, when it was taken. */
  readonly hasAnswers?: boolean;
  /** Optional: the opening that was passed to `takeDue` was added, and is not in `records`. */
  readonly isOpened?: boolean;
  /** What was left out of `records` and why, for the user: torn tails, damage. */
  readonly notes: readonly string[];
  /** Optional: the number of the first record of each gap that damage has left between `records`. */
  readonly gaps?: readonly number[];
  /**
   * Adds a record and returns its number. Once it has returned, or its promise is resolved, the death of the process can't
   * lose the record; with `sync` a power failure can't either. Throws `held` if another process has taken the run over,
   * `unwritable` if the store can't store it. `last` is passed with the run's last record: the state that `release` will be
   * called with in any case. A store may apply it at once.
   */
  append(kind: number, payload: string | Uint8Array, sync: boolean, last?: RunRest): MaybePromise<number>;
  /**
   * Optional: runs the code path of `append` and stores nothing, so that the first records of a process are as fast as later
   * ones.
   */
  rehearse?(kind: number, payload: string | Uint8Array): void;
  /** Optional: calls `tell` once, with `held`, if the loss of the run is detected between two records. */
  onLost?(tell: (error: Error) => void): void;
  /**
   * Optional: identifies which answers the store has for the run now, for the `RunRest` of a run that waits. It is called
   * before the last look for answers, so that no death of any process leaves an answered run waiting. Without it there is
   * another look after `release`.
   */
  mark?(): MaybePromise<string>;
  /** Releases the run; others can take it at once. Without `rest` its due time is unchanged. */
  release(rest?: RunRest): MaybePromise<void>;
}

export interface RunReading {
  records: readonly StoredRecord[];
  notes: readonly string[];
  /** A description of the process that works at it now; absent if there is none. */
  holder?: string;
}

export interface DurableStore {
  /** The location of the store, for messages. */
  readonly place: string;
  /** Takes the run, and creates it if it does not exist. Throws `held` if a living worker has it. */
  open(runId: string, title?: RunTitle): MaybePromise<RunHandle>;
  /** Reads without taking. Throws `not-found`. */
  read(runId: string): MaybePromise<RunReading>;
  list(): MaybePromise<string[]>;
  /** Stores an answer, and makes the run due unless its rest is firm. False if there is an answer already. */
  answer(runId: string, path: string, payload: Uint8Array): MaybePromise<boolean>;
  findAnswer(runId: string, path: string): MaybePromise<Uint8Array | undefined>;
  /**
   * Optional: runs of these names that are due, have no queue and no holder and have not ended, the most urgent first.
   * Concurrent callers get different runs. Without it a worker reads every run of `list`. `againMs`: a run that nobody takes
   * is not found again before, unless it is answered.
   */
  findDue?(names: readonly string[], most: number, againMs?: number): MaybePromise<DueRun[]>;
  /** Optional, instead of `findDue`: also takes them, as `open` would, several in one call. */
  takeDue?(wish: DueWish): MaybePromise<TakenRun[]>;
  /**
   * Optional: takes runs of queues, as `takeDue` does, and never more than the limits permit, whichever processes call this at
   * the same time. Of the runs that are due, those that continue after a wait come first. Without it runs can't be queued with
   * a queue.
   */
  takeQueued?(wish: QueueWish): MaybePromise<TakenFromQueues>;
  /**
   * Optional: creates a run without a holder, with its first record and the due time of its title. False if there is a run
   * with this id already, in any state. Without it the run is opened, started and released.
   */
  enqueue?(runId: string, title: RunTitle, kind: number, payload: string | Uint8Array): MaybePromise<boolean>;
  /**
   * Optional, called once a minute: runs that `findDue` does not know, such as those of an older release, or does not know to
   * be due, such as when an answering process died.
   */
  findUnlisted?(): MaybePromise<string[]>;
  /** Required with `findDue`: sets the state of a run that has no holder; does nothing for one that is held. */
  rest?(runId: string, rest: RunRest): MaybePromise<void>;
  /**
   * Optional: reports runs that became due or were answered, until the returned function is called; without an id if the id
   * is too long for a notification. May miss some.
   */
  watch?(tell: (runId?: string) => void): () => void;
  close(): MaybePromise<void>;
}
