/**
 * Who gave a request up. undici tells of an aborted fetch inside of the call of `abort()`, so that call is on the stack
 * then; the stack of the error that the program gets is replaced by fetch itself. Node's http client tells later: there
 * the error, or its cause, was made inside of the call. Seen on Node 20.20, 22.23, 24.21, 26.10.
 */
import { isFormattedByNode, quietly } from '../quiet-stack.ts';

/** As it was when the preload was loaded. */
const OwnError = Error;
const deepest = 60;
const mostLines = 8;
const mostChars = 1500;
/** The outermost call of it counts: signals that follow others are aborted inside of theirs. */
const abortCall = /^ {4}at AbortController\.abort \(node:internal\/abort_controller\b/;

/**
 * Lines of V8's stack text, the caller of `abort()` first; undefined where that call was not seen. `error` is one that an
 * abort has made: the stack of any other is not touched, and none is where the program has a formatter of its own, which
 * V8 calls at the first reading.
 */
export function readAbortStack(error: unknown): string | undefined {
  try {
    const told = below(quietly(deepest, () => new OwnError('abort').stack));
    if (told !== undefined || error === undefined) return told;
    return isFormattedByNode() ? ofError(error as Error) : undefined;
  } catch {
    return undefined;
  }
}

function ofError({ stack, cause }: Error): string | undefined {
  return below(stack) ?? below((cause as Error | undefined)?.stack);
}

function below(stack: unknown): string | undefined {
  if (typeof stack !== 'string') return undefined;
  const lines = stack.split('\n');
  const at = lines.findLastIndex((line) => abortCall.test(line));
  if (at === -1) return undefined;
  // What is left began in AbortSignal.timeout: nobody called.
  if (lines.some((line, below) => below > at && line.includes('(node:internal/abort_controller:')))
    return undefined;
  return (
    lines
      .slice(at + 1, at + 1 + mostLines)
      .join('\n')
      .slice(0, mostChars) || undefined
  );
}
