/**
 * Reads the stack of a thread of another process, with the variables of each frame: pauses it, reads, and resumes it. A
 * spinning thread is interrupted where it is. A thread that waits in its event loop runs no JavaScript and has no stack.
 */
import type { Debugger } from 'node:inspector';
import type { LocalsPart } from '../../bundle/layout/bundle.ts';
import { readFrames } from '../../capture/stacks/frame-reader.ts';
import { isOwnScript } from '../../capture/stacks/own-scripts.ts';
import { preloadFile } from '../arm.ts';
import type { RemoteDebugger } from './remote-debugger.ts';

/** The main thread or a worker. */
type Thread = Pick<RemoteDebugger, 'send' | 'on'>;

export interface MainThreadStack {
  /** Innermost first; lines and columns are 1-based. Empty if the thread was idle. */
  frames: LocalsPart['frames'];
  idle: boolean;
  /** From the pause request to the resume, measured here. */
  pausedMs: number;
  /** Frames and variables that were left out. */
  cut: string[];
}

/**
 * Whether nothing of the program is on the stack: the thread is in its event loop, in code of Node that the loop calls, or in
 * the recorder's, for example because it was asked for its bundle.
 */
export function runsNothing({ idle, frames }: Pick<MainThreadStack, 'idle' | 'frames'>): boolean {
  return idle || frames.every(({ url }) => url.startsWith('node:') || isOwnScript(url, preloadFile));
}

type CallFrame = Debugger.CallFrame;

const mostFrames = 40;
/** A thread that runs JavaScript pauses within milliseconds. After this time it is considered idle. */
const usualPauseMs = 120;

/**
 * The debugger must be enabled. The thread is resumed in any case. `urlOf`: URL of a script by its id, because it is missing
 * in the frames.
 */
export async function readMainThreadStack(
  remote: Thread,
  urlOf: (scriptId: string) => string | undefined,
  pauseWithinMs = usualPauseMs,
): Promise<MainThreadStack> {
  const startedAt = performance.now();
  const frames = await pause(remote, pauseWithinMs);
  if (!frames) {
    // Cancels the pause, which would otherwise stop the thread at the next timer.
    await remote.send('Debugger.disable');
    return { frames: [], idle: true, pausedMs: 0, cut: [] };
  }
  try {
    const shown = frames
      .slice(0, mostFrames)
      .map((frame) => ({ ...frame, url: urlOf(frame.location.scriptId) ?? frame.url }));
    const read = await readFrames((method, params) => remote.send(method, params), shown, preloadFile);
    const cut = frames.length > shown.length ? [`${frames.length} frames; ${mostFrames} are shown`] : [];
    return { frames: read, idle: false, pausedMs: performance.now() - startedAt, cut };
  } finally {
    await remote.send('Debugger.resume');
  }
}

async function pause(remote: Thread, withinMs: number): Promise<CallFrame[] | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const paused = new Promise<CallFrame[]>((resolve) => {
    remote.on('Debugger.paused', (event) => resolve(event['callFrames'] as CallFrame[]));
  });
  const idle = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, withinMs, undefined);
  });
  await remote.send('Debugger.pause');
  const frames = await Promise.race([paused, idle]);
  clearTimeout(timer);
  return frames;
}
