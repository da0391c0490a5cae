/** Frames of a paused thread with their variables, through any session of the Chrome DevTools Protocol. */
import type { Debugger } from 'node:inspector';
import type { LocalsPart } from '../../bundle/layout/bundle.ts';
import { shownScopes } from './locals-recorder.ts';
import { isOwnScript } from './own-scripts.ts';
import { readVariables, type Variable } from './scope-variables.ts';

type LocalFrame = LocalsPart['frames'][number];
export type Ask = (method: string, params: Record<string, unknown>) => Promise<Record<string, unknown>>;

const mostFramesWithLocals = 15;

/**
 * Innermost first. The variables of Node's frames, of our own, and of those far below the innermost one of the program are not
 * read. `ownFile`: the preload's path. Never rejects.
 */
export function readFrames(ask: Ask, frames: Debugger.CallFrame[], ownFile: string): Promise<LocalFrame[]> {
  const ofInterest = frames
    .filter(({ url }) => !url.startsWith('node:') && !isOwnScript(url, ownFile))
    .slice(0, mostFramesWithLocals);
  return Promise.all(frames.map((frame) => readFrame(ask, frame, ofInterest.includes(frame))));
}

async function readFrame(ask: Ask, frame: Debugger.CallFrame, isOfInterest: boolean): Promise<LocalFrame> {
  const scopes = isOfInterest ? frame.scopeChain.filter((scope) => shownScopes.has(scope.type)) : [];
  return {
    functionName: frame.functionName,
    scriptId: frame.location.scriptId,
    url: frame.url,
    line: frame.location.lineNumber + 1,
    column: (frame.location.columnNumber ?? 0) + 1,
    scopes: await Promise.all(scopes.map((scope) => readScope(ask, scope))),
  };
}

async function readScope(
  ask: Ask,
  { type, name, object }: Debugger.Scope,
): Promise<LocalFrame['scopes'][number]> {
  const variables = object.objectId === undefined ? [] : await askAll(ask, readVariables(object.objectId));
  return { type, variables, ...(name !== undefined && { name }) };
}

async function askAll(ask: Ask, questions: ReturnType<typeof readVariables>): Promise<Variable[]> {
  let next = questions.next();
  while (!next.done) {
    const answer = await ask(next.value.method, next.value.params).catch(() => undefined);
    next = questions.next(answer);
  }
  return next.value;
}

/** In V8's stack format, so that it is parsed like any other. */
export function stackTextOf(frames: LocalsPart['frames'], head = 'Main thread'): string {
  const lines = frames.map(({ functionName, url, line, column }) => {
    const place = `${url || '<anonymous>'}:${line}:${column}`;
    return functionName ? `    at ${functionName} (${place})` : `    at ${place}`;
  });
  return [head, ...lines].join('\n');
}
