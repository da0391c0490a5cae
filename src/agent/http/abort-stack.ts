/**
 * Finds the code that aborted a request. undici reports an aborted fetch from inside the call of `abort()`, so the caller is
 * on the stack at that time; the stack of the error that the program receives is replaced by fetch itself. Node's http client
 * reports later, but the error or its cause was created inside the call. Seen on Node 20.20, 22.23, 24.21, 26.10.
 */
import { isFormattedByNode, quietly } from '../quiet-stack.ts';

/** Captured when the preload is loaded. */
const OwnError = Error;
const deepest = 60;
const mostLines = 8;
const mostChars = 1500;
/** The outermost match counts: dependent signals are aborted inside of the abort of the signal that they follow. */
const abortCall = /^ {4}at AbortController\.abort \(node:internal\/abort_controller\b/;
/** The callback of AbortSignal.timeout. */
const limitCall = /^ {4}at Timeout\._onTimeout \(node:internal\/abort_controller\b/;

/**
 * Lines of V8's stack text, starting at the caller of `abort()`, or only that of the callback of AbortSignal.timeout if a package passed on
 * the abort of such a signal; undefined if no such call was found. `error` must have been
 * created by an abort: stacks of other errors are not read, and none is read if the program has a formatter of its own, which
 * V8 calls when a stack is first read.
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
  const callers = lines.slice(at + 1);
  // The program did not call abort().
  if (callers.some((line) => line.includes('(node:internal/abort_controller:')))
    return callers.find((line) => limitCall.test(line));
  return callers.slice(0, mostLines).join('\n').slice(0, mostChars) || undefined;
}
