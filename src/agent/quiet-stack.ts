/**
 * Captures stacks in the host's realm without calling a getter, setter or formatter of the program, which would otherwise see
 * an error that is not its own. Node looks for a formatter on the current global `Error` first, then on the realm's original
 * one.
 */
const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
const { hasOwn } = Object;
const OwnError = Error;
/** The name of the formatter that Node itself installs. */
const nodesFormatter = 'ErrorPrepareStackTrace';

/**
 * Runs `make`, which creates an Error without reading its stack. V8 calls a formatter only when it is read, so only the limit
 * has to be changed: `quietly` takes a third longer.
 */
export function captured<Result>(deepest: number, make: () => Result): Result {
  const limit = getOwnPropertyDescriptor(OwnError, 'stackTraceLimit');
  if (!limit || !hasOwn(limit, 'value') || !limit.writable) return quietly(deepest, make);
  OwnError.stackTraceLimit = deepest;
  try {
    return make();
  } finally {
    OwnError.stackTraceLimit = limit.value as number;
  }
}

/** Runs `work`, which creates an Error or reads its stack for the first time, with at most `deepest` frames. */
export function quietly<Result>(deepest: number, work: () => Result): Result {
  const standIn = findStandIn();
  const changed = [
    [OwnError, 'stackTraceLimit', deepest],
    [OwnError, 'prepareStackTrace', undefined],
    ...(standIn ? [[standIn, 'prepareStackTrace', undefined] as const] : []),
  ] as const;
  const before = changed.map(([holder, name]) => getOwnPropertyDescriptor(holder, name));
  try {
    for (const [holder, name, value] of changed)
      defineProperty(holder, name, { writable: true, enumerable: false, configurable: true, value });
    return work();
  } finally {
    for (const [at, [holder, name]] of changed.entries()) {
      const was = before[at];
      if (was) defineProperty(holder, name, was);
      else deleteProperty(holder, name);
    }
  }
}

/** The object that the program has assigned to the global `Error`, if it has a formatter. */
function findStandIn(): object | undefined {
  const now: unknown = getOwnPropertyDescriptor(globalThis, 'Error')?.value;
  if (typeof now !== 'function' || now === OwnError) return undefined;
  return getOwnPropertyDescriptor(now, 'prepareStackTrace') && now;
}

/** Whether the stack of an error that is read for the first time is formatted by Node alone. */
export function isFormattedByNode(): boolean {
  const formatter = getOwnPropertyDescriptor(findStandIn() ?? OwnError, 'prepareStackTrace');
  return formatter === undefined || formatter.value?.name === nodesFormatter;
}
