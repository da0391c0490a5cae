/** Frames of a paused thread with their variables, through any session of the Chrome DevTools Protocol. */
import type { Debugger, Runtime } from 'node:inspector';
import type { LocalsPart } from '../bundle/layout.ts';
import { renderValue, shownScopes } from './locals-recorder.ts';

type LocalFrame = LocalsPart['frames'][number];
export type Ask = (method: string, params: Record<string, unknown>) => Promise<Record<string, unknown>>;

const mostFramesWithLocals = 15;
const mostVariables = 40;

/** `depth`: 0 for the innermost; variables of frames far below it, and of Node's own, are not read. Never rejects. */
export async function readFrame(ask: Ask, frame: Debugger.CallFrame, depth: number): Promise<LocalFrame> {
  const isOfInterest = depth < mostFramesWithLocals && !frame.url.startsWith('node:');
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

async function readScope(ask: Ask, scope: Debugger.Scope): Promise<LocalFrame['scopes'][number]> {
  const { objectId } = scope.object;
  const found = await ask('Runtime.getProperties', {
    objectId,
    ownProperties: true,
    generatePreview: true,
  }).catch(() => ({ result: [] }));
  const properties = (found['result'] as Runtime.PropertyDescriptor[]).slice(0, mostVariables);
  const variables = properties.map(({ name, value }) => ({
    name,
    value: value ? renderValue(value) : '(optimised away)',
  }));
  return { type: scope.type, variables, ...(scope.name !== undefined && { name: scope.name }) };
}

/** As V8 prints a stack, so that it is read like any other. */
export function stackTextOf(frames: LocalsPart['frames'], head = 'Main thread'): string {
  const lines = frames.map(({ functionName, url, line, column }) => {
    const place = `${url || '<anonymous>'}:${line}:${column}`;
    return functionName ? `    at ${functionName} (${place})` : `    at ${place}`;
  });
  return [head, ...lines].join('\n');
}
