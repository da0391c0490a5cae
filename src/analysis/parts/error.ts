/**
 * `error.json`, field by field: the thrown value with its causes and aggregate members, cut by depth and by count,
 * because a stranger's file may nest them as deep as it likes.
 */
import type { RawFrame, SerializedError } from '../../bundle/layout.ts';
import { defined, type Fields } from './fields.ts';

const maxDepth = 20;
const maxErrors = 200;

export interface ErrorPartFacts {
  error?: SerializedError;
  frames?: RawFrame[];
  promiseStack?: string;
}

export function readError(part: Fields): ErrorPartFacts {
  const budget = { left: maxErrors };
  const error = part.object('error');
  return defined({
    error: error && readSerialized(error, 0, budget),
    frames: part.list('frames', readRawFrame),
    promiseStack: part.text('promiseStack'),
  });
}

function readSerialized(error: Fields, depth: number, budget: { left: number }): SerializedError {
  budget.left -= 1;
  const goOn = depth < maxDepth && budget.left > 0;
  const cause = goOn ? error.object('cause') : undefined;
  const properties = error.value('properties');
  return {
    type: error.text('type') ?? 'object',
    isError: error.flag('isError') ?? false,
    ...defined({
      name: error.text('name'),
      message: error.text('message'),
      stack: error.text('stack'),
      code: error.textOrNumber('code'),
      text: error.text('text'),
      properties: isRecord(properties) ? properties : undefined,
      cause: cause && readSerialized(cause, depth + 1, budget),
      errors: goOn
        ? error.list('errors', (each) =>
            budget.left > 0 ? readSerialized(each, depth + 1, budget) : undefined,
          )
        : undefined,
      gaps: error.texts('gaps'),
    }),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A frame without url, line and column is no frame. */
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
