/**
 * The exit codes. The five codes are a contract (CI scripts branch on them), so every command ends with one of them; only
 * `run` passes on the code of the program that it supervised.
 */
import { AgentdumpError, type ErrorCode } from '../errors.ts';

export const exitCodes = {
  explained: 0,
  explainedWithGaps: 1,
  usage: 2,
  unreadableInput: 3,
  internal: 4,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const ofErrorCode: Record<ErrorCode, ExitCode> = {
  usage: exitCodes.usage,
  // The caller chose the place to write to: neither our fault nor one of the input.
  unwritable: exitCodes.usage,
  'malformed-input': exitCodes.unreadableInput,
  'unsupported-version': exitCodes.unreadableInput,
  'not-a-bundle': exitCodes.unreadableInput,
  'not-found': exitCodes.unreadableInput,
  'over-limit': exitCodes.unreadableInput,
  locked: exitCodes.unreadableInput,
  held: exitCodes.usage,
  closed: exitCodes.internal,
  changed: exitCodes.unreadableInput,
};

/** File system errors that are caused by the input, not by us. */
const inputFaults = new Set([
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'EACCES',
  'EPERM',
  'ELOOP',
  'ENAMETOOLONG',
  'EIO',
]);

/** The exit code for a value that a command threw. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof AgentdumpError) return ofErrorCode[error.code];
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code !== undefined && inputFaults.has(code) ? exitCodes.unreadableInput : exitCodes.internal;
}
