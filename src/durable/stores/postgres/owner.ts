/** Who holds a run, as its row in PostgreSQL says it. */
import { hostname } from 'node:os';
import type { ProcessIdentity } from '../../../journal/layout/session.ts';
import { describeProcess } from '../../../journal/write/session.ts';
import { newId } from '../../../journal/write/session-id.ts';

/** Differs for each taking: a thread, or a second copy of this code in the process, is not mistaken for this one. */
export function ownHolder(): string {
  return JSON.stringify({ ...describeProcess(process.pid), hostname: hostname(), holding: newId() });
}

/** Undefined for what can't be read: its lease says how long it holds. */
export function readHolder(text: string): ProcessIdentity | undefined {
  try {
    const identity = JSON.parse(text);
    return typeof identity?.pid === 'number' ? identity : undefined;
  } catch {
    return undefined;
  }
}
