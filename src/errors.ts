/**
 * The only error class that agentdump throws intentionally, and the complete list of its codes. What a user may try next is
 * not part of it: the command line adds it from its advice table.
 */
export type ErrorCode =
  /** Input that violates its format. details: format, field, offset, wanted, available (those that are known). */
  | 'malformed-input'
  /** Valid, but of a format version that this release does not support. details: format, version, supported. */
  | 'unsupported-version'
  /** The path contains no bundle. details: path, lookedFor. */
  | 'not-a-bundle'
  /** There is nothing at the path, or nothing with that name. details: path or name. */
  | 'not-found'
  /** The input exceeds a documented limit. details: limit, wanted, allowed. */
  | 'over-limit'
  /** A folder or file that must not be written to: a link, a foreign owner, no space. details: path, reason. */
  | 'unwritable'
  /** Encrypted, and no key or a wrong one was given. details: path. */
  | 'locked'
  /** The host has closed the store that was used. details: path. */
  | 'closed'
  /** Held, or taken over, by another holder. details: run, holder. */
  | 'held'
  /** The program performs other steps than those that its run has recorded. details: run, path, diff. */
  | 'changed'
  /** The arguments of the call are wrong. details: argument. */
  | 'usage';

export class AgentdumpError extends Error {
  override readonly name = 'AgentdumpError';
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

export interface MalformedDetails {
  /** The format's folder name, e.g. `heapsnapshot`. */
  format: string;
  /** The field that was being read. */
  field: string;
  /** Byte offset in the input, 0-based, where the field starts. */
  offset?: number;
  wanted?: string;
  available?: string;
}

/** The input violates its format: nothing more is read from it. */
export class MalformedInput extends AgentdumpError {
  constructor(message: string, details: MalformedDetails, cause?: unknown) {
    super('malformed-input', message, { ...details }, cause);
  }
}

/** The end of every switch over a union: a compile error if a case is missing, a clear error at run time. */
export function assertNever(value: never, what: string): never {
  throw new TypeError(`unhandled ${what}: ${JSON.stringify(value)}`);
}
