/**
 * Local variables at an uncaught throw: the thread debugs itself and is paused, synchronously, where the exception leaves the
 * program. On request only: with Debugger.enable hot code is ten times slower (platform facts in README.md).
 */
import type { Debugger, Runtime, Session } from 'node:inspector';
import type { LocalsPart } from '../../bundle/layout/bundle.ts';
import { isOwnScript } from './own-scripts.ts';
import { readVariables, type Variable } from './scope-variables.ts';
import { tellUnavailableValues } from './unavailable-values.ts';
import { guardVmCode, losesVmExceptions, vmCodeHasThrown } from './vm-guard.ts';

type LocalFrame = LocalsPart['frames'][number];

const maxFrames = 12;
const maxAsyncStacks = 8;
/** Scopes that belong to a frame. The global one is not specific to it. */
export const shownScopes = new Set(['local', 'closure', 'block', 'catch', 'eval', 'module', 'script']);

let recorded: LocalFrame[] | undefined;
let scheduledBy: string | undefined;

/** Returns the frames of the last uncaught throw, and discards them. */
export function takeLocals(): LocalFrame[] | undefined {
  const frames = recorded;
  recorded = undefined;
  return frames;
}

/**
 * Returns the text of the stack that scheduled the code of the last uncaught throw (the await, the `then`, the timer), and
 * discards it.
 */
export function takeSchedulingStack(): string | undefined {
  const stack = scheduledBy;
  scheduledBy = undefined;
  return stack;
}

/**
 * Why the debugger may not be armed for this program: with `-e`, `-p` and a program on stdin, every exception of the first
 * turn leaves code that Node runs in the same way as `node:vm` (vm-guard.ts).
 */
export function whyNotArmed(): string | undefined {
  const [script] = process.argv.slice(1);
  const isFile =
    (process as { _eval?: string })._eval === undefined && script !== undefined && script !== '-';
  return isFile || !losesVmExceptions() ? undefined : `the program is no file${lostAtPause}`;
}

/** Why there was no pause at an exception although the debugger was armed, as far as known. */
export function whyNotPaused(): string | undefined {
  return vmCodeHasThrown() ? `it was thrown by code that node:vm ran${lostAtPause}` : whyNotArmed();
}

const lostAtPause =
  ', and this Node loses the exception of such code at a debugger’s pause; Node 24 does not';

/**
 * Arms the debugger; returns a function that disarms it. Throws if this Node has no inspector. `ownFile`: the preload's path.
 */
export function armLocals(ownFile: string): () => void {
  const inspector = process.getBuiltinModule('node:inspector');
  const session = new inspector.Session();
  const urls = new Map<string, string>();
  // The program may replace the method of the prototype, and would then be called at a pause.
  Object.defineProperty(session, 'emit', { value: session.emit });
  session.connect();
  // A paused frame often has no URL of its own.
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  session.on('Debugger.paused', ({ params }) => {
    // The heap is full: V8 has raised its limit for a debugger, and would do so again and again.
    if (params.reason === 'OOM') return void session.post('Debugger.disable');
    // A pause that was asked for at a death (rejected-object.ts).
    if (params.reason === 'other') return;
    recorded = readFrames(session, params.callFrames, urls, ownFile);
    scheduledBy = params.asyncStackTrace && renderAsyncStack(params.asyncStackTrace);
  });
  tellUnavailableValues(true);
  session.post('Debugger.enable');
  const pauseOn = (state: 'none' | 'uncaught'): void =>
    session.post('Debugger.setPauseOnExceptions', { state });
  pauseOn('uncaught');
  const leaveVmCode = losesVmExceptions() ? guardVmCode(pauseOn) : () => {};
  session.post('Debugger.setAsyncCallStackDepth', { maxDepth: maxAsyncStacks });
  return () => {
    leaveVmCode();
    session.disconnect();
    tellUnavailableValues(false);
  };
}

/** In V8's stack format; each earlier stack continues where the later one began. */
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
  ownFile: string,
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
        .filter((scope) => shownScopes.has(scope.type) && !isOwnScript(frame.url, ownFile))
        .map((scope) => readScope(session, scope)),
    }));
}

function readScope(session: Session, { type, name, object }: Debugger.Scope): LocalFrame['scopes'][number] {
  const variables = object.objectId === undefined ? [] : askAll(session, readVariables(object.objectId));
  return { type, variables, ...(name !== undefined && { name }) };
}

/** On the thread's own session `post` calls back synchronously. */
function askAll(session: Session, questions: ReturnType<typeof readVariables>): Variable[] {
  let next = questions.next();
  while (!next.done) {
    let answer: Parameters<typeof questions.next>[0];
    const { method, params } = next.value;
    session.post(method as string, params, (error, result?: object) => {
      if (!error) answer = result as typeof answer;
    });
    next = questions.next(answer);
  }
  return next.value;
}
