/**
 * Handles a program that failed a check: triage, a bundle while it is still alive, and its end if it is to be restarted. Each
 * step is written to the ledger. life.ts records the recovery.
 */

import type { signals } from '../../platform/signals.ts';
import type { VerdictHint } from '../attach/capture-live.ts';
import { lockOf } from '../evidence/lock.ts';
import type { CoreDigest } from '../native/core-part.ts';
import type { LedgerEvent } from '../run/ledger.ts';
import type { LedgerBuffer } from '../run/ledger-buffer.ts';
import { makeScrubber } from '../scrub/scrubber.ts';
import type { Complaint } from './limits.ts';
import { findProgram } from './program.ts';
import { stopChild } from './stop-child.ts';
import { type Condition, type Triage, triage } from './triage.ts';

export interface WatchedProgram {
  /** The process that was started. */
  pid: number;
  ended: Promise<unknown>;
}

export interface Care {
  dir: string;
  ledger: LedgerBuffer;
  stopGraceMs: number;
  /** Whether it is ended and restarted; otherwise it is left running. */
  stops: boolean;
  digestCore?: CoreDigest | undefined;
  /** The values that the program withholds. */
  withheld(): string[];
  /** From now on we end the program. `bundle` explains that, if there is one. */
  onStop(bundle: string | undefined): void;
  onSignal(name: typeof signals.end | typeof signals.kill, reason: string): void;
  note(text: string): void;
}

export interface Attended {
  /** The program turned out to be healthy. */
  falseAlarm?: true;
  bundle?: string;
  verdictKind?: string;
}

/** A dump that takes longer is abandoned, so that the program is restarted soon. */
const longestDumpMs = 20_000;

export async function attend(watched: WatchedProgram, complaint: Complaint, care: Care): Promise<Attended> {
  const child = watched.pid;
  const { level, check, what } = complaint;
  await care.ledger.write({ event: 'unhealthy', child, level, check, what });
  const program = findProgram(child);
  // Loads the module while the triage runs.
  import('../attach/capture-live.ts').catch(() => {});
  const found = await triage(program, complaint);
  await care.ledger.write({ event: 'triage', child, program, ...found });
  const turns = found.condition === 'busy' || found.condition === 'waiting';
  if (turns && check === 'main-thread') return { falseAlarm: true };
  if (found.condition === 'gone') return {};
  const dump = await takeDump(program, complaint, found, care);
  await care.ledger.write({ event: 'dump', child, ...dump });
  if (care.stops) await stop(watched, complaint, found.condition, dump.bundle, care);
  else care.note(`${what}; left running, because --restart is not given`);
  const { bundle } = dump;
  return bundle === undefined ? {} : { bundle, verdictKind: verdictFor(complaint, found.condition) };
}

type Dump = Omit<Extract<LedgerEvent, { event: 'dump' }>, 'event' | 'child'>;

async function takeDump(pid: number, complaint: Complaint, found: Triage, care: Care): Promise<Dump> {
  const startedAt = performance.now();
  const tookMs = () => Math.round(performance.now() - startedAt);
  const hint = verdictFor(complaint, found.condition);
  try {
    const { captureLive } = await import('../attach/capture-live.ts');
    const capture = captureLive({
      pid,
      dir: care.dir,
      scrubber: makeScrubber(process.env, care.withheld()),
      ...lockOf(process.env),
      kind: hint === 'event-loop-hang' ? 'silence' : 'capture',
      verdictKind: hint,
      reason: `${complaint.what}; ${found.finding}`,
      ...(care.digestCore && { digestCore: care.digestCore }),
    });
    const { path, how } = await withinTime(capture, longestDumpMs);
    return { bundle: path, how, tookMs: tookMs() };
  } catch (error) {
    return { how: 'none', tookMs: tookMs(), reason: error instanceof Error ? error.message : String(error) };
  }
}

function verdictFor({ check }: Complaint, condition: Condition): VerdictHint {
  if (check === 'memory') return 'snapshot';
  return condition === 'spinning' || condition === 'blocked' ? 'event-loop-hang' : 'no-progress';
}

async function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no bundle within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function stop(
  watched: WatchedProgram,
  { what }: Complaint,
  condition: Condition,
  bundle: string | undefined,
  care: Care,
): Promise<void> {
  const startedAt = performance.now();
  care.onStop(bundle);
  const signals = await stopChild({
    ...watched,
    graceMs: care.stopGraceMs,
    isStuck: condition === 'spinning' || condition === 'blocked',
    onSignal: (name) => care.onSignal(name, what),
  });
  const tookMs = Math.round(performance.now() - startedAt);
  await care.ledger.write({ event: 'stop', child: watched.pid, signals, tookMs });
}
