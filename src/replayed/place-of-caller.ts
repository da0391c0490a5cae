/** Where the program called a function that is watched. */

/** `dist/register.cjs`, which writes the bundle. */
const recorderFile = /[\\/]dist[\\/]register(?:-tests)?\.cjs:/;
const frame = /^\s+at (?:async )?(?:.*\()?(.*?:\d+:\d+)\)?$/;

/**
 * `file:line:column` of the first frame that is the program's own, or else of a package. `recorder` if the recorder called;
 * undefined if only Node is on the stack.
 */
export function placeOfCaller(): string | undefined {
  const foreign = places().filter((place) => !/^node:|^internal\//.test(place));
  const [first] = foreign;
  if (first === undefined) return undefined;
  if (recorderFile.test(first)) return 'recorder';
  return foreign.find((place) => !/[\\/]node_modules[\\/]/.test(place)) ?? first;
}

/**
 * Node's removal and copying of folders called, whose first call was seen. Its further calls, in later turns of the event loop,
 * are parts of it.
 */
export function isPartOfFolderCall(): boolean {
  return /^node:internal\/fs\/(?:rimraf|cp\/)/.test(places()[0] ?? '');
}

/** Of all frames but ours. */
function places(): string[] {
  return stackLines()
    .flatMap((line) => frame.exec(line)?.[1] ?? [])
    .filter((place) => !place.startsWith(__filename));
}

/** Without the program's own rendering of stacks, which may have effects. */
function stackLines(): string[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Reflect.deleteProperty(Error, 'prepareStackTrace');
  Error.stackTraceLimit = 50;
  const lines = String(new Error().stack).split('\n').slice(1);
  Error.stackTraceLimit = stackTraceLimit;
  if (prepareStackTrace !== undefined) Error.prepareStackTrace = prepareStackTrace;
  return lines;
}
