/**
 * Turns the session of a process that died without a word into a sealed bundle. The bundle bears the
 * session's id, so that a finisher that was itself killed half-way leaves nothing twice. What the session left is
 * removed only when the bundle is sealed.
 */
import { rmSync } from 'node:fs';
import { AgentdumpError } from '../../errors.ts';
import { classifySession, readSession } from '../../journal/read/session.ts';
import { platform } from '../../platform/index.ts';
import { removeDiagnosticsFolder } from '../evidence/diagnostics.ts';
import { removeExpectedCore } from '../native/expected-core.ts';
import { writeDeadBundle } from './dead-bundle.ts';
import type { FinishOptions, FinishResult } from './finish-options.ts';
import { isAlive, tryLockSession, unlockSession } from './finisher-lock.ts';
import { findSealed, noteDeaths } from './own-bundles.ts';

/** Throws `unwritable` when the bundle can't be written, and MalformedInput for a session file that is none. */
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
    // A parent knows better than the goodbye: a native crash may come after it, in the tear-down.
    const hasEnded = finding.fate === 'ended' && !options.witness.exit;
    const result: FinishResult =
      hasEnded || written !== undefined
        ? { outcome: 'cleared', ...(written !== undefined && { bundle: written }) }
        : { outcome: 'sealed', ...writeDeadBundle(options, { facts, finding }) };
    removeExpectedCore(folder);
    noteDeaths(options.dir, facts);
    removeSession(folder, facts.id);
    return result;
  } finally {
    unlockSession(folder);
  }
}

/**
 * In the moment between the end of its child and its own word of that, a supervisor knows more than who sweeps; and it
 * must not find its lock taken then.
 */
function isSupervised(folder: string): boolean {
  try {
    const { supervisor } = readSession(folder);
    return supervisor !== undefined && isAlive(supervisor);
  } catch {
    return false;
  }
}

/** It loses its name first, so that nobody finds half of it. */
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
