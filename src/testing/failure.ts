/**
 * What is kept of the error that failed a test, for any value that a runner passes. Runs no code of the host except getters.
 */
import type { TestFailure } from '../bundle/layout/tests.ts';

const longestMessage = 4_000;
const longestStack = 16_000;

export function describeFailure(error: unknown): TestFailure {
  try {
    return describe(unwrap(error));
  } catch {
    return { message: 'the error could not be read' };
  }
}

/** node:test wraps the thrown value; jest passes [error, asyncError] pairs; others pass a list of errors. */
function unwrap(error: unknown): unknown {
  let inner = error;
  for (let depth = 0; depth < 4; depth++) {
    if (Array.isArray(inner)) inner = inner.find((one) => one !== undefined && one !== null);
    else if ((inner as { code?: unknown } | undefined)?.code === 'ERR_TEST_FAILURE')
      inner = (inner as { cause?: unknown }).cause ?? (inner as Error).message;
    else break;
  }
  return inner;
}

function describe(error: unknown): TestFailure {
  if (typeof error !== 'object' || error === null)
    return {
      message: error === undefined ? 'the runner gives no reason' : cut(String(error), longestMessage),
    };
  const { name, message, stack } = error as Partial<Record<'name' | 'message' | 'stack', unknown>>;
  return {
    ...(typeof name === 'string' && { name: cut(name, 200) }),
    message: cut(typeof message === 'string' ? message : 'a thrown value that is no error', longestMessage),
    ...(typeof stack === 'string' && { stack: cut(stack, longestStack) }),
  };
}

function cut(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
