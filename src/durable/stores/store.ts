/**
 * What a store of durable runs is: a log of records for each run, that one worker at a time may add to, and a place for
 * answers. It knows nothing of what the records say. Two of them are here, file-store.ts and postgres-store.ts;
 * README.md says how to write a third, and `test/durable/store-conformance.ts` what it must hold.
 */
export type MaybePromise<Value> = Value | Promise<Value>;

export interface StoredRecord {
  /** Counts the run's records from 0; it may jump, and never goes back. */
  seq: number;
  /** One of the journal's `recordKinds`, 64–95. */
  kind: number;
  /** Milliseconds since 1970, UTC. */
  atMs: number;
  payload: Uint8Array;
}

/** What a store keeps of a run so that it is found when there is something to do. */
export interface RunTitle {
  /** Name of the program that goes on with it. */
  name?: string;
  /** Higher ones are taken first. Default: 0. */
  priority?: number;
  /** It is gone on with now: should its worker die, it is due at once. */
  isWork?: boolean;
  /** Of one that is new: not before, whatever is sent to it. */
  dueAtMs?: number;
}

/** What becomes of a run that nobody works at. */
export interface RunRest {
  /** It has ended: no worker takes it up. */
  isOver: boolean;
  /** Milliseconds since 1970: nothing is to be done before. `never`: before an answer comes. Absent: at once. */
  dueAtMs?: number | 'never';
  /** No answer makes it due before `dueAtMs`: it waits for the time alone. */
  isFirm?: boolean;
  /** What `mark` of the handle gave: when an answer was kept since, the run is due at once. */
  mark?: string;
}

export interface DueRun {
  id: string;
  /** Absent where it was begun by an older release. */
  name?: string;
}

/** A run that was taken; without a handle it is only due, and to be opened. */
export interface TakenRun extends DueRun {
  handle?: RunHandle;
}

/** What a worker wants of what is due. */
export interface DueWish {
  names: readonly string[];
  most: number;
  /** Ids of runs that it does not want now. */
  except: readonly string[];
  /** The record by which somebody's work begins, added to those runs that were queued and never taken. */
  opening: { kind: number; payload: string | Uint8Array };
}

/** A run in somebody's hands. */
export interface RunHandle {
  /** Counts the times that the run was taken: whoever bears a lower one than the store knows can add nothing more. */
  readonly epoch: number;
  /** Everything that was acknowledged before, in its order. */
  readonly records: readonly StoredRecord[];
  /** Optional: false when the store had no answer of the run when it was taken, and so no cancellation. */
  readonly hasAnswers?: boolean;
  /** Optional: the opening that `takeDue` was given was added, and is not among `records`. */
  readonly isOpened?: boolean;
  /** What was left out of `records` and why, for the user to read: torn tails, damage. */
  readonly notes: readonly string[];
  /**
   * Adds a record and gives its number. Once it returned (or, if it is a promise, once that resolved) no death of the
   * process can lose the record; with `sync` no power cut either. Throws `held` when somebody else has taken the run
   * over, `unwritable` when the store can't keep it.
   * `last` of the run's last record: how the run rests from now on, as `release` is told afterwards in any case. A store may do
   * that at once.
   */
  append(kind: number, payload: string | Uint8Array, sync: boolean, last?: RunRest): MaybePromise<number>;
  /** Optional: goes the way of `append` and keeps nothing, so that the first records of a life are as fast as later ones. */
  rehearse?(kind: number, payload: string | Uint8Array): void;
  /** Optional: calls `tell` once, with `held`, when it is seen between two records that somebody else has taken the run. */
  onLost?(tell: (error: Error) => void): void;
  /**
   * Optional: which answers the store has of the run now, for the `RunRest` of a run that waits. Asked for before the last look
   * for answers, so that no death of anybody leaves an answered run waiting. Without it there is a look after `release`.
   */
  mark?(): MaybePromise<string>;
  /** Lets go: anybody may take the run at once. Without `rest` it is due when it was before. */
  release(rest?: RunRest): MaybePromise<void>;
}

export interface RunReading {
  records: readonly StoredRecord[];
  notes: readonly string[];
  /** Who works at it now, in words; absent when nobody does. */
  holder?: string;
}

export interface DurableStore {
  /** Where it is, for people. */
  readonly place: string;
  /** Takes the run, which is made when absent. Throws `held` when a living worker has it. */
  open(runId: string, title?: RunTitle): MaybePromise<RunHandle>;
  /** Looks without taking. Throws `not-found`. */
  read(runId: string): MaybePromise<RunReading>;
  list(): MaybePromise<string[]>;
  /** Keeps an answer, and makes the run due if its rest is not firm; false when there is one already. */
  answer(runId: string, path: string, payload: Uint8Array): MaybePromise<boolean>;
  findAnswer(runId: string, path: string): MaybePromise<Uint8Array | undefined>;
  /**
   * Optional: runs of these names that are due, that nobody holds and that have not ended, the most urgent first. Each is
   * given to one of those who ask at the same time. Without it a worker reads every run of `list`.
   */
  findDue?(names: readonly string[], most: number): MaybePromise<DueRun[]>;
  /** Optional, in place of `findDue`: takes them too, as `open` would, several in one go. */
  takeDue?(wish: DueWish): MaybePromise<TakenRun[]>;
  /**
   * Optional: makes a run with its first record, which nobody holds; due as its title says. False when there is one of this id, whatever
   * became of it. Without it the run is opened, begun and released.
   */
  enqueue?(runId: string, title: RunTitle, kind: number, payload: string | Uint8Array): MaybePromise<boolean>;
  /**
   * Optional, asked for once a minute: runs that `findDue` does not know, as an older release left them, or does not know to be
   * due, as the death of whoever answered left them.
   */
  findUnlisted?(): MaybePromise<string[]>;
  /** Goes with `findDue`: for a run that nobody holds; nothing happens to one that somebody does. */
  rest?(runId: string, rest: RunRest): MaybePromise<void>;
  /**
   * Optional: tells of runs that became due or were answered, until the returned function is called; without an id of one whose
   * id its news can't bear. May miss some.
   */
  watch?(tell: (runId?: string) => void): () => void;
  close(): MaybePromise<void>;
}
