/** The holder of a run, as it is stored in its PostgreSQL row. */
import { hostname } from 'node:os';
import type { ProcessIdentity } from '../../../journal/layout/session.ts';
import { describeProcess } from '../../../journal/write/session.ts';
import { newId } from '../../../journal/write/session-id.ts';

/** Unique for each taking, so that a thread or a second copy of this code in the process is not mistaken for this one. */
export function ownHolder(): string {
  return JSON.stringify({ ...describeProcess(process.pid), hostname: hostname(), holding: newId() });
}

/** Undefined if it can't be read; its lease then decides how long it holds. */
export function readHolder(text: string): ProcessIdentity | undefined {
  try {
    const identity = JSON.parse(text);
    return typeof identity?.pid === 'number' ? identity : undefined;
  } catch {
    return undefined;
  }
}
