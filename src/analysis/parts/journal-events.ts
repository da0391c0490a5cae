/**
 * Reads parts from the flight recorder's records, for a process that couldn't write them: `process-events.json` always; the
 * command line and the allocations only if the journal was sealed, since then no finisher could read them. For a log, only
 * the newest record counts, since it contains the whole tail; the record of a child's end repeats that of its start.
 */
import { findKindName } from '../../journal/layout/records.ts';
import { findJson, readJournal } from '../../journal/read/reader.ts';
import type { Unseal } from '../../journal/read/seal.ts';
import type { ChildFacts, ProcessEvents } from '../../model/account.ts';
import { Fields, type PartFaults } from './fields.ts';
import { type OriginPartFacts, readOrigin } from './origin.ts';
import { type ProcessPartFacts, readProcess } from './process.ts';
import { distinctLogs, readChild, readHandled, readLog, readPeak, readWarning } from './process-events.ts';
import { type HeapProfileFacts, readHeapProfile } from './surroundings.ts';

const mostKept = 40;

export interface JournalFacts {
  processEvents?: ProcessEvents;
  commandLine?: ProcessPartFacts;
  heapProfile?: HeapProfileFacts;
  /** The last record of the requests in flight. */
  origin?: OriginPartFacts;
}

/** Fields without records in the journal are absent. */
export function readJournalFacts(bytes: Uint8Array, faults: PartFaults, unseal?: Unseal): JournalFacts {
  const found = new JournalEvents();
  const facts: JournalFacts = {};
  for (const record of readJournal(bytes, unseal).records) {
    const kind = findKindName(record.kind);
    if (record.sealed || !kind || !wanted.has(kind)) continue;
    const fields = Fields.of(findJson(record), kind, faults);
    if (!fields) continue;
    if (kind === 'commandLine') facts.commandLine = readProcess(fields);
    else if (kind === 'heapProfile') facts.heapProfile = readHeapProfile(fields);
    else if (kind === 'openRequests')
      facts.origin = { ...readOrigin(fields), lastSeen: { at: new Date(record.atMs).toISOString() } };
    else found.add(kind, fields, new Date(record.atMs).toISOString());
  }
  const processEvents = found.finish();
  return processEvents ? { ...facts, processEvents } : facts;
}

const wanted = new Set([
  'logTail',
  'warning',
  'handledException',
  'handledRejection',
  'childStart',
  'childEnd',
  'resourcePeak',
  'commandLine',
  'heapProfile',
  'openRequests',
]);

class JournalEvents {
  readonly #logs = new Map<string, NonNullable<ProcessEvents['logs']>[number]>();
  readonly #children = new Map<string, ChildFacts>();
  readonly #warnings: NonNullable<ProcessEvents['warnings']> = [];
  readonly #handled: NonNullable<ProcessEvents['handled']> = [];
  readonly #peaks: NonNullable<ProcessEvents['peaks']> = [];

  add(kind: string, fields: Fields, at: string): void {
    const push = <One extends object>(list: One[], one: One | undefined) => {
      if (one) list.push({ at, ...one });
      if (list.length > mostKept) list.shift();
    };
    if (kind === 'logTail') {
      const log = readLog(fields);
      if (log) this.#logs.set(log.stream, { ...log, writtenAt: at });
    } else if (kind === 'warning') push(this.#warnings, readWarning(fields));
    else if (kind === 'handledException') push(this.#handled, readHandled(fields, 'exception'));
    else if (kind === 'handledRejection') push(this.#handled, readHandled(fields, 'rejection'));
    else if (kind === 'resourcePeak') push(this.#peaks, readPeak(fields));
    else this.#addChild(fields);
  }

  finish(): ProcessEvents | undefined {
    const lists = {
      logs: distinctLogs([...this.#logs.values()]),
      warnings: this.#warnings,
      handled: this.#handled,
      children: [...this.#children.values()].slice(-mostKept),
      peaks: this.#peaks,
    };
    const full = Object.entries(lists).filter(([, list]) => list.length > 0);
    return full.length ? Object.fromEntries(full) : undefined;
  }

  /** Pids can be reused. */
  #addChild(fields: Fields): void {
    const child = readChild(fields);
    if (child) this.#children.set(`${child.pid} ${child.startedAt}`, child);
  }
}
