/**
 * Where another process's main thread is, with the variables of each frame: pauses it, reads, and lets it go on. A
 * thread that spins is interrupted where it is; one that sleeps in its event loop runs nothing, and has no stack.
 */
import type { Debugger, Runtime } from 'node:inspector';
import type { LocalsPart } from '../bundle/layout.ts';
import { renderValue, shownScopes } from '../capture/locals-recorder.ts';
import type { RemoteDebugger } from './remote-debugger.ts';

/** Of the main thread, or of a worker. */
type Thread = Pick<RemoteDebugger, 'send' | 'on'>;

export interface MainThreadStack {
  /** Innermost first; lines and columns 1-based. None when it was idle. */
  frames: LocalsPart['frames'];
  idle: boolean;
  /** From the pause to the going on, as seen from here. */
  pausedMs: number;
  /** Frames and variables that were left out. */
  cut: string[];
}

type CallFrame = Debugger.CallFrame;

const mostFrames = 40;
const mostFramesWithLocals = 15;
const mostVariables = 40;
/** A thread that runs JavaScript stops within milliseconds; so long is waited before it is called idle. */
const pauseWithinMs = 120;

/**
 * The debugger must be enabled. Leaves the thread running, whatever happens. `urlOf`: a script's URL by its id, which
 * the frames themselves leave out.
 */
export async function readMainThreadStack(
  remote: Thread,
  urlOf: (scriptId: string) => string | undefined,
): Promise<MainThreadStack> {
  const startedAt = performance.now();
  const frames = await pause(remote);
  if (!frames) {
    // Taken back, or the next timer would stop in it.
    await remote.send('Debugger.disable');
    return { frames: [], idle: true, pausedMs: 0, cut: [] };
  }
  try {
    const shown = frames
      .slice(0, mostFrames)
      .map((frame) => ({ ...frame, url: urlOf(frame.location.scriptId) ?? frame.url }));
    const read = await Promise.all(shown.map((frame, at) => readFrame(remote, frame, at)));
    const cut = frames.length > shown.length ? [`${frames.length} frames; ${mostFrames} are shown`] : [];
    return { frames: read, idle: false, pausedMs: performance.now() - startedAt, cut };
  } finally {
    await remote.send('Debugger.resume');
  }
}

async function pause(remote: Thread): Promise<CallFrame[] | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const paused = new Promise<CallFrame[]>((resolve) => {
    remote.on('Debugger.paused', (event) => resolve(event['callFrames'] as CallFrame[]));
  });
  const idle = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, pauseWithinMs, undefined);
  });
  await remote.send('Debugger.pause');
  const frames = await Promise.race([paused, idle]);
  clearTimeout(timer);
  return frames;
}

async function readFrame(
  remote: Thread,
  frame: CallFrame,
  depth: number,
): Promise<LocalsPart['frames'][number]> {
  const isOfInterest = depth < mostFramesWithLocals && !frame.url.startsWith('node:');
  const scopes = isOfInterest ? frame.scopeChain.filter((scope) => shownScopes.has(scope.type)) : [];
  return {
    functionName: frame.functionName,
    scriptId: frame.location.scriptId,
    url: frame.url,
    line: frame.location.lineNumber + 1,
    column: (frame.location.columnNumber ?? 0) + 1,
    scopes: await Promise.all(scopes.map((scope) => readScope(remote, scope))),
  };
}

async function readScope(
  remote: Thread,
  scope: Debugger.Scope,
): Promise<LocalsPart['frames'][number]['scopes'][number]> {
  const { objectId } = scope.object;
  const found = await remote
    .send('Runtime.getProperties', { objectId, ownProperties: true, generatePreview: true })
    .catch(() => ({ result: [] }));
  const properties = (found['result'] as Runtime.PropertyDescriptor[]).slice(0, mostVariables);
  const variables = properties.map(({ name, value }) => ({
    name,
    value: value ? renderValue(value) : '(optimised away)',
  }));
  return { type: scope.type, variables, ...(scope.name !== undefined && { name: scope.name }) };
}

/** As V8 prints a stack, so that it is read like any other. */
export function stackTextOf(frames: LocalsPart['frames']): string {
  const lines = frames.map(({ functionName, url, line, column }) => {
    const place = `${url || '<anonymous>'}:${line}:${column}`;
    return functionName ? `    at ${functionName} (${place})` : `    at ${place}`;
  });
  return ['Main thread', ...lines].join('\n');
}
