/**
 * What the records of a durable run say. Their kinds are the journal's 64–68; a payload is JSON text, whose `value` is
 * the host's value as devalue flattens it; or, when values are sealed, that JSON, a line feed, and the sealed bytes.
 * Types and names only. The path of a step is `label/label`; a label is the name, `name#2` for the second of its name,
 * or `name=key`, with `%`, `/`, `#` and `=` escaped in name and key.
 */
export const durableSchema = 1;

export type StepKind = 'step' | 'tool' | 'run';

/**
 * retrying: failed, and another attempt follows. skipped: was in doubt, and its policy gave it up. unkept: returned, and
 * its value could not be kept.
 */
export type StepEnd = 'finished' | 'failed' | 'retrying' | 'aborted' | 'skipped' | 'unkept';
/** cancelled: by a person, for good. aborted: by the host's signal; it can be taken up again. */
export type RunEnd = 'finished' | 'failed' | 'aborted' | 'cancelled';

/** How values of the run are sealed: the salt of its key, and a sum by which the key is known. Both hexadecimal. */
export interface SealFacts {
  salt: string;
  check: string;
}

export type RunRecord =
  /** With `input` the value is the run's input. */
  | {
      event: 'begin';
      schema: number;
      run: string;
      name: string;
      seal?: SealFacts;
      retry?: RunRetry;
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
      /** argv without Node's path, when nothing in it looks like a secret: for `agentdump resume`. */
      command?: string[];
      cwd: string;
    }
  /** `failed` carries the error; `of` are the steps whose failure it is. */
  | { event: 'end'; status: RunEnd; of?: number[]; value?: unknown }
  /** Every record after `to` and before this one is void. */
  | { event: 'rollback'; to: number; label: string }
  | { event: 'version'; scope: string; name: string; taken: boolean };

/** How often workers begin a run again that has failed. */
export interface RunRetry {
  /** Tries in all. */
  attempts: number;
  /** Pause after the first failure; each further one is twice as long, up to an hour. Default: 1,000. */
  delayMs?: number;
}

/** A call's position (call-position.ts): `after` is a label of its scope, '' at the scope's start, absent in older records. */
export interface PositionFacts {
  after?: string;
  sync?: true;
  raw?: true;
}

/** `of` is the number of the start record. `input` is a hash. */
export type StepRecord =
  | ({ event: 'start'; path: string; kind: StepKind; input?: string; attempt?: number } & PositionFacts)
  | { event: 'end'; of: number; status: StepEnd; value?: unknown; reason?: string; spent?: Spent }
  | ({ event: 'spent'; of: number } & Spent)
  | { event: 'doubt'; of: number; action: string };

export interface Spent {
  inputTokens?: number;
  outputTokens?: number;
  usd?: number;
}

/**
 * `id` belongs to this question alone: the answer is kept under it. `input` is a hash of the request, which is the value.
 * `waits`: a later process has come to the question, and waits.
 */
export type ApprovalRecord =
  | ({ event: 'asked'; path: string; id?: string; input?: string; value?: unknown } & Awaits & PositionFacts)
  | { event: 'waits'; of: number }
  | { event: 'answered'; of: number; value?: unknown; slot?: number };

/**
 * What is waited for when it is no person: a signal of this name, a time, or whichever comes first. `slot` of the answer
 * is the number of the signal among those of its name.
 */
export interface Awaits {
  signal?: string;
  /** Milliseconds since 1970. */
  untilMs?: number;
}

/** A piece of a checkpoint, known by the hash of its text. */
export interface ValueRecord {
  hash: string;
  /** Of a list: the hashes of its elements, or of pieces that are parts of the list when `level` is above 0. */
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
  /** The host's own number for the shape of `parts`. */
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

/** A signal, as the store keeps it until the run has taken it, and as the run is given it. */
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
