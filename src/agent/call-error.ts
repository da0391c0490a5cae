/** What an error says about the end of a call: read without trusting that it is an Error. */
import type { CallStatus, EventError } from '../journal/layout-agent.ts';
import { compact } from './json.ts';

/** Type, message and code of a thrown value. */
export function errorOf(value: unknown): EventError {
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

/** How a call ended with this error; `answered`: the reply had begun. */
export function endOf(error: unknown, answered: boolean): CallStatus {
  if (isAbort(error)) return 'aborted';
  return answered ? 'cut' : 'failed';
}
