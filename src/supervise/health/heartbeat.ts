/**
 * Checks that the program gives signs of life: a record in its session's journal, or a touch of the file named by the
 * variable AGENTDUMP_HEARTBEAT_FILE.
 */
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { lastWriteMs, listSessions, readSession } from '../../journal/read/session.ts';
import { heartbeatFile } from './heartbeat-file.ts';
import type { Complaint, HealthCheck } from './limits.ts';

export class HeartbeatCheck implements HealthCheck {
  readonly everyMs: number;
  readonly #folder: string;
  readonly #heartbeatMs: number;
  readonly #graceUntil: number;
  #forgivenAt = 0;

  constructor(folder: string, heartbeatMs: number, graceMs: number) {
    this.#folder = folder;
    this.#heartbeatMs = heartbeatMs;
    this.#graceUntil = Date.now() + graceMs;
    this.everyMs = Math.min(1000, Math.max(20, heartbeatMs / 10));
  }

  look(): Complaint | undefined {
    const last = lastSignMs(this.#folder);
    const isStarting = !last.isOwn && Date.now() < this.#graceUntil;
    const silentMs = Date.now() - Math.max(last.atMs, this.#forgivenAt);
    if (isStarting || silentMs <= this.#heartbeatMs) return undefined;
    const what = `no sign of life for ${Math.round(silentMs)} ms; one was due every ${this.#heartbeatMs} ms`;
    return { level: 'behaviour', check: 'heartbeat', what };
  }

  forgive(): void {
    this.#forgivenAt = Date.now();
  }
}

/** The creation of the session was our own action, and is not a sign of life. */
function lastSignMs(folder: string): { atMs: number; isOwn: boolean } {
  const opened = tryTime(() => statSync(join(folder, 'session.json')).mtimeMs);
  const beat = tryTime(() => statSync(heartbeatFile(folder)).mtimeMs);
  const journals = [folder, ...sessionsBelow(folder)].map((one) => tryTime(() => lastWriteMs(one)));
  const own = Math.max(beat, ...journals.filter((at) => at !== opened));
  return own > 0 ? { atMs: own, isOwn: true } : { atMs: opened, isOwn: false };
}

/** Sessions of programs below a shell. */
function sessionsBelow(folder: string): string[] {
  const id = basename(folder);
  return listSessions(dirname(dirname(folder))).filter((other) => {
    try {
      return readSession(other).parentSession === id;
    } catch {
      return false;
    }
  });
}

function tryTime(read: () => number): number {
  try {
    return read();
  } catch {
    return 0;
  }
}
