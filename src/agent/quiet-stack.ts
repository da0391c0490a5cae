/**
 * Stacks that are made in the host's realm without a getter, a setter or a formatter of the program's: that would hear of an
 * error that is none of its. Node asks what is called Error now for a formatter, then the realm's own.
 */
const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
const OwnError = Error;
/** The name of the formatter that Node itself puts there. */
const nodesFormatter = 'ErrorPrepareStackTrace';

/** Runs `work`, which makes an Error or reads its stack for the first time, with at most `deepest` frames. */
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

/** What the program has put in the place of Error, where that has a formatter. */
function findStandIn(): object | undefined {
  const now: unknown = getOwnPropertyDescriptor(globalThis, 'Error')?.value;
  if (typeof now !== 'function' || now === OwnError) return undefined;
  return getOwnPropertyDescriptor(now, 'prepareStackTrace') && now;
}

/** Whether Node alone formats the stack of an error that is read for the first time. */
export function isFormattedByNode(): boolean {
  const formatter = getOwnPropertyDescriptor(findStandIn() ?? OwnError, 'prepareStackTrace');
  return formatter === undefined || formatter.value?.name === nodesFormatter;
}
