/**
 * `error.json`, field by field: the thrown value with its causes and aggregate members. Depth and count are limited, because
 * an untrusted file may nest them arbitrarily.
 */
import type { ErrorPart, RawFrame, SerializedError } from '../../bundle/layout/bundle.ts';
import { defined, type Fields } from './fields.ts';

const maxDepth = 20;
const maxErrors = 200;

export interface ErrorPartFacts {
  error?: SerializedError;
  frames?: RawFrame[];
  promiseStack?: string;
  emitter?: ErrorPart['emitter'];
  failedStdio?: number;
  begun?: ErrorPart['begun'];
  abortReasons?: SerializedError[];
  place?: ErrorPart['place'];
}

export function readError(part: Fields): ErrorPartFacts {
  const budget = { left: maxErrors };
  const error = part.object('error');
  const serialized = error && readSerialized(error, 0, budget);
  if (budget.left < 0) part.leaveOut(`${-budget.left} errors beyond ${maxErrors} are`);
  return defined({
    error: serialized,
    frames: part.list('frames', readRawFrame),
    promiseStack: part.text('promiseStack'),
    emitter: readEmitter(part.object('emitter')),
    failedStdio: part.number('failedStdio'),
    begun: readBegun(part.object('begun')),
    abortReasons: part.list('abortReasons', (reason) => readSerialized(reason, 0, budget)),
    place: readPlace(part.object('place')),
  });
}

function readEmitter(emitter: Fields | undefined): ErrorPart['emitter'] {
  const className = emitter?.text('className');
  if (className === undefined) return undefined;
  const worker = emitter?.object('worker');
  const threadId = worker?.number('threadId');
  return {
    className,
    stack: emitter?.text('stack') ?? '',
    ...defined({ path: emitter?.text('path'), stdio: emitter?.number('stdio') }),
    ...(worker &&
      threadId !== undefined && {
        worker: { threadId, ...defined({ name: worker.text('name') }) },
      }),
  };
}

function readBegun(begun: Fields | undefined): ErrorPart['begun'] {
  const { what, stack } = { what: begun?.text('what'), stack: begun?.text('stack') };
  return what === undefined || stack === undefined ? undefined : { what, stack };
}

function readPlace(place: Fields | undefined): ErrorPart['place'] {
  const { url, line } = { url: place?.text('url'), line: place?.number('line') };
  if (url === undefined || line === undefined) return undefined;
  return { url, line, column: place?.number('column') ?? 1, sourceLine: place?.text('sourceLine') ?? '' };
}

function readSerialized(error: Fields, depth: number, budget: { left: number }): SerializedError {
  budget.left -= 1;
  const properties = error.value('properties');
  const below = (each: Fields) => readBelow(each, depth + 1, budget);
  const cause = error.object('cause');
  return {
    type: error.text('type') ?? 'object',
    isError: error.flag('isError') ?? false,
    ...defined({
      name: error.text('name'),
      className: error.text('className'),
      message: error.text('message'),
      stack: error.text('stack'),
      code: error.textOrNumber('code'),
      text: error.text('text'),
      properties: isRecord(properties) ? properties : undefined,
      cause: cause && below(cause),
      errors: error.list('errors', below),
      gaps: error.texts('gaps'),
    }),
  };
}

/** A cause or aggregate member, if the limits of depth and count allow it. */
function readBelow(error: Fields, depth: number, budget: { left: number }): SerializedError | undefined {
  if (budget.left > 0 && depth < maxDepth) return readSerialized(error, depth, budget);
  if (budget.left > 0) error.leaveOut('what lies deeper is');
  else budget.left -= 1;
  return undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined without url, line and column. */
export function readRawFrame(frame: Fields): RawFrame | undefined {
  const url = frame.text('url');
  const line = frame.number('line');
  const column = frame.number('column');
  if (url === undefined || line === undefined || column === undefined) return undefined;
  return {
    functionName: frame.text('functionName') ?? '',
    scriptId: frame.text('scriptId') ?? '',
    url,
    line,
    column,
  };
}
