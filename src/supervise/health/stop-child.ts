/**
 * Ends an unhealthy program: SIGTERM to the program, and after a grace period SIGKILL to it and to a shell that started it.
 */
import { constants } from 'node:os';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';
import { findProgram } from './program.ts';

export interface Stopping {
  /** The process that was started. */
  pid: number;
  ended: Promise<unknown>;
  graceMs: number;
  /** Its main thread can't run signal handlers. */
  isStuck: boolean;
  onSignal(name: typeof signals.end | typeof signals.kill): void;
}

/** Grace period if the main thread is stuck: enough for the default action of the kernel. */
const stuckGraceMs = 200;

/** Resolves when the started process has ended, with the signals that were sent, in order. */
export async function stopChild(stopping: Stopping): Promise<string[]> {
  const { pid, graceMs, isStuck } = stopping;
  const program = findProgram(pid);
  const handles = isCaught(program, constants.signals.SIGTERM);
  // A stuck program with a handler can't react to SIGTERM, so it gets SIGKILL at once.
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
      // The process has ended.
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
