/** Errors and stacks as data: frames with their code and variables. */
import type { Account, ErrorFacts } from '../../model/account.ts';
import { shortFile } from '../../model/frame-text.ts';
import type { Frame } from '../../model/thread.ts';
import { answerOf, code, flag, integer, listOf, oneOf, record, text } from './output-schema.ts';

const variables = listOf(record({ name: text, value: text }));
const frame = record(
  { inApp: flag },
  { function: text, file: text, line: integer, column: integer, async: flag, code, variables },
);
const error = record({}, { name: text, message: text, code: text, frames: listOf(frame) });

export const stackSchema = answerOf(
  {
    threads: listOf(
      record(
        {
          kind: oneOf('main', 'worker', 'native', 'child'),
          crashed: flag,
          frames: listOf(frame),
        },
        { name: text },
      ),
    ),
  },
  {
    error,
    causes: listOf(error),
    suspended: listOf(listOf(frame)),
  },
);

export const sourceSchema = answerOf({
  frames: listOf(record({ code }, { function: text, file: text, line: integer, column: integer })),
});

const mostFrames = 40;
const mostCauses = 10;
const mostVariables = 12;

export function structuredStack({ error: thrown, threads = [], suspended, process }: Account): object {
  const cwd = process?.cwd;
  const frames = (all: readonly Frame[] = []) => all.slice(0, mostFrames).map((one) => frameOf(one, cwd));
  const told = ({ name, message, code: given, frames: own }: ErrorFacts) => ({
    name,
    message,
    code: given,
    frames: frames(own),
  });
  const causes: object[] = [];
  for (let cause = thrown?.cause; cause && causes.length < mostCauses; cause = cause.cause)
    causes.push(told(cause));
  return {
    error: thrown && told(thrown),
    ...(causes.length && { causes }),
    threads: threads
      .filter((thread) => thread.frames.length > 0)
      .map((thread) => ({
        kind: thread.kind,
        name: thread.name,
        crashed: thread.crashed,
        frames: frames(thread.frames),
      })),
    suspended: suspended?.map((stack) => frames(stack.frames)),
  };
}

export function structuredSource(frames: readonly Frame[], cwd: string | undefined): object {
  const seen = new Set<string>();
  const distinct = frames.filter(({ file, line, column }) => {
    const key = `${file}:${line}:${column}`;
    return !seen.has(key) && seen.add(key);
  });
  return {
    frames: distinct.map((one) => {
      const { function: name, file, line, column, code: lines = [] } = frameOf(one, cwd);
      return { function: name, file, line, column, code: lines };
    }),
  };
}

function frameOf(one: Frame, cwd: string | undefined) {
  const { function: name, file, line, column, inApp, async: isAsync, locals = [] } = one;
  return {
    function: name,
    file: file && shortFile(file, cwd),
    line,
    column,
    inApp,
    async: isAsync,
    code: inApp ? codeOf(one) : undefined,
    variables: locals.length
      ? locals.slice(0, mostVariables).map(({ name: variable, value }) => ({ name: variable, value }))
      : undefined,
  };
}

export const codeOf = (one: Frame | undefined) =>
  one?.source?.length ? one.source.map(({ line, text: words }) => ({ line, text: words })) : undefined;
