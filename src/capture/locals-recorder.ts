/**
 * Locals at an uncaught throw: the thread debugs itself and is paused, synchronously, where the exception leaves the
 * program. On request only: with Debugger.enable hot code is ten times slower (platform facts in README.md).
 */
import type { Debugger, Runtime, Session } from 'node:inspector';
import type { LocalsPart } from '../bundle/layout.ts';
import { startOf, withoutCutWords } from './cut-text.ts';

type LocalFrame = LocalsPart['frames'][number];

const maxFrames = 12;
const maxAsyncStacks = 8;
const maxVariables = 40;
const maxValueChars = 512;
/** Scopes that belong to a frame: the global one says nothing about it. */
export const shownScopes = new Set(['local', 'closure', 'block', 'catch', 'eval', 'module', 'script']);

let recorded: LocalFrame[] | undefined;
let scheduledBy: string | undefined;

/** The frames of the last uncaught throw; then forgets them. */
export function takeLocals(): LocalFrame[] | undefined {
  const frames = recorded;
  recorded = undefined;
  return frames;
}

/**
 * The text of the stack on which what threw was scheduled (the await, the `then`, the timer), of the last uncaught
 * throw; then forgets it.
 */
export function takeSchedulingStack(): string | undefined {
  const stack = scheduledBy;
  scheduledBy = undefined;
  return stack;
}

/** Arms the debugger; returns the undoing. Throws when this Node has no inspector. */
export function armLocals(): () => void {
  const inspector = process.getBuiltinModule('node:inspector');
  const session = new inspector.Session();
  const urls = new Map<string, string>();
  session.connect();
  // A paused frame often has no URL of its own.
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  session.on('Debugger.paused', ({ params }) => {
    recorded = readFrames(session, params.callFrames, urls);
    scheduledBy = params.asyncStackTrace && renderAsyncStack(params.asyncStackTrace);
  });
  session.post('Debugger.enable');
  session.post('Debugger.setPauseOnExceptions', { state: 'uncaught' });
  session.post('Debugger.setAsyncCallStackDepth', { maxDepth: maxAsyncStacks });
  return () => session.disconnect();
}

/** As V8 prints stacks; each earlier one goes on where the later began. */
function renderAsyncStack(first: Runtime.StackTrace): string {
  const lines: string[] = [];
  for (let stack: Runtime.StackTrace | undefined = first; stack; stack = stack.parent)
    for (const { functionName, url, lineNumber, columnNumber } of stack.callFrames)
      lines.push(`    at ${functionName || '<anonymous>'} (${url}:${lineNumber + 1}:${columnNumber + 1})`);
  return lines.join('\n');
}

function readFrames(
  session: Session,
  frames: Debugger.CallFrame[],
  urls: ReadonlyMap<string, string>,
): LocalFrame[] {
  return frames
    .map((frame) => ({ ...frame, url: frame.url || (urls.get(frame.location.scriptId) ?? '') }))
    .filter((frame) => !frame.url.startsWith('node:'))
    .slice(0, maxFrames)
    .map((frame) => ({
      functionName: frame.functionName,
      scriptId: frame.location.scriptId,
      url: frame.url,
      line: frame.location.lineNumber + 1,
      column: (frame.location.columnNumber ?? 0) + 1,
      scopes: frame.scopeChain
        .filter((scope) => shownScopes.has(scope.type))
        .map((scope) => readScope(session, scope)),
    }));
}

function readScope(session: Session, scope: Debugger.Scope): LocalFrame['scopes'][number] {
  const variables: { name: string; value: string }[] = [];
  const { objectId } = scope.object;
  if (objectId !== undefined)
    session.post(
      'Runtime.getProperties',
      { objectId, ownProperties: true, generatePreview: true },
      (error, result) => {
        if (error) return;
        for (const { name, value } of result.result.slice(0, maxVariables))
          variables.push({ name, value: value ? renderValue(value) : '(optimised away)' });
      },
    );
  return scope.name === undefined
    ? { type: scope.type, variables }
    : { type: scope.type, name: scope.name, variables };
}

/** One line for a value, as the debugger previews it. */
export function renderValue(value: Runtime.RemoteObject): string {
  const { preview } = value;
  const text = preview
    ? renderPreview(value, preview)
    : (value.description ?? JSON.stringify(value.value) ?? value.type);
  if (text.length <= maxValueChars) return text;
  return `${startOf(text, maxValueChars)}… (${text.length} characters)`;
}

function renderPreview(value: Runtime.RemoteObject, preview: Runtime.ObjectPreview): string {
  const items = preview.properties.map(({ name, value: cut, type }) => {
    const text = cut && withoutCutWords(cut);
    const shown = type === 'string' ? JSON.stringify(text ?? '') : (text ?? type);
    return value.subtype === 'array' ? shown : `${name}: ${shown}`;
  });
  const rest = preview.overflow ? ', …' : '';
  const [open, close] = value.subtype === 'array' ? ['[', ']'] : ['{', '}'];
  return `${value.description ?? value.type} ${open}${items.join(', ')}${rest}${close}`;
}
