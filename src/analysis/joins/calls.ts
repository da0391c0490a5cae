/** Calls in the program's scripts that may have led to the error: of AbortSignal.timeout, and of `new Worker`. */
import { workerMemoryCode } from '../../bundle/layout/verdict-codes.ts';
import type { ErrorFacts } from '../../model/account.ts';
import type { AgentAbort } from '../../model/agent-state.ts';
import { isByTimeLimit, isTimeoutOfSignal } from '../../model/errors/abort-text.ts';
import { isOfRuntime } from '../../model/frame-text.ts';
import type { Frame } from '../../model/thread.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { findCalls, type SoughtCall } from '../stacks/calls.ts';
import type { FrameReader } from './error-facts.ts';
import { soughtTexts } from './sought-scripts.ts';

const mostPlaces = 20;

export interface CallPlaces {
  /** For a TimeoutError, or what a client made of one. */
  timeLimits: Frame[];
  /** For a worker that ran out of memory. */
  workerStarts: Frame[];
}

/** Empty if there are none, or if a script could not be searched. */
export async function readCalls(
  error: ErrorFacts | undefined,
  parts: BundleParts,
  readPart: (name: string) => Uint8Array | undefined,
  read: FrameReader,
  aborts: readonly AgentAbort[] = [],
): Promise<CallPlaces> {
  // An error that ended the evaluation of a module: for a worker's, only the modules with an await were sought.
  const { kind, origin } = parts.trigger ?? {};
  const isOfModule =
    kind === 'uncaught-exception' &&
    origin === 'unhandledRejection' &&
    error?.frames?.every(isOfRuntime) !== false;
  const framesOf = (sought: SoughtCall) => readPlaces(sought, parts, readPart, read);
  const [newest] = aborts.slice(-1);
  const isByLimit = newest !== undefined && isByTimeLimit(newest) && isAny(error, isAbortOfClient);
  return {
    timeLimits: isByLimit || isAny(error, isTimeoutOfSignal) ? await framesOf('AbortSignal.timeout') : [],
    workerStarts:
      !isOfModule && isAny(error, ({ code }) => code === workerMemoryCode)
        ? await framesOf('new Worker')
        : [],
  };
}

async function readPlaces(
  sought: SoughtCall,
  parts: BundleParts,
  readPart: (name: string) => Uint8Array | undefined,
  read: FrameReader,
): Promise<Frame[]> {
  const places: string[] = [];
  for (const script of soughtTexts(parts, readPart) ?? []) {
    const found = await findCalls(script.text, script.kind, sought);
    if (!found) return [];
    for (const { line, column } of found) places.push(`    at ${script.url}:${line}:${column}`);
  }
  if (places.length === 0) return [];
  return read({ stackText: places.slice(0, mostPlaces).join('\n'), isOfDebugger: true });
}

const isAbortOfClient = ({ name = '', message = '' }: ErrorFacts): boolean =>
  /abort/i.test(`${name} ${message}`);

/** The error itself or any of its causes. */
function isAny(error: ErrorFacts | undefined, is: (one: ErrorFacts) => boolean): boolean {
  for (let one = error; one; one = one.cause) if (is(one)) return true;
  return false;
}
