/**
 * The same as `process-events.json` tells, from the flight recorder's records: for a process that could not write a part.
 * Of a log the newest record counts, which holds its whole end; a child's end repeats what its start said.
 */
import { findKindName } from '../../journal/layout-records.ts';
import { findJson, readJournal } from '../../journal/reader.ts';
import type { ChildFacts, Happenings } from '../../model/account.ts';
import { Fields, type PartFaults } from './fields.ts';
import { readChild, readHandled, readLog, readPeak, readWarning } from './process-events.ts';

const mostKept = 40;

/** Undefined when the journal tells of nothing of the kind. */
export function readJournalEvents(bytes: Uint8Array, faults: PartFaults): Happenings | undefined {
  const found = new JournalEvents();
  for (const record of readJournal(bytes).records) {
    const kind = findKindName(record.kind);
    const fields = kind && wanted.has(kind) ? Fields.of(findJson(record), kind, faults) : undefined;
    if (kind && fields) found.add(kind, fields, new Date(record.atMs).toISOString());
  }
  return found.finish();
}

const wanted = new Set([
  'logTail',
  'warning',
  'handledException',
  'handledRejection',
  'childStart',
  'childEnd',
  'resourcePeak',
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
