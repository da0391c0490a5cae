/**
 * What a parent that has the preload noted of its child's end (journal/write/observed-exit.ts). The contents of the file are not
 * trusted.
 */
import { join } from 'node:path';
import { type ObservedExit, observedExitName } from '../../journal/layout/session.ts';
import { lastWriteMs } from '../../journal/read/session.ts';
import { signals } from '../../platform/signals.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import type { Witness } from './evidence.ts';

/** A process that wrote later has outlived the signal that was noted. */
const slackMs = 2000;

/** Undefined if the parent noted nothing, or if the process lived on. */
export function readObservedExit(folder: string): ObservedExit | undefined {
  const text = readSmallFile(join(folder, observedExitName));
  if (text === undefined) return undefined;
  try {
    const { at, signal, code, byParent, inferred } = JSON.parse(text) as Partial<ObservedExit>;
    const atMs = Date.parse(String(at));
    if (!(lastWriteMs(folder) <= atMs + slackMs)) return undefined;
    return {
      at: new Date(atMs).toISOString(),
      ...(typeof signal === 'string' && /^SIG[A-Z0-9]+$/.test(signal) && { signal }),
      ...(Number.isInteger(code) && { code: code as number }),
      ...(byParent === true && { byParent }),
      ...(inferred === true && { inferred }),
    };
  } catch {
    return undefined;
  }
}

const requests: ReadonlySet<string> = new Set([signals.end, signals.hangUp, signals.quit]);

/**
 * Whether it was ended on purpose: by its terminal (the preload leaves SIGINT alone), or by its parent, with a signal that asks
 * a process to end, or on the parent's own way out.
 */
export function isWish({ signal, byParent }: ObservedExit): boolean {
  if (signal === undefined) return byParent === true;
  return signal === signals.interrupt || (byParent === true && requests.has(signal));
}

/** As if the parent itself had asked for the bundle. */
export function seenBy({ at, ...exit }: ObservedExit, witness: Witness): Witness {
  return { ...witness, exit, endedAt: at };
}
