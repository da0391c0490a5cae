/** Ends an unhealthy program: SIGTERM to it, and after a while SIGKILL to it and to a shell before it. */
import { constants } from 'node:os';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';
import { findProgram } from './program.ts';

export interface Stopping {
  /** The process that was started. */
  pid: number;
  ended: Promise<unknown>;
  graceMs: number;
  /** Its main thread can't act on a signal that it handles. */
  isStuck: boolean;
  onSignal(name: typeof signals.end | typeof signals.kill): void;
}

/** Of a main thread that is stuck: for what the kernel does by itself. */
const stuckGraceMs = 200;

/** Resolves when the started process has ended. Signals that it was sent, in order. */
export async function stopChild(stopping: Stopping): Promise<string[]> {
  const { pid, graceMs, isStuck } = stopping;
  const program = findProgram(pid);
  const handles = isCaught(program, constants.signals.SIGTERM);
  // A handler needs the event loop, so there is nothing to wait for.
  if (!isStuck || !handles) {
    send(stopping, signals.end, [program]);
    if (await endsWithin(stopping.ended, isStuck ? stuckGraceMs : graceMs)) return [signals.end];
  }
  send(stopping, signals.kill, [program, pid]);
  await stopping.ended;
  return !isStuck || !handles ? [signals.end, signals.kill] : [signals.kill];
}

function send(stopping: Stopping, name: typeof signals.end | typeof signals.kill, pids: number[]): void {
  stopping.onSignal(name);
  for (const pid of new Set(pids)) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended meanwhile.
    }
  }
}

async function endsWithin(ended: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const isOver = await Promise.race([ended.then(() => true), late]);
  clearTimeout(timer);
  return isOver;
}

function isCaught(pid: number, signal: number): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(platform.processFile(pid, 'status') ?? '')?.[1];
  return mask !== undefined && (BigInt(`0x${mask}`) & (1n << BigInt(signal - 1))) !== 0n;
}
