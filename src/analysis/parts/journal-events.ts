/**
 * What parts tell, from the flight recorder's records: for a process that could not write them. `process-events.json`
 * always; the command line and the allocations where the journal was sealed, so that no finisher could read them. Of a log
 * the newest record counts, which holds its whole end; a child's end repeats what its start said.
 */
import { findKindName } from '../../journal/layout/records.ts';
import { findJson, readJournal } from '../../journal/read/reader.ts';
import type { Unseal } from '../../journal/read/seal.ts';
import type { ChildFacts, Happenings } from '../../model/account.ts';
import { Fields, type PartFaults } from './fields.ts';
import { type OriginPartFacts, readOrigin } from './origin.ts';
import { type ProcessPartFacts, readProcess } from './process.ts';
import { readChild, readHandled, readLog, readPeak, readWarning } from './process-events.ts';
import { type HeapProfileFacts, readHeapProfile } from './surroundings.ts';

const mostKept = 40;

export interface JournalFacts {
  happenings?: Happenings;
  commandLine?: ProcessPartFacts;
  heapProfile?: HeapProfileFacts;
  /** As the requests in flight were written down last. */
  origin?: OriginPartFacts;
}

/** A field is absent when the journal tells nothing of the kind. */
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
  const happenings = found.finish();
  return happenings ? { ...facts, happenings } : facts;
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
  readonly #logs = new Map<string, NonNullable<Happenings['logs']>[number]>();
  readonly #children = new Map<string, ChildFacts>();
  readonly #warnings: NonNullable<Happenings['warnings']> = [];
  readonly #handled: NonNullable<Happenings['handled']> = [];
  readonly #peaks: NonNullable<Happenings['peaks']> = [];

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

  finish(): Happenings | undefined {
    const lists = {
      logs: [...this.#logs.values()],
      warnings: this.#warnings,
      handled: this.#handled,
      children: [...this.#children.values()].slice(-mostKept),
      peaks: this.#peaks,
    };
    const full = Object.entries(lists).filter(([, list]) => list.length > 0);
    return full.length ? Object.fromEntries(full) : undefined;
  }

  /** A pid may come again. */
  #addChild(fields: Fields): void {
    const child = readChild(fields);
    if (child) this.#children.set(`${child.pid} ${child.startedAt}`, child);
  }
}
