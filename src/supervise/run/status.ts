/**
 * The state of the supervisors and programs of a dump folder: which ones run, how often they were restarted, and how they
 * ended.
 */
import { basename } from 'node:path';
import type { SessionFate } from '../../journal/layout/session.ts';
import { classifySession, listSessions, readSession } from '../../journal/read/session.ts';
import { platform } from '../../platform/index.ts';
import { type LedgerLine, type LedgerReading, readLedgers } from './ledger.ts';

export interface RunningProgram {
  session: string;
  program: string;
  pid: number;
  fate: SessionFate;
  because: string;
  startedAt: string;
}

export interface Supervised {
  /** The supervisor's id. */
  id: string;
  program: string;
  since: string;
  /** The supervisor is still running. */
  running: boolean;
  restarts: number;
  crashLoop: boolean;
  /** Newest first, at most ten. */
  deaths: { at: string; code?: number; signal?: string; verdictKind?: string; bundle?: string }[];
  /** 1-based number of the first ledger line that doesn't match the hash of the previous one. */
  ledgerBrokenAt?: number;
}

export interface Status {
  programs: RunningProgram[];
  supervised: Supervised[];
}

const mostDeaths = 10;

export function readStatus(dir: string): Status {
  return {
    programs: listSessions(dir).flatMap((folder) => describeProgram(folder)),
    supervised: readLedgers(dir).map((reading) => describeSupervised(reading)),
  };
}

function describeProgram(folder: string): RunningProgram[] {
  try {
    const facts = readSession(folder);
    const { fate, because } = classifySession(folder, facts);
    const { program, startedAt } = facts;
    return [{ session: basename(folder), program, pid: facts.process.pid, fate, because, startedAt }];
  } catch {
    return [];
  }
}

function describeSupervised({ id, lines, brokenAt }: LedgerReading): Supervised {
  const first = lines.find((line) => line.event === 'supervise');
  const isOver = lines.some((line) => line.event === 'end' || line.event === 'crash-loop');
  return {
    id,
    program: first?.program ?? '?',
    since: first?.at ?? '?',
    running: !isOver && first !== undefined && isRunning(first.pid, first.startTicks),
    restarts: lines.filter((line) => line.event === 'restart').length,
    crashLoop: lines.some((line) => line.event === 'crash-loop'),
    deaths: lines
      .flatMap((line) => describeDeath(line))
      .reverse()
      .slice(0, mostDeaths),
    ...(brokenAt !== undefined && { ledgerBrokenAt: brokenAt }),
  };
}

function describeDeath(line: LedgerLine): Supervised['deaths'] {
  if (line.event !== 'exit' || line.code === 0) return [];
  const { at, code, signal, verdictKind, bundle } = line;
  return [
    {
      at,
      ...(code !== undefined && { code }),
      ...(signal !== undefined && { signal }),
      ...(verdictKind !== undefined && { verdictKind }),
      ...(bundle !== undefined && { bundle }),
    },
  ];
}

function isRunning(pid: number, startTicks: string | undefined): boolean {
  return platform.isThere(pid) && (startTicks === undefined || platform.startToken(pid) === startTicks);
}
