/**
 * Keeps the journal of a running program, so that a death at which nothing can be written (SIGKILL, an out-of-memory kill, a
 * native crash) still leaves what the agent did. It is written as things happen, and removed when the program ends by itself.
 * Memory is sampled when something is written, at most once a second, and when the event recorder asks for it.
 */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { Lock } from '../../bundle/write/age-key.ts';
import { type MemorySamplePayload, recordKinds } from '../../journal/layout/records.ts';
import { type SessionFacts, sessionName, sessionVariable } from '../../journal/layout/session.ts';
import { describeSession } from '../../journal/write/session.ts';
import { sessionFolder, writeSession } from '../../journal/write/session-file.ts';
import { newId } from '../../journal/write/session-id.ts';
import { type JournalWriter, openJournal } from '../../journal/write/writer.ts';
import { lastName } from '../../platform/paths.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import type { MemoryReading, MemorySampler } from '../heap/memory-sampler.ts';
import { sealFor } from './flight-seal.ts';

export interface FlightRecorder {
  /** Id of the session, under which the death of a process that can't report it is described. */
  readonly sessionId: string;
  /** Calls `sayAgain` when old segments are dropped, for records that must outlive them. */
  carryOver(sayAgain: () => void): void;
  /** Contains the journal and the session file. */
  readonly folder: string;
  /** Never throws. After a disk error it does nothing more. */
  append(kind: number, payload: string): number;
  /** Like `append`, but may stay in memory until the next one, or `flush`. */
  appendBuffered(kind: number, payload: string): number;
  flush(): void;
  /** The process has written a bundle about its own death, which needs no further explanation. */
  noteBundle(path: string): void;
  /** The process ends, and an earlier bundle explains it: a sweep shall find nothing. A supervisor sees the end itself. */
  leaveNothing(): void;
  /** The process ends by itself. */
  end(exitCode: number): void;
  /** Records and returns the memory in use; undefined if nothing is written any more. */
  sample(): MemorySamplePayload | undefined;
}

/** Runs synchronous work that reads and writes the real file system, whatever the program mocks. */
export type OnDisk = <Result>(work: () => Result) => Result;

export interface FlightOptions {
  /** The dump folder, absolute. */
  dir: string;
  /** Redacted. */
  program: string;
  cwd: string;
  argv: string[];
  execArgv: string[];
  /** Who can read the content; without it, everybody who can read the file. */
  lock: Lock | undefined;
  memory: MemorySampler;
  /** The id of the session that this process has opened at its start, if it has. */
  begun?: string | undefined;
  onDisk: OnDisk;
}

const { readdirSync, rmdirSync, unlinkSync } = fs;
const { now } = Date;
const sampleEveryMs = 1000;

/** Throws if the dump folder can't be written. */
export function startFlightRecorder(options: FlightOptions): FlightRecorder {
  return options.onDisk(() => startOnDisk(options));
}

function startOnDisk(options: FlightOptions): FlightRecorder {
  const adopted = findAdopted(options.dir);
  const session = adopted ?? openSession(options);
  const carryOvers: (() => void)[] = [];
  const journal = openJournal({
    dir: session.folder,
    sessionId: session.facts.id,
    onSegment: () => {
      for (const carryOver of carryOvers) carryOver();
    },
    ...(options.lock && { seal: sealFor(options.lock) }),
  });
  sayProcessFacts(journal, options);
  return new Flight({
    journal,
    session,
    isAdopted: adopted !== undefined,
    carryOvers,
    memory: options.memory,
    onDisk: options.onDisk,
  });
}

/** The arguments of a command line may be part of the conversation. */
function sayProcessFacts(journal: JournalWriter, { argv, execArgv, lock }: FlightOptions): void {
  const { execPath, title, versions } = process;
  const words = { argv, execArgv, title };
  const facts = { execPath, versions, ...(!lock && words) };
  journal.append(recordKinds.processFacts, JSON.stringify(facts));
  if (lock) journal.append(recordKinds.commandLine, JSON.stringify(words));
}

interface Session {
  folder: string;
  facts: SessionFacts;
}

/** The session that a supervisor has opened for this very process, rather than for its parent. */
function findAdopted(dir: string): Session | undefined {
  const id = process.env[sessionVariable] ?? '';
  if (!/^[0-9a-f]{16}$/.test(id)) return undefined;
  const folder = sessionFolder(dir, id);
  try {
    const facts = JSON.parse(readSmallFile(join(folder, sessionName)) ?? '') as SessionFacts;
    return facts.id === id && facts.process.pid === process.pid ? { folder, facts } : undefined;
  } catch {
    return undefined;
  }
}

function openSession({ dir, program, cwd, argv, lock, begun }: FlightOptions): Session {
  const id = begun ?? newId();
  const parentSession = process.env[sessionVariable];
  const facts = describeSession({
    id,
    program,
    command: lock ? [program] : argv,
    cwd,
    heartbeatMs: 0,
    ...(parentSession !== undefined && { parentSession }),
  });
  const folder = sessionFolder(dir, id);
  writeSession(folder, facts);
  return { folder, facts };
}

interface FlightOf {
  journal: JournalWriter;
  session: Session;
  isAdopted: boolean;
  carryOvers: (() => void)[];
  memory: MemorySampler;
  onDisk: OnDisk;
}

class Flight implements FlightRecorder {
  readonly folder: string;
  readonly #journal: JournalWriter;
  readonly #session: Session;
  readonly #isAdopted: boolean;
  readonly #carryOvers: (() => void)[];
  readonly #memory: MemorySampler;
  readonly #onDisk: OnDisk;
  #reading: MemoryReading | undefined;
  #isBroken = false;
  #isOver = false;
  #sampledAt = Number.NEGATIVE_INFINITY;

  constructor({ journal, session, isAdopted, carryOvers, memory, onDisk }: FlightOf) {
    this.#carryOvers = carryOvers;
    this.folder = session.folder;
    this.#journal = journal;
    this.#session = session;
    this.#isAdopted = isAdopted;
    this.#memory = memory;
    this.#onDisk = onDisk;
  }

  get sessionId(): string {
    return this.#session.facts.id;
  }

  carryOver(sayAgain: () => void): void {
    this.#carryOvers.push(sayAgain);
  }

  append(kind: number, payload: string): number {
    return this.#attempt(() => {
      if (now() - this.#sampledAt >= sampleEveryMs) this.#sample();
      return this.#journal.append(kind, payload);
    });
  }

  appendBuffered(kind: number, payload: string): number {
    return this.#attempt(() => this.#journal.appendBuffered(kind, payload));
  }

  flush(): void {
    this.#attempt(() => {
      if (now() - this.#sampledAt >= sampleEveryMs) this.#sample();
      this.#journal.flush();
      return 0;
    });
  }

  #attempt(write: () => number): number {
    if (this.#isBroken || this.#isOver) return -1;
    try {
      return this.#onDisk(write);
    } catch {
      // With a full disk, the host must not pay for a failing system call at every event.
      this.#isBroken = true;
      return -1;
    }
  }

  noteBundle(path: string): void {
    if (this.#isOver) return;
    try {
      const { folder, facts } = this.#session;
      this.#onDisk(() => writeSession(folder, { ...facts, bundle: lastName(path) }));
    } catch {
      // Then the death is explained twice.
    }
  }

  leaveNothing(): void {
    if (this.#isOver || this.#isAdopted) return;
    this.#isOver = true;
    try {
      this.#onDisk(() => this.#remove());
    } catch {
      // Then a sweep tells of this death once more.
    }
  }

  end(exitCode: number): void {
    this.#isOver = true;
    try {
      this.#onDisk(() => {
        this.#journal.close(exitCode === 0, { exitCode });
        // A supervisor cleans up after the programs that it started.
        if (!this.#isAdopted) this.#remove();
      });
    } catch {
      // What is left is removed by a sweep.
    }
  }

  sample(): MemorySamplePayload | undefined {
    if (this.#isBroken || this.#isOver) return undefined;
    try {
      return this.#onDisk(() => {
        const sample = this.#sample();
        this.#journal.flush();
        return sample;
      });
    } catch {
      this.#isBroken = true;
      return undefined;
    }
  }

  /** A reading that was taken elsewhere meanwhile, and not recorded yet, is used instead of a new one. */
  #sample(): MemorySamplePayload {
    this.#sampledAt = now();
    const reading = this.#memory.read();
    const { oldSpace, ...sample } = reading;
    if (reading !== this.#reading)
      this.#journal.appendBuffered(recordKinds.memorySample, JSON.stringify(sample));
    this.#reading = reading;
    return sample;
  }

  /** Also removes the parent folders if they are empty: a run that ended well leaves nothing. */
  #remove(): void {
    const { folder } = this.#session;
    for (const name of readdirSync(folder)) unlinkSync(join(folder, name));
    rmdirSync(folder);
    rmdirSync(dirname(folder));
    rmdirSync(dirname(dirname(folder)));
  }
}
