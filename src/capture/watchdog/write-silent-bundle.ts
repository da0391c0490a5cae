/** Has the cold half, in this thread, write what can be seen of a main thread that can't write it itself. */

import type { StallFacts } from '../../bundle/layout/bundle.ts';
import type * as ColdHalf from '../install/cold-half.ts';
import { writeStderrLine } from '../install/stderr-line.ts';
import type { StallReport, WatchdogData } from './protocol.ts';

export interface SilentBundleFacts {
  withheld: string[];
  journal?: string;
}

export interface Stalled {
  data: WatchdogData;
  facts: SilentBundleFacts;
  stall: Omit<StallFacts, 'where'>;
  signal: NodeJS.Signals | undefined;
  /** It dies of the signal, and there is no time to look twice. */
  isDeath: boolean;
  /** Runs `write`, which keeps this thread busy, while no signal is held; undefined if a signal arrived before. */
  unheld<Value>(write: () => Value): Promise<Value | undefined>;
}

/** Of a thread that was not stopped. */
export interface SeenInPassing {
  stall: StallFacts;
  /** Absent if it did not answer. */
  stackText?: string;
}

/** For a bundle that is written here. */
export type SeenFromHere = StallReport | SeenInPassing;

/** Path of the bundle; undefined if none was written. Never throws. */
export function writeSilentBundle(
  { data, facts, signal }: Stalled,
  { stall, ...stack }: SeenFromHere,
): string | undefined {
  const flags = globalThis as Record<symbol, unknown>;
  const loadOnly = Symbol.for('agentdump.loadOnly');
  flags[loadOnly] = true;
  try {
    const preload = require(data.ownFile) as { loadColdHalf(): typeof ColdHalf };
    return preload.loadColdHalf().captureSilent({
      config: data.config,
      ownFile: data.ownFile,
      lock: data.lock,
      withheld: [...facts.withheld],
      program: data.program,
      stall,
      ...('frames' in stack ? { frames: stack.frames } : stack),
      ...(facts.journal !== undefined && { journal: facts.journal }),
      ...(signal !== undefined && { signal, isSnapshot: signal === data.snapshotSignal }),
    });
  } catch (error) {
    writeStderrLine(`no bundle: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  } finally {
    delete flags[loadOnly];
  }
}
