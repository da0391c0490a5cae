/** What a host says of its durable runs and steps, and what their functions are given. Types and defaults only. */
import type { RunOptions, StepOptions, ToolOptions, Work } from '../agent/api/api.ts';
import type { CheckpointContents, CheckpointPlan, RestoredCheckpoint } from './records/checkpoint.ts';
import type { RunRetry, Spent } from './records/layout.ts';
import type { DurableStore, MaybePromise } from './stores/store.ts';

/** What a step does to the world outside. */
export interface Effect {
  /**
   * The same for every try of this step of this run: pass it on as an idempotency key. Another one where the next try of a step around
   * it, or a rollback, comes to it with another input.
   */
  readonly key: string;
}

export interface DoubtfulEffect extends Effect {
  run: string;
  path: string;
  name: string;
  startedAt: Date;
  attempts: number;
  /** Why it is in doubt: cut, aborted, or its value could not be kept. */
  because: string;
}

/** Whether the effect took place: `{ result }` when it did, undefined when it did not. */
export type EffectCheck = (effect: DoubtfulEffect) => MaybePromise<{ result: unknown } | undefined>;

/** What becomes of a step that had started and whose end is not known. */
export type DoubtPolicy = 'retry' | 'skip' | 'ask' | EffectCheck | { check: EffectCheck };

export interface RetryPolicy {
  /** Tries in all, over all processes. */
  attempts: number;
  /** Pause after the first failure; each further one is `factor` times as long, up to `maxDelayMs`. */
  delayMs?: number;
  factor?: number;
  maxDelayMs?: number;
  /** Which failures are worth another try; all by default. */
  when?: (error: unknown) => boolean;
}

export interface DurableStepOptions extends StepOptions {
  /**
   * What the step is given. Of it a hash is kept: a resume that asks for the step with another input has changed. For a
   * tool call these are its arguments; say here what stands for them if they differ from life to life.
   */
  input?: unknown;
  /** Names the step instead of its ordinal among those of its name: for steps whose order may change. */
  key?: string;
  inDoubt?: DoubtPolicy;
  retry?: RetryPolicy;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** false: runs every time, and nothing of it is recorded. */
  durable?: boolean;
}

export type DurableToolOptions = DurableStepOptions & ToolOptions;

/** What a step's function is given. Outside of a durable run: one try, a key that nobody else has. */
export interface DurableWork extends Work {
  readonly attempt: number;
  /** An earlier try had started, and its end is not known. */
  readonly inDoubt: boolean;
  readonly effect: Effect;
  readonly signal: AbortSignal;
  /** What this step has cost so far; may be called more than once. */
  spent(cost: Spent): void;
}

/** What a durable run's function is given. */
export interface DurableRunWork extends Work {
  /** 1 for the first process that works at it. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** The last good checkpoint of an earlier process. */
  readonly restored: RestoredCheckpoint | undefined;
  /** What the run was begun with, by `input` or by `enqueueRun`. */
  readonly input: unknown;
}

export interface DurableRunOptions extends RunOptions {
  /** The run's name for ever: who calls with it again goes on where it ended. */
  id?: string;
  durable: true;
  /** Kept when the run begins; every life of it is given that one. */
  input?: unknown;
  /** Kept when the run begins: workers begin a run again that has failed. Default: they don't. */
  retry?: RunRetry;
  /** Default: that of AGENTDUMP_RUN_STORE, a PostgreSQL URL; without it, files below `dir`. */
  store?: DurableStore;
  /** The dump folder. Default: AGENTDUMP_DIR or ./.agentdump. */
  dir?: string;
  /** Seals all values: 32 bytes, in hexadecimal or base64. Default: AGENTDUMP_RUN_KEY. */
  key?: string | Uint8Array;
  /** Values that look like secrets may be kept in the clear, in files that only the owner can read. */
  plain?: boolean;
  /** Without a key: such a value is an error at its step, or is not kept, and the step is in doubt at a resume. */
  secrets?: 'refuse' | 'forget';
  /**
   * none: survives the process; step: every record survives a power cut, and is waited for; checkpoint: those up to a checkpoint
   * do. Without `step` a store over a wire keeps the end of a step with the start of the next one.
   */
  fsync?: 'none' | 'step' | 'checkpoint';
  /** For steps that have no policy of their own. Default: retry. */
  inDoubt?: DoubtPolicy;
  /** loose: steps that are asked for in another order than recorded are no change of the program. Default: strict. */
  shape?: 'strict' | 'loose';
  /** Aborts the run; it can be taken up again. */
  signal?: AbortSignal;
  checkpoints?: CheckpointPlan;
  /** The host's number for the shape of its checkpoints. Default: 1. */
  schema?: number;
  /** Makes a checkpoint of an older schema one of `schema`. */
  upgrade?: (parts: CheckpointContents, from: number) => CheckpointContents;
  /** Gives up when it was taken up so often in a row without a step done. Default: 10. */
  maxResumes?: number;
  /** Takes the lines that are meant for a person. Default: stderr. */
  notify?: (line: string) => void;
}

export const defaultMaxResumes = 10;
