/** Options of durable runs and steps, and the objects that are passed to their functions. Types and defaults only. */
import type { RunOptions, StepOptions, ToolOptions, Work } from '../agent/api/api.ts';
import type { Mask } from '../agent/calls/masks.ts';
import type { CheckpointContents, CheckpointPlan, RestoredCheckpoint } from './records/checkpoint.ts';
import type { RunRetry, Spent } from './records/layout.ts';
import type { DurableStore, MaybePromise } from './stores/store.ts';

/** What a step does to the outside world. */
export interface Effect {
  /**
   * The same for every try of this step of this run: pass it on as an idempotency key. It differs if the next try of an
   * enclosing step, or a rollback, calls the step with a different input.
   */
  readonly key: string;
}

export interface DoubtfulEffect extends Effect {
  run: string;
  path: string;
  name: string;
  startedAt: Date;
  attempts: number;
  /** Why it is in doubt: interrupted, aborted, or its value could not be stored. */
  because: string;
}

/** Reports whether the effect took place: `{ result }` if it did, undefined if it did not. */
export type EffectCheck = (effect: DoubtfulEffect) => MaybePromise<{ result: unknown } | undefined>;

/** How to handle a step that was started and whose end is not known. */
export type DoubtPolicy = 'retry' | 'skip' | 'ask' | EffectCheck | { check: EffectCheck };

export interface RetryPolicy {
  /** Total number of tries, across all processes. */
  attempts: number;
  /** Pause after the first failure; each further one is `factor` times as long, up to `maxDelayMs`. */
  delayMs?: number;
  factor?: number;
  maxDelayMs?: number;
  /** Which failures are retried. Default: all. */
  when?: (error: unknown) => boolean;
}

export type ResultClass = abstract new (...given: never[]) => unknown;

export interface DurableStepOptions extends StepOptions {
  /**
   * The input of the step. A hash of it is recorded: if a resume calls the step with a different input, the program has
   * changed. For a tool call the default is its arguments; set this to a stable substitute if they differ between processes.
   */
  input?: unknown;
  /** Identifies the step instead of its ordinal among the steps of its name; for steps whose order may change. */
  key?: string;
  /**
   * The class of its result, or several. A step whose result could not be stored is then refused before it starts.
   */
  returns?: ResultClass | readonly ResultClass[];
  inDoubt?: DoubtPolicy;
  retry?: RetryPolicy;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** false: the step runs every time, and nothing of it is recorded. */
  durable?: boolean;
}

export type DurableToolOptions = DurableStepOptions & ToolOptions;

/** Passed to a step's function. Outside of a durable run: one try, and a unique key. */
export interface DurableWork extends Work {
  readonly attempt: number;
  /** An earlier try was started, and its end is not known. */
  readonly inDoubt: boolean;
  readonly effect: Effect;
  readonly signal: AbortSignal;
  /** Records the cost of this step so far; may be called more than once. */
  spent(cost: Spent): void;
}

/** Passed to a durable run's function. */
export interface DurableRunWork extends Work {
  /** 1 for the first process that works at it. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** The last valid checkpoint of an earlier process. */
  readonly restored: RestoredCheckpoint | undefined;
  /** The input that the run was started with, from `input` or `enqueueRun`. */
  readonly input: unknown;
}

export interface DurableRunOptions extends RunOptions {
  /** The permanent id of the run: a call with the same id resumes it where it ended. */
  id?: string;
  durable: true;
  /** Stored when the run begins; every later process of the run receives the stored value. */
  input?: unknown;
  /** Stored when the run begins: workers restart the run if it fails. Default: they don't. */
  retry?: RunRetry;
  /** Default: the store of AGENTDUMP_RUN_STORE, a PostgreSQL URL; without it, files below `dir`. */
  store?: DurableStore;
  /** The dump folder. Default: AGENTDUMP_DIR or ./.agentdump. */
  dir?: string;
  /** Encrypts all values: 32 bytes, in hexadecimal or base64. Default: AGENTDUMP_RUN_KEY. */
  key?: string | Uint8Array;
  /** Values that look like secrets may be stored unencrypted, in files that only the owner can read. */
  plain?: boolean;
  /**
   * Without a key: such a value is an error of its step (`refuse`), or it is not stored and the step is in doubt at a resume
   * (`forget`).
   */
  secrets?: 'refuse' | 'forget';
  /**
   * none: records survive the death of the process. step: every record survives a power failure, and is waited for.
   * checkpoint: the records up to a checkpoint do. Unless it is `step`, a store over a network writes the end of a step
   * together with the start of the next one.
   */
  fsync?: 'none' | 'step' | 'checkpoint';
  /** For steps without a policy of their own. Default: retry. */
  inDoubt?: DoubtPolicy;
  /**
   * What may differ in the inputs of steps and child runs between the processes of the run: times, ids, or what a pattern
   * matches. Requests of questions are never masked, because an answer applies to what was shown.
   */
  masks?: readonly Mask[];
  /** loose: steps that are called in another order than recorded don't count as a change of the program. Default: strict. */
  shape?: 'strict' | 'loose';
  /** Aborts the run; it can be resumed later. */
  signal?: AbortSignal;
  checkpoints?: CheckpointPlan;
  /** The host's version number for the format of its checkpoints. Default: 1. */
  schema?: number;
  /** Converts a checkpoint of an older schema to `schema`. */
  upgrade?: (parts: CheckpointContents, from: number) => CheckpointContents;
  /** Gives up after this many resumes in a row without a completed step. Default: 10. */
  maxResumes?: number;
  /** Receives the lines that are addressed to a person. Default: stderr. */
  notify?: (line: string) => void;
}

export const defaultMaxResumes = 10;
