/** A worker as others see it: which process it is, and whether that is surely dead. Of other machines nothing is sure. */
import type { ProcessIdentity } from '../../journal/layout/session.ts';
import { classifyByPid, currentBootId, ownPidNamespace } from '../../journal/read/session.ts';

/** Same machine, same boot, same pid namespace: then its pid tells whether it lives. */
export function isFromHere({ bootId, pidNamespace }: ProcessIdentity): boolean {
  return bootId === currentBootId() && pidNamespace === ownPidNamespace();
}

export function isSurelyDead(holder: ProcessIdentity): boolean {
  return isFromHere(holder) && classifyByPid(holder) !== undefined;
}

export function describeHolder(holder: ProcessIdentity): string {
  return isFromHere(holder) ? `process ${holder.pid}` : `process ${holder.pid} on ${holder.hostname}`;
}
