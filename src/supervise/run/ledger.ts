/**
 * The supervisor's ledger: one JSON line per event. Each line contains the SHA-256 of the previous one, so that changed or
 * removed lines are detected. One file per supervisor, only ever appended to.
 */
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import type { HealthLevel } from '../health/limits.ts';

/** Within the dump folder. The file `ledger` in that folder belongs to the bundles. */
const ledgerFolder = 'supervisors';
const ledgerSuffix = '.jsonl';
const longestLedger = 64 * 1024 * 1024;

/** The events that `agentdump run` writes, in this order for each life of the program. */
export type LedgerEvent =
  | { event: 'supervise'; program: string; pid: number; startTicks?: string; restart: string }
  | { event: 'start'; child: number; session: string; attempt: number; escalated?: string[] }
  | { event: 'unhealthy'; child: number; level: HealthLevel; check: string; what: string }
  | { event: 'triage'; child: number; program: number; condition: string; finding: string }
  | {
      event: 'dump';
      child: number;
      how: 'inspector' | 'live-core' | 'kernel-view' | 'none';
      tookMs: number;
      bundle?: string;
      reason?: string;
    }
  | { event: 'stop'; child: number; signals: string[]; tookMs: number }
  | { event: 'recovered'; child: number; afterMs: number }
  | { event: 'fresh-state'; because: string; moved?: string; reason?: string }
  | { event: 'signal'; name: string; by: 'passed-on' | 'group'; reason?: string }
  | {
      event: 'exit';
      child: number;
      code?: number;
      signal?: string;
      ranMs: number;
      verdictKind?: string;
      bundle?: string;
    }
  | { event: 'restart'; delayMs: number; restarts: number }
  | {
      event: 'crash-loop';
      restarts: number;
      windowMs: number;
      signature?: string;
      hook?: string;
      hookExit?: number;
    }
  | { event: 'end'; because: string };

export type LedgerLine = LedgerEvent & { at: string; previous: string };

const noLine = '0'.repeat(64);
const digest = (line: string) => createHash('sha256').update(line).digest('hex');

export class Ledger {
  readonly #path: string;
  #fd: number | undefined;
  #previous = noLine;

  constructor(dir: string, id: string) {
    this.#path = join(dir, ledgerFolder, id + ledgerSuffix);
  }

  /** `at`: ISO 8601 UTC. Never throws: a full disk must not stop the program. The ledger then lacks the event. */
  add(event: LedgerEvent, at: string): void {
    try {
      this.#fd ??= this.#open();
      const line = JSON.stringify({ ...event, at, previous: this.#previous });
      writeSync(this.#fd, `${line}\n`);
      this.#previous = digest(line);
    } catch {
      // See above.
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #open(): number {
    mkdirSync(join(this.#path, '..'), { recursive: true, mode: 0o700 });
    return openSync(this.#path, 'ax', 0o600);
  }
}

export interface LedgerReading {
  id: string;
  lines: LedgerLine[];
  /** 1-based number of the first line that is not JSON or doesn't match the hash of the previous one. */
  brokenAt?: number;
}

/** All ledgers of a dump folder, oldest first; empty if the folder does not exist. */
export function readLedgers(dir: string): LedgerReading[] {
  let names: string[];
  try {
    names = readdirSync(join(dir, ledgerFolder)).filter((name) => name.endsWith(ledgerSuffix));
  } catch {
    return [];
  }
  const readings = names.map((name) =>
    readLedger(join(dir, ledgerFolder, name), name.slice(0, -ledgerSuffix.length)),
  );
  return readings.sort((a, b) => ((a.lines[0]?.at ?? '') < (b.lines[0]?.at ?? '') ? -1 : 1));
}

/** A last line without a line end is a truncated write, and is left out. */
function readLedger(path: string, id: string): LedgerReading {
  if (statSync(path).size > longestLedger)
    throw new AgentdumpError('over-limit', `${path} is not a ledger of agentdump`, {
      limit: 'ledger',
      wanted: path,
    });
  const texts = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const lines: LedgerLine[] = [];
  let previous = noLine;
  for (const text of texts) {
    const line = parseLine(text);
    if (line?.previous !== previous) return { id, lines, brokenAt: lines.length + 1 };
    lines.push(line);
    previous = digest(text);
  }
  return { id, lines };
}

function parseLine(text: string): LedgerLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as LedgerLine) : undefined;
  } catch {
    return undefined;
  }
}
