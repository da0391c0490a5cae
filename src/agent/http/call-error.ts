/** Reads from an error how a call ended, without assuming that the value is an Error. */
import type { CallStatus, EventError } from '../../journal/layout/agent.ts';
import { compact } from '../calls/json.ts';
import { carryThrown } from '../record/failed-work.ts';
import { readAbortStack } from './abort-stack.ts';

/** Type, message and code of a thrown value. */
export function errorOf(value: unknown): EventError {
  return carryThrown(readError(value), value);
}

function readError(value: unknown): EventError {
  if (typeof value !== 'object' || value === null) return { message: String(value) };
  try {
    const { name, message, code, cause } = value as {
      name?: unknown;
      message?: unknown;
      code?: unknown;
      cause?: unknown;
    };
    const causeCode = (cause as { code?: unknown } | undefined)?.code;
    const known = code ?? causeCode;
    return compact({
      type: typeof name === 'string' ? name : undefined,
      message: typeof message === 'string' ? message : undefined,
      code: typeof known === 'string' || typeof known === 'number' ? known : undefined,
    }) as EventError;
  } catch {
    return { message: 'unreadable error' };
  }
}

export function isAbort(error: unknown): boolean {
  const { type, code } = errorOf(error);
  return (
    type === 'AbortError' || type === 'TimeoutError' || code === 'ABORT_ERR' || code === 'UND_ERR_ABORTED'
  );
}

export interface CallFailure {
  status: CallStatus;
  /** Content: it is redacted before it is written. */
  content: { error: EventError; abortStack?: string };
}

/** How a call ended with this error, as it is recorded. `answered`: the reply had begun. */
export function readFailure(error: unknown, answered: boolean): CallFailure {
  const isOfAbort = isAbort(error);
  const abortStack = readAbortStack(isOfAbort ? error : undefined);
  // A program may pass any value as the abort reason.
  const isAborted = isOfAbort || abortStack !== undefined;
  const content = { error: errorOf(error), ...(abortStack !== undefined && { abortStack }) };
  return { status: isAborted ? 'aborted' : answered ? 'cut' : 'failed', content };
}
