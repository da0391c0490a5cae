/**
 * Turns the session of a process that died without writing a bundle into a sealed bundle. The bundle has the session's id, so
 * that nothing is written twice if a finisher is killed half-way. The session is removed only after the bundle was sealed.
 */

import { rmSync } from 'node:fs';
import { AgentdumpError } from '../../errors.ts';
import { classifySession, readSession } from '../../journal/read/session.ts';
import { isAlive } from '../../journal/write/owner.ts';
import { platform } from '../../platform/index.ts';
import { removeDiagnosticsFolder } from '../evidence/diagnostics.ts';
import { isWish, readObservedExit, seenBy } from '../evidence/observed-exit.ts';
import { removeExpectedCore } from '../native/expected-core.ts';
import { writeDeadBundle } from './dead-bundle.ts';
import type { FinishOptions, FinishResult } from './finish-options.ts';
import { tryLockSession, unlockSession } from './finisher-lock.ts';
import { findSealed, noteDeaths } from './own-bundles.ts';

/** Throws `unwritable` if the bundle can't be written, and MalformedInput for an invalid session file. */
export function finishSession(options: FinishOptions): FinishResult {
  const { folder, witness } = options;
  if (witness.foundBy !== 'supervisor' && isSupervised(folder))
    return { outcome: 'left', because: 'its supervisor writes its bundle' };
  if (!tryLockSession(folder)) return { outcome: 'left', because: 'another process is writing its bundle' };
  try {
    const facts = { ...readSession(folder), ...(options.command && { command: options.command }) };
    const finding = classifySession(folder, facts);
    if (finding.fate === 'alive' || finding.fate === 'elsewhere')
      return { outcome: 'left', because: finding.because };
    const written = facts.bundle ?? findSealed(options.dir, facts.id);
    // An exit status from the parent overrides the end record: a native crash may follow it during teardown.
    const hasEnded = finding.fate === 'ended' && !options.witness.exit;
    const observed = witness.exit ? undefined : readObservedExit(folder);
    const result: FinishResult =
      hasEnded || written !== undefined || (observed && isWish(observed))
        ? { outcome: 'cleared', ...(written !== undefined && { bundle: written }) }
        : {
            outcome: 'sealed',
            ...writeDeadBundle(observed ? { ...options, witness: seenBy(observed, witness) } : options, {
              facts,
              finding,
            }),
          };
    removeExpectedCore(folder);
    noteDeaths(options.dir, facts);
    removeSession(folder, facts.id);
    return result;
  } finally {
    unlockSession(folder);
  }
}

/**
 * Whether its supervisor is alive. Between the end of its child and the report of it, the supervisor knows more than a sweep,
 * and must not find the session locked.
 */
function isSupervised(folder: string): boolean {
  try {
    const { supervisor } = readSession(folder);
    return supervisor !== undefined && isAlive(supervisor);
  } catch {
    return false;
  }
}

/** Renames the folder first, so that nobody finds it half removed. */
function removeSession(folder: string, id: string): void {
  const doomed = `${folder}.removed`;
  try {
    platform.files.rename(folder, doomed);
    rmSync(doomed, { recursive: true, force: true });
    removeDiagnosticsFolder(id);
  } catch (cause) {
    throw new AgentdumpError(
      'unwritable',
      `the session can't be removed from ${folder}`,
      { path: folder },
      cause,
    );
  }
}
