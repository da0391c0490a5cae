/**
 * The records of a durable run. Their kinds are 64–68 of the journal. A payload is JSON text, whose `value` is the host's
 * value as flattened by devalue; if values are sealed, it is that JSON, a line feed, and the sealed bytes. Types and names
 * only.
 *
 * The path of a step is `label/label`. A label is the name, `name#2` for the second step of that name, or `name=key`; `%`,
 * `/`, `#` and `=` are escaped in name and key.
 */
export const durableSchema = 1;

export type StepKind = 'step' | 'tool' | 'run';

/**
 * retrying: failed, and another attempt follows. skipped: it was in doubt, and its policy gave it up. unkept: it returned,
 * and its value could not be stored.
 */
export type StepEnd = 'finished' | 'failed' | 'retrying' | 'aborted' | 'skipped' | 'unkept';
/** cancelled: by a person, permanently. aborted: by the host's signal; it can be resumed. */
export type RunEnd = 'finished' | 'failed' | 'aborted' | 'cancelled';

/** How values of the run are sealed: the salt of its key, and a checksum that identifies the key. Both are hexadecimal. */
export interface SealFacts {
  salt: string;
  check: string;
}

export type RunRecord =
  /** If `input` is set, the value is the run's input. */
  | {
      event: 'begin';
      schema: number;
      /** By `enqueueRun`, for workers that have its program. */
      queued?: true;
      run: string;
      name: string;
      seal?: SealFacts;
      retry?: RunRetry;
      queue?: QueueFacts;
      /** The run that started it and waits for it. */
      parent?: string;
      input?: true;
      value?: unknown;
    }
  | {
      event: 'open';
      /** 1 for the first process that worked at the run. */
      attempt: number;
      pid: number;
      host: string;
      node: string;
      agentdump: string;
      configHash?: string;
      /** argv without Node's path, if nothing in it looks like a secret: for `agentdump resume`. */
      command?: string[];
      cwd: string;
    }
  /** For `failed` the value is the error; `of` lists the steps that caused it. */
  | { event: 'end'; status: RunEnd; of?: number[]; value?: unknown }
  /** Every record after `to` and before this one is void. */
  | { event: 'rollback'; to: number; label: string }
  | { event: 'version'; scope: string; name: string; taken: boolean }
  /** The process that opened it last has another program, and has left it as it was. */
  | { event: 'left' };

/** The queue whose limits apply to the run, and the key within it. */
export interface QueueFacts {
  name: string;
  key?: string;
}

/** How often workers restart a run that failed. */
export interface RunRetry {
  /** Total number of tries. */
  attempts: number;
  /** Pause after the first failure; each further one is twice as long, up to an hour. Default: 1,000. */
  delayMs?: number;
}

/**
 * A call's position (call-position.ts): `after` is a label of its scope, '' at the scope's start, absent in older records.
 */
export interface PositionFacts {
  after?: string;
  sync?: true;
  raw?: true;
}

/** How a step that has an end is in doubt. unkept: its value could not be stored. */
export type Doubt = Extract<StepEnd, 'aborted' | 'unkept'>;

/**
 * `of` is the number of the start record. `input` is a hash. `isRefused`: the function is not called. `doubt`: the program got an error whose step may have had its effect;
 * if that ends the run, the step is in doubt.
 */
export type StepRecord =
  | ({
      event: 'start';
      path: string;
      kind: StepKind;
      input?: string;
      /** What the function captures (captured.ts), if nothing else tells the call apart from those of other branches. */
      captured?: Readonly<Record<string, string>>;
      /** Names of those that this call has shown to be shared with other calls, and to change (shared-variables.ts). */
      shared?: readonly string[];
      /** It was called by the code that the run awaits, and by no branch (main-line.ts). */
      isOnMainLine?: boolean;
      attempt?: number;
      isRefused?: true;
    } & PositionFacts)
  | {
      event: 'end';
      of: number;
      status: StepEnd;
      value?: unknown;
      reason?: string;
      doubt?: Doubt;
      spent?: Spent;
    }
  | ({ event: 'spent'; of: number } & Spent)
  | { event: 'doubt'; of: number; action: string };

export interface Spent {
  inputTokens?: number;
  outputTokens?: number;
  usd?: number;
}

/**
 * `id` is unique to this question and is the key of its answer. `input` is a hash of the request, which is the value.
 * `waits`: a later process has reached the question, and waits. `aborted`: the program called the wait off, with this error.
 */
export type ApprovalRecord =
  | ({
      event: 'asked';
      path: string;
      id?: string;
      input?: string;
      /** As of a step. */
      isOnMainLine?: boolean;
      value?: unknown;
    } & Awaits &
      PositionFacts)
  | { event: 'waits'; of: number }
  | { event: 'answered'; of: number; value?: unknown; slot?: number }
  | { event: 'aborted'; of: number; value?: unknown };

/**
 * What is waited for instead of a person: a signal of this name, a time, or whichever comes first; or the end of a run.
 * `slot` of the answer is the number of the signal among those of its name.
 */
export interface Awaits {
  signal?: string;
  run?: string;
  /** Milliseconds since 1970. */
  untilMs?: number;
}

/** A piece of a checkpoint, identified by the hash of its text. */
export interface ValueRecord {
  hash: string;
  /** For a list: the hashes of its elements, or if `level` is above 0 of pieces that are parts of the list. */
  list?: string[];
  level?: number;
  value?: unknown;
}

export interface CheckpointRecord {
  /** `c1`, `c2`, … */
  id: string;
  label?: string;
  at: string;
  format: number;
  /** The host's version number for the format of `parts`. */
  schema: number;
  /** SHA-256 over the JSON of this record without this field. */
  sha256: string;
  configHash?: string;
  node: string;
  packages: Record<string, string>;
  /** Path of the step within which it was taken; empty for the run itself. */
  position: string;
  /** Hash of the root piece of each part. */
  parts: Record<string, string>;
}

/** A signal, as the store keeps it until the run has taken it, and as it is returned to the program. */
export interface Signal {
  value?: unknown;
  by?: string;
  at: string;
}

/** An answer to an approval, as the store keeps it until the run has taken it. */
export interface Answer {
  approved: boolean;
  value?: unknown;
  by?: string;
  at: string;
}
