/**
 * Identifies a worker for others: which process it is, and whether that is certainly dead. Nothing is certain about other
 * machines.
 */
import type { ProcessIdentity } from '../../journal/layout/session.ts';
import { classifyByPid, currentBootId, ownPidNamespace } from '../../journal/read/session.ts';

/** Same machine, same boot, same pid namespace: its pid shows whether it is alive. */
export function isFromHere({ bootId, pidNamespace }: ProcessIdentity): boolean {
  return bootId === currentBootId() && pidNamespace === ownPidNamespace();
}

export function isSurelyDead(holder: ProcessIdentity): boolean {
  return isFromHere(holder) && classifyByPid(holder) !== undefined;
}

export function describeHolder(holder: ProcessIdentity): string {
  return isFromHere(holder) ? `process ${holder.pid}` : `process ${holder.pid} on ${holder.hostname}`;
}
